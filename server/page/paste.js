// A pasted row: JSON of keys and logits, a request of the protocol, or plain numbers.

export class BadRow extends Error {}

function numbersOf(value, name, count) {
  const flat = Array.isArray(value) ? value.flat(Infinity) : [];
  if (flat.length !== count ||
      !flat.every((each) => typeof each === "number" && Number.isFinite(each))) {
    throw new BadRow(`"${name}" must be ${count} numbers; ${flat.length} were found.`);
  }
  return flat;
}

function ofJson(text, memory) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadRow(`This begins like JSON, but is not: ${error.message}.`);
  }
  const inputs = Array.isArray(value.inputs) ? value.inputs : [];
  const find = (name) => value[name] ?? inputs.find((input) => input.name === name)?.data;
  return {
    keys: numbersOf(find("keys"), "keys", memory.dim),
    logits: numbersOf(find("logits"), "logits", memory.outputs),
  };
}

export function parseRow(text, memory) {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return ofJson(trimmed, memory);
  const numbers = trimmed.split(/[\s,;]+/).filter(Boolean).map(Number);
  const wanted = memory.dim + memory.outputs;
  if (numbers.length !== wanted || !numbers.every(Number.isFinite)) {
    const bad = numbers.findIndex((each) => !Number.isFinite(each));
    throw new BadRow(
        bad >= 0 ? `Value ${bad + 1} is not a number.` :
                   `${wanted} numbers are wanted, ${memory.dim} of the key and then ${
                       memory.outputs} logits; ` +
                `${numbers.length} were found.`);
  }
  return {keys: numbers.slice(0, memory.dim), logits: numbers.slice(memory.dim)};
}

export function writeRow({keys, logits}) {
  return JSON.stringify({keys, logits});
}
