// Base against corrected, class by class; the difference is what the memory did.
import {el, percent, svg} from "./dom.js";
import {className} from "./state.js";

const WIDTH = 100, HEIGHT = 22;

// Classes that are worth a line: the largest by either, `most` of them.
export function topClasses(base, corrected, most = 10) {
  return base.map((_, c) => c)
      .sort((a, b) => Math.max(base[b], corrected[b]) - Math.max(base[a], corrected[a]) || a - b)
      .slice(0, most);
}

function bar(kind, y, value, low, high) {
  const x = (v) => (WIDTH * (v - low)) / (high - low);
  const begin = Math.min(x(0), x(value));
  return svg("rect", {class: kind, x: begin, y, width: Math.abs(x(value) - x(0)), height: 9});
}

// `names`: of the lines; values side by side.
export function drawBars(names, base, corrected, chosen, format) {
  const low = Math.min(0, ...base, ...corrected);
  const high = Math.max(1e-9, ...base, ...corrected);
  return el(
      "ol", {class: "bars"},
      ...names.map(
          (name, i) =>
              el("li", {class: i === chosen ? "chosen" : ""}, el("span", {class: "name"}, name),
                 svg("svg", {
                   viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
                   preserveAspectRatio: "none",
                   "aria-hidden": "true"
                 },
                     bar("base", 1, base[i], low, high),
                     bar("corrected", 12, corrected[i], low, high), svg("line", {
                       class: "zero",
                       x1: (WIDTH * -low) / (high - low),
                       x2: (WIDTH * -low) / (high - low),
                       y1: 0,
                       y2: HEIGHT
                     })),
                 el("span", {class: "values"},
                    el("span", {class: "base-text"}, el("span", {class: "hidden"}, "base "),
                       format(base[i])),
                    el("span", {class: "corrected-text"},
                       el("span", {class: "hidden"}, "corrected "), format(corrected[i]))))));
}

export function classBars(base, corrected, prediction) {
  const top = topClasses(base, corrected);
  const rest = base.length - top.length;
  return el(
      "div", null,
      drawBars(
          top.map(className), top.map((c) => base[c]), top.map((c) => corrected[c]),
          top.indexOf(prediction), percent),
      rest > 0 && el("p", {class: "quiet"}, `and ${rest} classes below these`));
}
