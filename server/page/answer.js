// What a ledger says, in the words and numbers of the page.
import {state} from "./state.js";

// What is sent to ask the query: its arrays, and how to answer.  Also of a text or an image: the
// model has read it once, and need not for every step of a slider.
export function explainBody(query, more) {
  const body = {keys: query.keys, logits: query.logits, ...more};
  return query.leaveOut === undefined ? body : {...body, leave_out: query.leaveOut};
}

// The same for a person to read: a text as a text.
export const shownBody = (query, more) =>
    query.text === undefined ? explainBody(query, more) : {text: query.text, ...more};

export function softmax(logits) {
  const most = Math.max(...logits);
  const powers = logits.map((value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((value) => value / sum);
}

const argMax = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

// By class: the base's own answer, and the memory's.  A ledger of very many classes holds only
// some.
export function readAnswer(query, ledger) {
  const base = state.memory.classifies ? softmax(query.logits) : [...query.logits];
  const corrected = new Array(base.length).fill(0);
  const told = ledger.probability ?? ledger.score;
  ledger.outputs.forEach((c, i) => (corrected[c] = told[i]));
  return {
    base,
    corrected,
    prediction: ledger.prediction,
    baseClass: state.memory.classifies ? argMax(query.logits) : -1
  };
}

// (1 - share) of the base and `share` of the memory's answer.
export function blendAnswer({base, corrected, prediction, baseClass}, share) {
  if (share === 1) return {base, corrected, prediction, baseClass};
  const mixed = base.map((value, c) => (1 - share) * value + share * corrected[c]);
  return {base, corrected: mixed, prediction: prediction < 0 ? -1 : argMax(mixed), baseClass};
}

// The smallest share at which the answer is no longer the base's; null where it never changes.
export function changePoint({base, corrected, prediction, baseClass}) {
  if (prediction < 0 || prediction === baseClass) return null;
  let first = 1;
  for (let c = 0; c < base.length; ++c) {
    const before = base[baseClass] - base[c];
    const after = corrected[baseClass] - corrected[c];
    if (after < 0) first = Math.min(first, before / (before - after));
  }
  return first;
}
