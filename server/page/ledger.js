// The exact sum behind an answer, and the neighbors that it is made of.
import {el, field, percent, signed, table} from "./dom.js";
import {rowImage} from "./row_image.js";
import {className, state} from "./state.js";

const SHOWN = 12;

function neighbor(line, prediction, actions) {
  const {classifies} = state.memory;
  return el(
      "li", {class: classifies && line.label === prediction ? "agrees" : ""},
      rowImage(line.id, `The image of row ${line.id}`),
      el("strong", null, classifies ? className(line.label) : `row ${line.id}`),
      line.source && el("span", {class: "source"}, line.source),
      el("span", {class: "share"}, `${percent(line.weight)} of the weight`),
      el("span", null, `distance ${line.distance.toFixed(3)}`), el("span", null, actions(line.id)));
}

// Neighbors with their shares, the nearest first.
export function neighborList(ledger, actions) {
  const lines = ledger.lines.slice(0, SHOWN);
  const rest = ledger.lines.slice(SHOWN).reduce((sum, line) => sum + line.weight, 0);
  if (lines.length === 0)
    return el("p", {class: "quiet"}, "No neighbor was asked: this is the base's own answer.");
  return el(
      "div", null,
      el("ol", {class: "neighbors"},
         ...lines.map((line) => neighbor(line, ledger.prediction, actions))),
      ledger.lines.length > SHOWN &&
          el("p", {class: "quiet"},
             `${ledger.lines.length - SHOWN} farther neighbors have ${
                 percent(rest)} of the weight; the ledger lists all.`));
}

function sumTable(ledger, column) {
  const log = ledger.parts !== undefined;
  const rows = [[log ? "base, in log space" : "base", "", "", signed(ledger.base[column], 6)]];
  for (const line of ledger.lines) {
    rows.push([
      `row ${line.id}${state.memory.classifies ? `, ${className(line.label)}` : ""}`,
      line.distance.toFixed(4), line.weight.toFixed(4), signed(line.contribution[column], 6)
    ]);
  }
  rows.push(["rounding", "", "", signed(ledger.rounding[column], 9)]);
  rows.push([log ? "sum, in log space" : "score", "", "", signed(ledger.score[column], 6)]);
  if (log)
    rows.push(
        ["probability: softmax over all classes", "", "", ledger.probability[column].toFixed(6)]);
  return table("The ledger", ["part", "distance", "weight", "adds"], rows);
}

// The ledger of one class, to be chosen.
export function ledgerTable(ledger, chosen) {
  const at = Math.max(
      0, ledger.outputs.indexOf(chosen ?? (ledger.prediction < 0 ? 0 : ledger.prediction)));
  const holder = el("div", null, sumTable(ledger, at));
  const name = (c) => (state.memory.classifies ? className(c) : `value ${c}`);
  const select =
      el("select", {
        class: "ledger-class",
        onchange: (event) => holder.replaceChildren(sumTable(ledger, Number(event.target.value)))
      },
         ...ledger.outputs.map((c, i) => el("option", {value: i, selected: i === at}, name(c))));
  return el("div", null, field("Sum for", select), holder);
}
