// What an edit would change, then the edit, then the way back.
import * as api from "./api.js";
import {button, el, number, say} from "./dom.js";
import {className, state, tell} from "./state.js";

function previewText(preview) {
  const {queries, changed} = preview;
  if (queries === 0)
    return [el("p", null, "Nothing was asked yet, so there is nothing to compare.")];
  const count = changed.length === 0 ? "none changes its answer" :
                                       `${number(changed.length)} would be answered differently`;
  const line = (change) =>
      el("li", null,
         state.memory.classifies ?
             [className(change.before), " → ", el("strong", null, className(change.after))] :
             `a value moves by ${number(change.largest_change)}`,
         el("small", null, ` ${change.request.slice(0, 12)}, row ${change.row}`));
  return [
    el("p", null, `Of the last ${number(queries)} queries, ${count}.`),
    el("ol", {class: "changes"}, ...changed.slice(0, 20).map(line))
  ];
}

// Preview and accept, in this order, for one kind of edit.  `make` may give several edits, `undo`,
// which are undone one after the other.
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
      for (const each of result.undo ?? [edit]) await api.undo(state.memory.name, each);
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
