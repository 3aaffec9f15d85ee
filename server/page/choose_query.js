// Where a query comes from: a pasted row, a stored row, a recent query, an image.
import * as api from "./api.js";
import {button, el, field} from "./dom.js";
import {imageBytes} from "./image.js";
import {BadRow, parseRow, writeRow} from "./paste.js";
import {className, on, setQuery, state} from "./state.js";
import {TextQuery} from "./text.js";

export const fromStored = (row) => ({
  keys: row.key,
  logits: row.logits,
  origin: `stored row ${row.id}, left out of its own answer`,
  label: row.label,
  leaveOut: row.id,
  id: row.id,
});

export async function useStored(id) {
  const [row] = await api.rows(state.memory.name, [id]);
  if (!row.logits)
    throw new api.Problem(
        "This memory is frozen and keeps no logits, so its rows cannot be asked again.", 0);
  setQuery(fromStored(row));
}

function pasted(page) {
  const bad = el("p", {class: "bad", role: "status"});
  const read = (text) => {
    bad.textContent = "";
    if (!text.trim() || !state.memory) return;
    try {
      setQuery({...parseRow(text, state.memory), origin: "pasted row"});
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      bad.textContent = error.message;
    }
  };
  const text = el("textarea", {
    rows: 5,
    spellcheck: "false",
    id: "row-text",
    oninput: (event) => read(event.target.value),
    placeholder:
        "{\"keys\": [0.1, 0.2, …], \"logits\": [1.5, −0.3, …]}\nor the numbers of both, separated by commas",
  });
  on("query", () => {
    if (state.query && !state.query.origin.startsWith("pasted")) text.value = writeRow(state.query);
    if (!state.query) text.value = bad.textContent = "";
  });
  return el("div", null, field("Keys and logits, as JSON or CSV", text), bad);
}

function stored(page) {
  const id =
      el("input", {type: "text", inputmode: "numeric", pattern: "[0-9]+", id: "row-id", size: 6});
  const use = (event) => {
    event.preventDefault();
    if (/^\d+$/.test(id.value.trim()))
      page.run(() => useStored(id.value.trim()));
    else
      id.focus();
  };
  const any = () => page.run(async () => {
    const row = await api.anyRow(state.memory.name);
    id.value = row.id;
    await useStored(row.id);
  });
  return el(
      "form", {class: "line", onsubmit: use}, field("Id of a stored row", id),
      el("button", {type: "submit"}, "Ask it"), button("Any row", any));
}

function recent(page) {
  const list = el("ol", {class: "picks", "aria-label": "Recent queries"});
  const use = (query) => page.run(async () => {
    const rows = await api.recentQuery(state.memory.name, query.request);
    const row = rows.find((each) => each.row === query.row);
    setQuery(
        {keys: row.key, logits: row.logits, origin: `query ${query.request}, row ${query.row}`});
  });
  const pick = (query) => {
    const answer = state.memory.classifies ? className(query.prediction) : `row ${query.row}`;
    const changed = state.memory.classifies && query.prediction !== query.base_prediction;
    return el(
        "li", null,
        button(
            [
              el("strong", null, answer),
              changed ? ` base: ${className(query.base_prediction)}` : "",
              el("small", null, ` ${query.request.slice(0, 12)}`)
            ],
            () => use(query)));
  };
  const load = async () => {
    const queries = await api.recent(state.memory.name);
    list.replaceChildren(...queries.map(pick));
    if (queries.length === 0) list.append(el("li", {class: "quiet"}, "Nothing was asked yet."));
  };
  return {element: list, load};
}

// The file as the service reads it; null where it cannot (another format or size): then the page
// scales it.
async function fromFile(name, file) {
  if (!["image/png", "image/jpeg"].includes(file.type)) return null;
  try {
    return await api.embedImageFile(name, new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (error.status === 400 || error.status === 409 || error.status === 413) return null;
    throw error;
  }
}

function image(page) {
  const shown = el("div", {class: "shown-image"});
  const read = (file) => file && page.run(async () => {
    const {name, image: shape} = state.memory;
    const {bytes, canvas} = await imageBytes(file, shape);
    const row = await fromFile(name, file) ?? await api.embedImage(name, shape, bytes);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `The image as the model reads it: ${file.name}`);
    shown.replaceChildren(canvas);
    setQuery({...row, origin: `image ${file.name}`, counted: true});
  });
  const input = el("input", {
    type: "file",
    accept: "image/*",
    id: "image-file",
    onchange: (event) => read(event.target.files[0])
  });
  const drop =
      el("div", {
        class: "drop",
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          read(event.dataTransfer.files[0]);
        },
      },
         field("Drop an image here, or choose one", input), shown);
  on("memory", () => {
    shown.replaceChildren();
    input.value = "";
  });
  return drop;
}

export function ChooseQuery(page) {
  const late = recent(page);
  const latest =
      el("details", {ontoggle: (event) => event.target.open && page.run(late.load)},
         el("summary", null, "Recent queries"), late.element);
  const pictures = image(page), text = TextQuery(page), row = pasted(page), old = stored(page);
  const choose = () => {
    pictures.hidden = !state.memory?.image;
    text.hidden = !state.memory?.text;
    row.hidden = Boolean(state.memory?.text);  // nobody pastes thousands of logits
    old.hidden = row.hidden;                   // and its rows keep none
    latest.open = false;
  };
  on("memory", choose);
  choose();
  return el("div", {class: "choose-query"}, pictures, text, row, old, latest);
}
