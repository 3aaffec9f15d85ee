// Try: one query, the base's answer and the memory's side by side, and why.
import {blendAnswer, changePoint, explainBody, readAnswer, shownBody} from "./answer.js";
import * as api from "./api.js";
import {classBars, drawBars} from "./bars.js";
import {ChooseQuery, useStored} from "./choose_query.js";
import {asCurl, asPython} from "./code.js";
import {button, el, number, percent, say} from "./dom.js";
import {ledgerTable, neighborList} from "./ledger.js";
import {Sliders} from "./sliders.js";
import {className, on, state} from "./state.js";

const REST = 25;      // milliseconds between a movement of a slider and its question
const COUNTED = 400;  // a row that stands this long was meant, and is counted as a query

// "Ankle boot" and what became of the base's answer.
function headline(answer, query) {
  const {prediction, baseClass} = answer;
  const said = className(prediction);
  const parts = [el("p", {class: "headline", id: "answer"}, said)];
  parts.push(el(
      "p", {class: prediction === baseClass ? "quiet" : "changed"},
      prediction === baseClass ? "The base says the same." :
                                 `The base said ${className(baseClass)}; the memory changed it.`));
  if (query.label !== undefined) {
    const right = query.label === prediction;
    parts.push(
        el("p", {class: right ? "right" : "wrong"},
           `Its label is ${className(query.label)}: ${right ? "right" : "wrong"}.`));
  }
  return parts;
}

function valuesOf(answer) {
  return drawBars(
      answer.base.map((_, i) => `value ${i}`), answer.base, answer.corrected, -1,
      (value) => number(value, 4));
}

function changeNote(answer) {
  const at = changePoint(answer);
  return at === null ?
      null :
      el("p", {class: "quiet"}, `The answer changes at a share of ${percent(at, 0)}.`);
}

// A text with a button that copies it.
function copyable(title, text) {
  const pre = el("pre", {tabindex: "0", "aria-label": title}, text);
  const copy = button(`Copy as ${title}`, async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`${title} was copied.`);
    } catch {  // no permission
      getSelection().selectAllChildren(pre);
      say(`${title} is selected: copy it.`);
    }
  });
  return el("div", {class: "code"}, copy, pre);
}

export function TryView(root, page) {
  const out =
      el("div", {class: "answer"},
         el("p", {class: "quiet"},
            "Choose a query: the answer appears here as soon as there is one."));
  const why = el("div", {class: "why"});
  const code = el("div", {class: "codes"});
  const time = el("small", {id: "time"});
  const far = el("p", {id: "distance", hidden: true});
  let answer = null, ledger = null, asked = null, timer = 0, countTimer = 0;

  const sliders = Sliders(({redraw}) => {
    if (!state.query) return;
    if (redraw)
      draw();
    else
      later();
  });
  const actions = (id) =>
      [button(
           "Ask", () => page.run(() => useStored(id)),
           {class: "link", "aria-label": `Ask row ${id}`}),
       button("Show", () => {
         state.found = id;
         page.go("look");
       }, {class: "link", "aria-label": `Show row ${id} on the map`})];

  function draw() {
    const now = blendAnswer(answer, sliders.share());
    out.replaceChildren(
        ...(state.memory.classifies ? headline(now, state.query) : []),
        state.memory.classifies ? classBars(now.base, now.corrected, now.prediction) :
                                  valuesOf(now),
        el("p", {class: "legend"}, el("span", {class: "chip base"}), "base ",
           el("span", {class: "chip corrected"}), "with the memory"),
        changeNote(answer) ?? "");
  }

  function drawWhy(body) {
    const open = why.querySelector("details")?.open ?? false;
    const chosen = why.querySelector(".ledger-class");
    const kept = chosen && ledger.outputs[Number(chosen.value)] !== ledger.prediction && open ?
        ledger.outputs[Number(chosen.value)] :
        undefined;
    why.replaceChildren(
        el("h3", null, "Neighbors"), neighborList(ledger, actions),
        el("details", {open}, el("summary", null, ledger.parts ? "The ledger" : "The exact ledger"),
           ledgerTable(ledger, kept)));
    code.replaceChildren(
        el("details", {open: code.querySelector("details")?.open ?? false},
           el("summary", null, "This question as curl or Python"),
           copyable("curl", asCurl(state.memory.name, body)),
           copyable("Python", asPython(state.memory.name, body))));
  }

  async function ask() {
    asked?.abort();
    asked = new AbortController();
    const {signal} = asked;
    const query = state.query;
    const how = sliders.body();
    const began = performance.now();
    const document = await api.explain(state.memory.name, explainBody(query, how), signal);
    if (signal.aborted || query !== state.query) return;
    time.textContent = `answered in ${Math.round(performance.now() - began)} ms`;
    ledger = document.ledger;
    sliders.learnParameters(document.run.memory.parameters);
    answer = readAnswer(query, ledger);
    if (state.memory.classifies) say(`Answer: ${className(ledger.prediction)}`);
    showDistance(ledger);
    draw();
    drawWhy(shownBody(query, how));
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(() => page.run(ask), REST);
  }

  function showDistance({distance_percentile: percentile, unknown, unknown_rate: rate}) {
    far.hidden = percentile === undefined;
    if (far.hidden) return;
    far.className = unknown ? "warning" : "quiet";
    const where = percentile < 0 ?
        "there is no neighbor" :
        `it lies farther away than ${
            number(percentile)} % of the rows that the memory was tuned on`;
    far.textContent = unknown ?
        `Unknown: ${where}.` :
        `Not unknown: ${where} (unknown from ${number(100 * (1 - rate))} %).`;
  }

  // The query as a client would send it: it joins the recent ones.
  async function count(query) {
    if (query.leaveOut !== undefined || query.counted) return;
    const tensor = (name, data) => ({name, datatype: "FP32", shape: [1, data.length], data});
    await api.infer(state.memory.name, {
      inputs: [tensor("keys", query.keys), tensor("logits", query.logits)],
      outputs: [{name: "distance_percentile"}],
    });
  }

  const correct = button("Correct this answer", () => page.go("teach"), {hidden: true});
  const head = el("div", {class: "answer-head"}, el("h3", null, "Answer"), time, correct);
  // On a narrow screen: query, answer, sliders, reasons.
  root.append(
      el("h2", {id: "title-try", tabindex: "-1"}, "Try"),
      el("div", {class: "columns try-columns"},
         el("div", null, el("div", {class: "panel"}, el("h3", null, "Query"), ChooseQuery(page)),
            el("div", {class: "panel"}, sliders.element)),
         el("div", null, el("div", null, head, far, out), el("div", null, why, code))));

  on("memory", () => sliders.useMemory());
  on("query", () => {
    far.hidden = true;
    correct.hidden = !state.query;
    clearTimeout(countTimer);
    if (!state.query) {
      answer = ledger = null;
      out.replaceChildren();
      why.replaceChildren();
      code.replaceChildren();
      time.textContent = "";
      return;
    }
    later();
    const query = state.query;
    countTimer = setTimeout(() => page.background(() => count(query)), COUNTED);
  });
  on("edited", () => state.query && later());
  if (state.memory) sliders.useMemory();
  return {};
}
