// Watch: /metrics, read every two seconds while this part is shown.
import * as api from "./api.js";
import {el, number, percent} from "./dom.js";
import {lineChart} from "./line_chart.js";
import {parseMetrics, quantile, single, total} from "./metrics.js";
import {on, state} from "./state.js";

const EVERY = 2000, KEPT = 300;  // ten minutes
const INFER = "POST /v2/models/{}/infer";

const milliseconds = (seconds) => `${number(1000 * seconds, 3)} ms`;
const points = (share) => `${
    share > 0     ? "+" :
        share < 0 ? "−" :
                    ""}${Math.abs(100 * share).toFixed(1)}`;

// What happened between two readings, `seconds` apart.
function sampleOf(before, after, seconds, memory) {
  const of = {memory};
  const rate = (name, wanted) =>
      (before ? (total(after, name, wanted) - total(before, name, wanted)) / seconds : NaN);
  const share = (part, whole) => {
    const now = before ? total(after, whole, of) - total(before, whole, of) : 0;
    return now > 0 ? (total(after, part, of) - total(before, part, of)) / now : NaN;
  };
  const feedback = (answer) => total(after, "resmem_feedback_total", {...of, answer});
  const judged = total(after, "resmem_feedback_total", of);
  return {
    requests: rate("resmem_requests_total", {}),
    rows: rate("resmem_rows_total", of),
    p50: quantile(before ?? after, after, "resmem_request_seconds", 0.5, {route: INFER}),
    p99: quantile(before ?? after, after, "resmem_request_seconds", 0.99, {route: INFER}),
    waiting: total(after, "resmem_queue"),
    unknown: share("resmem_unknown_rows_total", "resmem_measured_rows_total"),
    agreed: share("resmem_agreed_rows_total", "resmem_compared_rows_total"),
    drift: single(after, "resmem_drift", of),
    gain: judged > 0 ? (feedback("fixed") - feedback("harmed")) / judged : NaN,
  };
}

// The gain after each correction of the past, as the history of edits tells it to who may teach.
// `now`: in seconds of the charts' clock.
async function readPast(memory, now) {
  let edits = [];
  try {
    edits = await api.corrections(memory);
  } catch (error) {
    if (error.status !== 403) throw error;
  }
  let judged = 0, won = 0;
  return edits.map(({time, feedback}) => {
    judged += Object.values(feedback).reduce((a, b) => a + b, 0);
    won += feedback.fixed - feedback.harmed;
    return {time: now - (Date.now() - Date.parse(time)) / 1000, gain: won / judged};
  });
}

function tiles(metrics, memory) {
  const of = {memory};
  const share = (part, whole) => total(metrics, part, of) / total(metrics, whole, of);
  const feedback = (answer) => total(metrics, "resmem_feedback_total", {...of, answer});
  const judged = total(metrics, "resmem_feedback_total", of);
  const drift = single(metrics, "resmem_drift", of);
  const failures = total(metrics, "resmem_requests_total", {status: "5xx"});
  const tile = (name, value, note) =>
      el("div", {class: "tile"}, el("dt", null, name),
         el("dd", null, el("strong", null, value), el("span", null, note)));
  const ratio = (value) => (Number.isFinite(value) ? percent(value) : "–");
  return [
    tile(
        "Rows answered", number(total(metrics, "resmem_rows_total", of)),
        `${number(failures)} requests failed on the server's side`),
    tile(
        "Latency",
        Number.isFinite(quantile(null, metrics, "resmem_request_seconds", 0.5, {route: INFER})) ?
            milliseconds(quantile(null, metrics, "resmem_request_seconds", 0.5, {route: INFER})) :
            "–",
        `median; 99 % within ${
            milliseconds(
                quantile(null, metrics, "resmem_request_seconds", 0.99, {route: INFER}))}`),
    tile(
        "Unknown", ratio(share("resmem_unknown_rows_total", "resmem_measured_rows_total")),
        "far from all that was tuned on: the base answered"),
    tile(
        "Base agrees", ratio(share("resmem_agreed_rows_total", "resmem_compared_rows_total")),
        "with the memory's answer"),
    tile(
        "Drift", Number.isFinite(drift) ? drift.toFixed(2) : "–",
        "0: as at tuning, 1: all elsewhere; needs 100 queries"),
    tile(
        "Gain on feedback",
        judged > 0 ? `${points((feedback("fixed") - feedback("harmed")) / judged)} points` : "–",
        `${judged === 1 ? "1 correction" : `${number(judged)} corrections`}: ${
            number(feedback("fixed"))} fixed, ${number(feedback("harmed"))} harmed`),
    tile(
        "Memory", `${number(single(metrics, "resmem_memory_rows", of))} rows`,
        `${number(total(metrics, "resmem_learned_rows_total", of))} learned, ${
            number(total(metrics, "resmem_forgotten_rows_total", of))} forgotten`),
    tile(
        "Waiting", number(total(metrics, "resmem_queue")),
        `requests; ${number(total(metrics, "resmem_edits_waiting", of))} edits`),
  ];
}

export function WatchView(root, page) {
  const summary = el("dl", {class: "tiles"});
  const charts = el("div", {class: "charts"});
  let before = null, at = 0, times = [], samples = [], past = [], timer = 0;

  const clear = () => {
    before = null;
    times = [];
    samples = [];
  };
  const chart = (title, usual, names, format) => lineChart(
      title, times,
      names.map(([name, member]) => ({name, values: samples.map((sample) => sample[member])})),
      format, usual);

  async function read() {
    const {memory} = state;
    const metrics = parseMetrics(await api.metrics());
    const now = performance.now() / 1000;
    if (samples.length === 0) past = await readPast(memory.name, now);
    samples.push(sampleOf(before, metrics, now - at, memory.name));
    times.push(now);
    if (samples.length > KEPT) {
      samples.shift();
      times.shift();
    }
    [before, at] = [metrics, now];
    summary.replaceChildren(...tiles(metrics, memory.name));
    charts.replaceChildren(
        chart(
            "Load, a second", 10, [["requests", "requests"], ["rows", "rows"]],
            (value) => number(value, 3)),
        chart("Latency of inference", 0.01, [["median", "p50"], ["99 %", "p99"]], milliseconds),
        chart("Unknown rows", 1, [["", "unknown"]], (value) => percent(value, 0)),
        chart("Drift", 1, [["", "drift"]], (value) => value.toFixed(2)),
        chart("Base and memory agree", 1, [["", "agreed"]], (value) => percent(value, 0)),
        lineChart(
            "Gain on feedback, points", [...past.map(({time}) => time), ...times],
            [{name: "", values: [...past, ...samples].map(({gain}) => gain)}], points, 1));
  }
  async function poll() {
    clearTimeout(timer);
    if (!state.memory || root.hidden) return;
    await page.run(read);
    timer = setTimeout(poll, EVERY);
  }

  root.append(
      el("h2", {id: "title-watch", tabindex: "-1"}, "Watch"), summary, charts,
      el("p", {class: "quiet"},
         "Tiles count since the server was started, feedback also before, from the history of edits; charts begin when this part is opened, that of feedback with the first correction. The same figures for Prometheus: ",
         el("a", {href: "/metrics"}, "/metrics"), "."));
  on("memory", clear);
  return {enter: poll, leave: () => clearTimeout(timer)};
}
