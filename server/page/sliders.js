// k, sigma, T, the method and the memory's share of the answer.
import {button, el, field, number} from "./dom.js";
import {state} from "./state.js";

const STEPS = 200;
const DEFAULT_RATE = 0.01;  // of the service

// A slider over [low, high] by equal factors.
function ratioSlider(name, id, {whole = false} = {}) {
  let low = 1, high = 2;
  const shown = el("output", { for: id
  });
  const input = el("input", {type: "range", id, min: 0, max: STEPS, step: 1});
  const value = () => {
    const exact = low * (high / low) ** (input.value / STEPS);
    return whole ? Math.round(exact) : Number(exact.toPrecision(3));
  };
  const slider = {input, touched: false, value};
  const show = (text) => {
    shown.textContent = text;
    input.setAttribute("aria-valuetext", text);
  };
  input.addEventListener("input", () => {
    slider.touched = true;
    show(number(value()));
  });
  slider.set = (own, from, to) => {
    [low, high] = [Math.min(from, own), Math.max(to, own)];
    slider.touched = false;
    input.value = Math.round((STEPS * Math.log(own / low)) / Math.log(high / low));
    show(number(own));
  };
  slider.element = el("div", {class: "slider"}, el("label", { for: id
                      }, name), input, shown);
  return slider;
}

export function Sliders(onChange) {
  const k = ratioSlider("k, neighbors", "slider-k", {whole: true});
  const sigma = ratioSlider("sigma, reach", "slider-sigma");
  const temperature = ratioSlider("T, temperature", "slider-t");
  const method = el("select", {id: "method"});
  const share = el("input", {type: "range", id: "slider-share", min: 0, max: 100, value: 100});
  const shareText = el("output", { for: "slider-share"
  });
  const showShare = () => {
    shareText.textContent = `${share.value} %`;
    share.setAttribute("aria-valuetext", shareText.textContent);
  };
  const rate =
      el("select", {id: "unknown-rate"},
         ...[0.1, 1, 5, 10].map((percent) => el("option", {value: percent / 100}, `${percent} %`)));
  let resmem = null;  // its own parameters, once an answer told them

  const reset = () => {
    const own = method.value === "resmem" && resmem ? resmem : state.memory.parameters;
    k.set(Math.max(1, own.k), 1, Math.min(500, Math.max(2, state.memory.rows)));
    sigma.set(own.sigma, own.sigma / 20, own.sigma * 20);
    temperature.set(own.temperature, 0.1, 10);
    share.value = 100;
    rate.value = DEFAULT_RATE;
    showShare();
  };
  const changed = (redraw) => onChange({redraw});
  for (const slider of [k, sigma, temperature])
    slider.input.addEventListener("input", () => changed(false));
  share.addEventListener("input", () => {
    showShare();
    changed(true);
  });
  rate.addEventListener("change", () => changed(false));
  method.addEventListener("change", () => {
    reset();
    changed(false);
  });

  return {
    element:
        el("fieldset", {class: "sliders"}, el("legend", null, "What if"),
           field("Answer by", method), k.element, sigma.element, temperature.element,
           el("div", {class: "slider"},
              el("label",
                 { for: "slider-share"
                 },
                 "Blend: share of the memory"),
              share, shareText),
           field("Unknown: farther than all but", rate),
           button(
               "The memory's own values",
               () => {
                 reset();
                 changed(false);
               })),
    useMemory() {
      resmem = null;
      const own = state.memory.parameters.answer;
      const names = own === "resmem" ? ["resmem"] : [own, "resmem"];
      method.replaceChildren(...names.map(
          (name, i) => el("option", {value: name}, i === 0 ? `${name}, the memory's own` : name)));
      temperature.element.hidden = !state.memory.classifies;
      reset();
    },
    learnParameters(parameters) {
      resmem = parameters;
    },
    share: () => share.value / 100,
    // What the request says beside its arrays: only what was changed.
    body() {
      const all = method.value === state.memory.parameters.answer ? {} : {method: method.value};
      if (k.touched) all.k = k.value();
      if (sigma.touched) all.sigma = sigma.value();
      if (temperature.touched) all.temperature = temperature.value();
      if (Number(rate.value) !== DEFAULT_RATE) all.unknown_rate = Number(rate.value);
      return all;
    },
  };
}
