// The text of /metrics, and what it says about the time between two readings.

// { name: [{ labels: {...}, value }] }
export function parseMetrics(text) {
  const all = new Map();
  for (const line of text.split("\n")) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) continue;
    const labels = {};
    for (const [, name, value] of (found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      labels[name] = value;
    if (!all.has(found[1])) all.set(found[1], []);
    all.get(found[1]).push({labels, value: Number(found[3])});
  }
  return all;
}

const fits = (labels, wanted) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value);

export function total(metrics, name, wanted = {}) {
  return (metrics.get(name) ?? [])
      .filter(({labels}) => fits(labels, wanted))
      .reduce((sum, {value}) => sum + value, 0);
}

// NaN where there is none.
export function single(metrics, name, wanted = {}) {
  return (metrics.get(name) ?? []).find(({labels}) => fits(labels, wanted))?.value ?? NaN;
}

// [[upper bound, count up to it]] of a histogram, added up over what `wanted` leaves open.
function buckets(metrics, name, wanted) {
  const sums = new Map();
  for (const {labels, value} of metrics.get(`${name}_bucket`) ?? []) {
    if (!fits(labels, wanted)) continue;
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    sums.set(bound, (sums.get(bound) ?? 0) + value);
  }
  return [...sums].sort((a, b) => a[0] - b[0]);
}

// The quantile of what was observed between two readings, linear inside a bucket; NaN if nothing
// was.
export function quantile(before, after, name, share, wanted = {}) {
  const old = new Map(before ? buckets(before, name, wanted) : []);
  const counts =
      buckets(after, name, wanted).map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]);
  const all = counts.at(-1)?.[1] ?? 0;
  if (all <= 0) return NaN;
  let low = 0, below = 0;
  for (const [bound, count] of counts) {
    if (count >= share * all && count > below) {
      return bound === Infinity ? low :
                                  low + ((bound - low) * (share * all - below)) / (count - below);
    }
    [low, below] = [bound, count];
  }
  return low;
}
