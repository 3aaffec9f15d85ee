// Teach: correct an answer, forget or relabel a row, and all edits, to be undone.
import {explainBody, readAnswer} from "./answer.js";
import * as api from "./api.js";
import {button, el, field, number, percent, say} from "./dom.js";
import {Forgetting} from "./forget.js";
import {className, classNumber, on, state, tell} from "./state.js";
import {Steps} from "./steps.js";

function Correction(page) {
  const now = el("p", {class: "now", "aria-live": "polite"});
  const label = el("input", {id: "label", list: "classes", autocomplete: "off"});
  const classes = el("datalist", {id: "classes"});
  const lesson = () => {
    if (!state.query) throw new api.Problem("There is no query yet. Choose one under Try.", 0);
    const rows = explainBody({...state.query, leaveOut: undefined}, {});
    if (!state.memory.classifies) {
      const targets = label.value.split(/[\s,;]+/).filter(Boolean).map(Number);
      if (targets.length !== state.memory.outputs || !targets.every(Number.isFinite)) {
        throw new api.Problem(
            `Enter ${state.memory.outputs} numbers: what the answer should have been.`, 0);
      }
      return {...rows, targets};
    }
    const number = classNumber(label.value);
    if (number < 0) throw new api.Problem(`"${label.value}" is none of the memory's classes.`, 0);
    return {...rows, label: number};
  };
  const steps = Steps(page, {
    accept: "Learn this",
    preview: async () => api.previewLearn(state.memory.name, lesson()),
    make: async () => api.correct(state.memory.name, lesson()),
  });
  // What the answer was when the query came here, and how likely each class.
  let before = null;
  const shares = (query, ledger) =>
      (state.memory.classifies ? readAnswer(query, ledger).corrected : null);
  const whatChanged = (answer, now) => {
    if (before === null) return "";
    const parts = before.answer === answer ? [] : [`Before, it was ${before.answer}.`];
    const wanted = state.memory.classifies ? classNumber(label.value) : -1;
    if (wanted >= 0 && now[wanted] !== before.shares[wanted]) {
      parts.push(`${className(wanted)}: ${percent(before.shares[wanted])} before, ${
          percent(now[wanted])} now.`);
    }
    return parts.length ? ` ${parts.join(" ")}` : "";
  };
  const showAnswer = async () => {
    const {query} = state;
    if (!query) {
      now.replaceChildren("No query yet. ", el("a", {href: "#try"}, "Choose one under Try"), ".");
      return;
    }
    const {ledger} = await api.explain(state.memory.name, explainBody(query, {}));
    if (query !== state.query) return;
    const answer = state.memory.classifies ?
        className(ledger.prediction) :
        ledger.score.map((value) => number(value, 4)).join(", ");
    now.replaceChildren(
        `The ${query.origin} is answered `, el("strong", {id: "taught-answer"}, answer), ".",
        whatChanged(answer, shares(query, ledger)));
    before ??= {answer, shares: shares(query, ledger)};
  };
  const useMemory = () => {
    label.value = "";
    const {classifies, outputs, text} = state.memory;
    const names = Array.from({length: classifies && !text ? outputs : 0}, (_, c) => className(c));
    classes.replaceChildren(...names.map((name) => el("option", {value: name})));
  };
  on("query", () => {
    before = null;
    label.value = "";
    steps.clear();
  });
  on("memory", useMemory);
  if (state.memory) useMemory();
  return {
    showAnswer,
    element:
        el("div", {class: "panel"}, el("h3", null, "Correct an answer"), now,
           el("div", {class: "line"}, field("What it should be", label), classes), steps.element),
  };
}

const when = (time) =>
    new Date(time).toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});

function History(page) {
  const body = el("tbody");
  const more = button("Earlier edits", () => page.run(() => load(Number(more.dataset.before))));
  const what = (edit) => {
    const rows = edit.ids.length === 1 ? `row ${edit.ids[0]}` : `${number(edit.ids.length)} rows`;
    const undone = edit.undoes ? ` (undoes ${edit.undoes})` : "";
    return `${edit.kind} ${rows}${undone}${edit.done ? "" : ", failed"}`;
  };
  const undo = (edit) => page.run(async () => {
    await api.undo(state.memory.name, edit);
    say(`Edit ${edit} was undone.`);
    tell("edited");
  });
  const row = (edit) => el(
      "tr", null, el("th", {scope: "row"}, String(edit.edit)), el("td", null, what(edit)),
      el("td", null, edit.who), el("td", null, el("time", {datetime: edit.time}, when(edit.time))),
      el("td", null,
         edit.undone_by ?
             `undone by ${edit.undone_by}` :
             edit.undoable ?
             button("Undo", () => undo(edit.edit), {"aria-label": `Undo edit ${edit.edit}`}) :
             "final"));
  async function load(before) {
    const edits = await api.history(state.memory.name, before);
    if (!before) body.replaceChildren();
    body.append(...edits.map(row));
    if (body.childElementCount === 0)
      body.append(el("tr", null, el("td", {colspan: 5, class: "quiet"}, "No edit was made yet.")));
    more.hidden = edits.length < 20;
    if (edits.length) more.dataset.before = edits.at(-1).edit;
  }
  return {
    load: () => load(0),
    element:
        el("div", {class: "history"}, el("h3", null, "History"),
           el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Edits"},
              el("table", {id: "history"},
                 el("thead", null,
                    el("tr", null,
                       ...["edit", "what", "who", "when", ""].map(
                           (head) => el("th", {scope: "col"}, head)))),
                 body)),
           more),
  };
}

export function TeachView(root, page) {
  const correction = Correction(page), forgetting = Forgetting(page), history = History(page);
  root.append(
      el("h2", {id: "title-teach", tabindex: "-1"}, "Teach"),
      el("div", {class: "columns even"}, correction.element, forgetting.element), history.element);
  const refresh = async () => {
    if (!state.memory) return;
    await Promise.all([correction.showAnswer(), history.load()]);
    forgetting.enter();
  };
  on("edited", () => !root.hidden && page.run(refresh));
  return {enter: refresh};
}
