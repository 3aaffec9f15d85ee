// The image of a stored row, where the service has it.
import * as api from "./api.js";
import {el} from "./dom.js";
import {on, state} from "./state.js";

const KEPT = 500;
const images = new Map();  // by id: a promise of a bitmap, or of null

on("memory", () => images.clear());

function bitmapOf(id) {
  const key = String(id);
  if (!images.has(key)) {
    if (images.size >= KEPT) images.delete(images.keys().next().value);
    images.set(key, api.rowImage(state.memory.name, key).then(createImageBitmap).catch(() => null));
  }
  return images.get(key);
}

// Null where the memory's rows have no images here.  A row without one shows nothing.
export function rowImage(id, description) {
  if (!state.memory.rowImages) return null;
  const canvas =
      el("canvas", {class: "row-image", role: "img", "aria-label": description, hidden: true});
  bitmapOf(id).then((bitmap) => {
    if (!bitmap) return;
    [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    canvas.hidden = false;
  });
  return canvas;
}
