// Elements without markup in strings, so that no text of a memory is ever read as HTML.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked")
      node[name] = value;
    else
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(
      (child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

// A label with what it names.
export function field(text, input) {
  return el("label", {class: "field"}, el("span", null, text), input);
}

export function button(text, onclick, attributes) {
  return el("button", {type: "button", onclick, ...attributes}, text);
}

// `rows`: lists of cells; a cell is text or an element.
export function table(caption, heads, rows) {
  const kind = (value) => (typeof value === "string" && /\p{L}{2}/u.test(value) ? "words" : null);
  const head = (text, i) => el("th", {scope: "col", class: kind(rows[0]?.[i])}, text);
  const cell = (value, i) =>
      (i === 0 ? el("th", {scope: "row"}, value) : el("td", {class: kind(value)}, value));
  return el(
      "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
      el("table", null, el("caption", {class: "hidden"}, caption),
         el("thead", null, el("tr", null, ...heads.map(head))),
         el("tbody", null, ...rows.map((row) => el("tr", null, ...row.map(cell))))));
}

// For screen readers: what has just changed.
export function say(text) {
  document.getElementById("said").textContent = text;
}

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return Number(value.toPrecision(digits)).toLocaleString("en-US", {
    maximumSignificantDigits: digits
  });
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const signed = (value, digits = 4) =>
    `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
