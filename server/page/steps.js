// What an edit would change, then the edit, then the way back.
import * as api from "./api.js";
import {button, el, number, say} from "./dom.js";
import {className, state, tell} from "./state.js";

const SHOWN = 20;

const differ = (count) =>
    (count === 0 ? "none changes its answer" : `${number(count)} would be answered differently`);

function changeLine(change, where) {
  return el(
      "li", null,
      state.memory.classifies ?
          [className(change.before), " → ", el("strong", null, className(change.after))] :
          `a value moves by ${number(change.largest_change)}`,
      where);
}

function validationText({rows, changed, fixed, harmed, answers}) {
  const judged = changed > 0 && state.memory.classifies ?
      [
        ": ", el("span", {class: "right"}, `${number(fixed)} fixed`), ", ",
        el("span", {class: "wrong"}, `${number(harmed)} harmed`)
      ] :
      [];
  const where = (change) =>
      [el("small", null, ` row ${change.row}`), " ",
       change.after === change.label      ? el("span", {class: "right"}, "fixed") :
           change.before === change.label ? el("span", {class: "wrong"}, "harmed") :
                                            ""];
  return [
    el("p", {class: "validation"}, `Of ${number(rows)} validation rows, ${differ(changed)}`,
       ...judged, "."),
    el("ol", {class: "changes"},
       ...answers.slice(0, SHOWN).map((change) => changeLine(change, where(change))))
  ];
}

function previewText({queries, changed, validation}) {
  const where = (change) => el("small", null, ` ${change.request.slice(0, 12)}, row ${change.row}`);
  return [
    el("p", null,
       queries === 0 ? "Nothing was asked yet, so there is no query to compare." :
                       `Of the last ${number(queries)} queries, ${differ(changed.length)}.`),
    el("ol", {class: "changes"},
       ...changed.slice(0, SHOWN).map((change) => changeLine(change, where(change)))),
    ...(validation ? validationText(validation) : [])
  ];
}

// Preview and accept, in this order, for one kind of edit.
export function Steps(page, {accept, preview, make}) {
  const shown = el("div", {class: "preview", "aria-live": "polite"});
  const done = el("div", {class: "done", "aria-live": "polite"});
  const show = () => page.run(async () => shown.replaceChildren(...previewText(await preview())));
  const go = () => page.run(async () => {
    const result = await make();
    if (!result) return;
    shown.replaceChildren();
    const {edit} = result.edit;
    const back = button("Undo", () => page.run(async () => {
      await api.undo(state.memory.name, edit);
      done.replaceChildren(el("p", null, `Edit ${edit} was undone.`));
      tell("edited");
    }));
    done.replaceChildren(
        el("p", null, `Done: edit ${edit}. The memory has ${number(result.rows)} rows. `,
           result.edit.undoable && back));
    say(`Edit ${edit} was made.`);
    tell("edited");
  });
  const main = button(accept, go, {class: "main"});
  return {
    name: (text) => (main.textContent = text),
    clear: () => {
      shown.replaceChildren();
      done.replaceChildren();
    },
    element:
        el("div", null, el("div", {class: "line"}, button("What would change?", show), main), shown,
           done),
  };
}
