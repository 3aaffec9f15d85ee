// Forget a row, or give it another label.
import * as api from "./api.js";
import {el, field} from "./dom.js";
import {className, classNumber, on, state} from "./state.js";
import {Steps} from "./steps.js";

function describe(row) {
  const label = state.memory.classifies ? className(row.label) : "";
  return [`row ${row.id}`, label, row.source].filter(Boolean).join(", ");
}

function newLabel(text) {
  const label = classNumber(text);
  if (label < 0) throw new api.Problem(`"${text}" is none of the memory's classes.`, 0);
  return label;
}

async function rowToRelabel(ids) {
  if (ids.length > 1) throw new api.Problem("One row is relabeled at a time.", 0);
  const [row] = await api.rows(state.memory.name, ids);
  if (!row.logits) {
    throw new api.Problem(
        "This memory is frozen and keeps no logits, so its rows cannot be learned again.", 0);
  }
  return row;
}

export function Forgetting(page) {
  const id = el("input", {id: "forget-id", inputmode: "numeric", size: 12});
  const label = el("input", {id: "relabel", list: "classes", autocomplete: "off", size: 14});
  const relabelField = field("New label, to keep it", label);
  const erase = el("input", {type: "checkbox", id: "erase"});
  const shown = el("p", {class: "quiet", "aria-live": "polite"});
  const ids = () => {
    const list = id.value.split(/[\s,;]+/).filter(Boolean);
    if (list.length === 0 || !list.every((each) => /^\d+$/.test(each))) {
      throw new api.Problem("Enter the id of a row, or several.", 0);
    }
    return list;
  };
  const steps = Steps(page, {
    accept: "Forget it",
    async preview() {
      const rows = await api.rows(state.memory.name, ids());
      shown.textContent = rows.map(describe).join("; ");
      if (!label.value) return api.previewForget(state.memory.name, ids());
      const row = await rowToRelabel(ids());
      return api.previewRelabel(state.memory.name, row, newLabel(label.value));
    },
    async make() {
      if (label.value) {
        await rowToRelabel(ids());
        return api.relabel(state.memory.name, ids(), newLabel(label.value));
      }
      return api.forget(state.memory.name, ids(), !erase.checked);
    },
  });
  const changed = () => {
    steps.clear();
    steps.name(label.value ? "Relabel it" : "Forget it");
    erase.disabled = label.value !== "";
    shown.textContent = "";
  };
  const show = (which, suggested) => {
    [id.value, label.value] = [which, suggested];
    relabelField.hidden = !state.memory?.classifies;
    changed();
  };
  id.addEventListener("input", changed);
  label.addEventListener("input", changed);
  on("memory", () => show("", ""));
  show("", "");
  return {
    enter() {
      if (!state.toForget) return;
      show(state.toForget.id, state.toForget.label ?? "");
      delete state.toForget;
      id.focus();
    },
    element: el(
        "div", {class: "panel"}, el("h3", null, "Forget or relabel an example"),
        el("div", {class: "line"}, field("Id of the row", id), relabelField),
        el("label", {class: "check"}, erase, "erase for good, without undo"), shown, steps.element),
  };
}
