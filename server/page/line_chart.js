// A chart over time, as SVG.
import {el, svg} from "./dom.js";

const WIDTH = 320, HEIGHT = 120, LEFT = 44, BOTTOM = 18, TOP = 8;

// A round number at or above `value`.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

const ago = (seconds) => seconds < 2 * 3600 ? `${Math.round(seconds / 60)} min ago` :
    seconds < 2 * 86400 ? `${Math.round(seconds / 3600)} h ago` :
                          `${Math.round(seconds / 86400)} days ago`;

// `times`: seconds, the last is now; NaN breaks a line.  `series`: [{ name, values }].
// `usual`: the upper end while there is nothing larger.
export function lineChart(title, times, series, format, usual) {
  const all = series.flatMap(({values}) => values).filter(Number.isFinite);
  const most = Math.max(0, ...all), least = Math.min(0, ...all);
  const high = most > 0 ? roundUp(most) : usual, low = least < 0 ? -roundUp(-least) : 0;
  const span = Math.max(60, times.length ? times.at(-1) - times[0] : 0);
  const x = (time) => LEFT + ((WIDTH - LEFT - 4) * (time - times.at(-1) + span)) / span;
  const y = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / (high - low);
  const path = (values) => {
    let text = "", drawing = false;
    values.forEach((value, i) => {
      if (Number.isFinite(value))
        text += `${drawing ? "L" : "M"}${x(times[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      drawing = Number.isFinite(value);
    });
    return text;
  };
  const ticks = low < 0 ? [low, 0, high] : [0, high / 2, high];
  const lastOf = ({name, values}) => {
    const value = values.findLast(Number.isFinite);
    return `${name ? `${name} ` : ""}${value === undefined ? "–" : format(value)}`;
  };
  return el(
      "figure", {class: "chart"},
      el("figcaption", null, el("strong", null, title),
         el("span", {class: "last"},
            ...series.map((each, i) => el("span", {class: `last c${i + 1}`}, lastOf(each))))),
      svg("svg", {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${title}, now: ${series.map(lastOf).join(", ")}`
      },
          ...ticks.map(
              (tick) =>
                  svg("g", null, svg("line", {
                        class: tick === 0 ? "axis" : "grid",
                        x1: LEFT,
                        x2: WIDTH - 4,
                        y1: y(tick),
                        y2: y(tick)
                      }),
                      svg("text", {class: "tick end", x: LEFT - 5, y: y(tick) + 4}, format(tick)))),
          svg("text", {class: "tick", x: LEFT, y: HEIGHT - 3}, ago(span)),
          svg("text", {class: "tick end", x: WIDTH - 4, y: HEIGHT - 3}, "now"),
          ...series.map(
              (each, i) => svg("path", {class: `line c${i + 1}`, d: path(each.values)}))));
}
