// What the parts of the page share: the chosen memory, and the query that is tried and taught.

const listeners = new Map();
export function on(event, listener) {
  listeners.set(event, [...(listeners.get(event) ?? []), listener]);
}
export function tell(event) {
  for (const listener of listeners.get(event) ?? []) listener();
}

// memory: { name, rows, dim, outputs, classifies, classes, image, parameters } or null
// query: { keys, logits, origin, label, leaveOut } or null
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
    classifies: task === "classification",
  };
}

export function className(number) {
  if (number === undefined || number === null || number < 0) return "–";
  return state.memory.classes[number] ?? `class ${number}`;
}

// A class by its name or its number; -1 where there is none.
export function classNumber(text) {
  const found = state.memory.classes.indexOf(text.trim());
  if (found >= 0) return found;
  const number =
      /^(class\s+)?\d+$/.test(text.trim()) ? Number(text.trim().replace(/^class\s+/, "")) : -1;
  return number < state.memory.outputs ? number : -1;
}
