// Colors of points as 32-bit pixels, from the page's own variables so that dark mode follows.

const CLASSES = [
  "#0b6cb3", "#c4500f", "#00805c", "#9a4f86", "#b08900", "#4b5ac4", "#d0426a", "#4f9a2f", "#0f8fa8",
  "#8a6a50"
];

const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const pixel = (r, g, b) =>
    (little ? (255 << 24) | (b << 16) | (g << 8) | r : (r << 24) | (g << 16) | (b << 8) | 255) >>>
    0;
const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function classColor(c) {
  if (c < CLASSES.length) return CLASSES[c];
  const hue = (c * 137.508) % 360, light = 0.5 + 0.12 * Math.sin(c);
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    const value =
        light - 0.45 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function ramp(share) {
  const from = parts(variable("--same")), to = parts(variable("--harmed"));
  return pixel(...from.map((value, i) => Math.round(value + (to[i] - value) * share)));
}

// One pixel value a point.  `by`: "class", "residual" or "error".
export function pointColors(points, by) {
  const count = points.x.length;
  const colors = new Uint32Array(count);
  if (by === "class" && points.label) {
    const known = new Map();
    for (let i = 0; i < count; ++i) {
      const c = points.label[i];
      if (!known.has(c)) known.set(c, pixel(...parts(classColor(c))));
      colors[i] = known.get(c);
    }
    return colors;
  }
  const shades = Array.from({length: 65}, (_, i) => ramp(i / 64));
  if (by === "error" && points.label) {
    for (let i = 0; i < count; ++i) colors[i] = shades[points.base[i] === points.label[i] ? 0 : 64];
    return colors;
  }
  const most = points.label ? 1 : points.residual.reduce((a, b) => Math.max(a, b), 1e-12);
  for (let i = 0; i < count; ++i)
    colors[i] = shades[Math.round(64 * Math.min(1, points.residual[i] / most))];
  return colors;
}
