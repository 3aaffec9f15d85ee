// The sum behind an answer, and the neighbors that it is made of.
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

const PARTS = {
  base: "base part",
  labels: "labels",
  expected: "expected",
  residual: "residual"
};

// A blend's sum is in log space, and a part of what neighbors add to it is convention.
function blendTable(ledger, column) {
  const exact = (line) => line.exact[column];
  const sum = (name, value) => [name, "", "", "", "", value];
  const rows = [sum("without neighbors", signed(ledger.base[column], 6))];
  for (const line of ledger.lines)
    rows.push([
      ...lineCells(line), signed(exact(line), 6),
      signed(line.contribution[column] - exact(line), 6), signed(line.contribution[column], 6)
    ]);
  rows.push(
      sum("rounding", signed(ledger.rounding[column], 9)),
      sum("sum, in log space", signed(ledger.score[column], 6)),
      sum("probability: softmax over all classes", ledger.probability[column].toFixed(6)));
  for (const [part, name] of Object.entries(PARTS))
    rows.push(sum(`of the sum: ${name}`, signed(ledger.parts[part][column], 6)));
  return el(
      "div", null,
      el("p", {class: "quiet convention"},
         "Base part, labels, expected and residual sum to the answer exactly, and so do the neighbors in the residual (exact). Labels and expected are logarithms, no sums over neighbors: their shares are in proportion, by convention."),
      table("The ledger", ["part", "distance", "weight", "exact", "by convention", "adds"], rows));
}

const lineCells = (line) =>
    [`row ${line.id}${state.memory.classifies ? `, ${className(line.label)}` : ""}`,
     line.distance.toFixed(4), line.weight.toFixed(4)];

function sumTable(ledger, column) {
  if (ledger.parts !== undefined) return blendTable(ledger, column);
  const rows = [["base", "", "", signed(ledger.base[column], 6)]];
  for (const line of ledger.lines)
    rows.push([...lineCells(line), signed(line.contribution[column], 6)]);
  rows.push(["rounding", "", "", signed(ledger.rounding[column], 9)]);
  rows.push(["score", "", "", signed(ledger.score[column], 6)]);
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
