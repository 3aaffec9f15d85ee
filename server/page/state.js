// What the parts of the page share: the chosen memory, and the query that is tried and taught.

const listeners = new Map();
export function on(event, listener) {
  listeners.set(event, [...(listeners.get(event) ?? []), listener]);
}
export function tell(event) {
  for (const listener of listeners.get(event) ?? []) listener();
}

// memory: { name, rows, dim, outputs, classifies, classes, image, text, rowImages, parameters } or
// null query: { keys, logits, origin, label, leaveOut, text } or null
export const state = {
  memory: null,
  query: null
};

export function setMemory(memory) {
  state.memory = memory;
  state.query = null;
  tell("memory");
  tell("query");
}
export function setQuery(query) {
  state.query = query;
  tell("query");
}

export function memoryOf(metadata) {
  const shapeOf = (name) => metadata.inputs.find((input) => input.name === name)?.shape;
  const {task, class_names: classes, ...parameters} = metadata.parameters;
  return {
    name: metadata.name,
    classes,
    parameters,
    rows: parameters.rows,
    dim: shapeOf("keys")[1],
    outputs: shapeOf("logits")[1],
    image: shapeOf("image")?.slice(1),
    text: shapeOf("text") !== undefined,
    rowImages: parameters.row_images,
    classifies: task === "classification",
  };
}

export function className(number) {
  if (number === undefined || number === null || number < 0) return "–";
  const name = state.memory.classes[number] ?? `class ${number}`;
  return state.memory.text ? `“${name}”` : name;
}

// A token as it is shown, “ with its blank”, or a word, which begins with one.
function tokenNumber(text) {
  const quoted = /^“(.*)”$/s.exec(text.trim());
  const names = quoted ? [quoted[1]] : [` ${text.trim()}`, text.trim()];
  return names.map((name) => state.memory.classes.indexOf(name)).find((at) => at >= 0) ?? -1;
}

// A class by its name or its number; -1 where there is none.
export function classNumber(text) {
  if (state.memory.text) return tokenNumber(text);
  const found = state.memory.classes.indexOf(text.trim());
  if (found >= 0) return found;
  const number =
      /^(class\s+)?\d+$/.test(text.trim()) ? Number(text.trim().replace(/^class\s+/, "")) : -1;
  return number < state.memory.outputs ? number : -1;
}
