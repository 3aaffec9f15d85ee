// Look: the memory as a map, one row and its neighbors, and lists of rows that deserve a look.
import * as api from "./api.js";
import {useStored} from "./choose_query.js";
import {classColor, pointColors} from "./colors.js";
import {button, el, field, number, percent, table} from "./dom.js";
import {PointMap} from "./map.js";
import {rowImage} from "./row_image.js";
import {className, on, state} from "./state.js";

const NEIGHBORS = 12;

const link = (text, onclick, label) => button(text, onclick, {class: "link", "aria-label": label});

function labelOf(row) {
  return state.memory.classifies ? className(row.label) :
                                   (row.target ?? []).map((value) => number(value)).join(", ");
}

// What can be done with a row.
function actions(page, id) {
  return [
    link(
        "Ask it", () => page.run(async () => {
          await useStored(id);
          page.go("try");
        }),
        `Ask row ${id}`),
    " ",
    link(
        "Forget it",
        () => {
          state.toForget = {id};
          page.go("teach");
        },
        `Forget row ${id}`),
  ];
}

function RowPanel(page, show) {
  const panel =
      el("div", {class: "row-panel", "aria-live": "polite"},
         el("p", {class: "quiet"}, "Choose a point, or find a row by its id."));
  async function load(id) {
    const {memory} = state;
    const [row] = await api.rows(memory.name, [id]);
    const logits =
        row.logits ?? new Array(memory.outputs).fill(0);  // neighbors do not depend on them
    const k = Math.min(NEIGHBORS + 1, memory.rows);
    const [near] = await api.neighbors(memory.name, {keys: row.key, logits, k});
    const others = near.filter((each) => String(each.id) !== String(row.id)).slice(0, NEIGHBORS);
    const facts = [["label", labelOf(row)], ["residual", number(row.residual)]];
    if (memory.classifies) facts.push(["base says", className(row.base)]);
    if (row.source) facts.push(["source", row.source]);
    panel.replaceChildren(
        el("h3", null, `Row ${row.id}`), rowImage(row.id, `The image of row ${row.id}`) ?? "",
        el("dl", {class: "facts"},
           ...facts.map(
               ([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value)))),
        el("p", null, ...actions(page, row.id)),
        table(
            `Neighbors of row ${row.id}`, ["neighbor", "label", "distance"],
            others.map(
                (each) =>
                    [link(`row ${each.id}`, () => show(each.id)), labelOf(each),
                     each.distance.toFixed(3)])));
    return others.map((each) => each.id);
  }
  return {
    element: panel,
    load,
    clear: () =>
        panel.replaceChildren(el("p", {class: "quiet"}, "Choose a point, or find a row by its id."))
  };
}

function legend(points, by) {
  if (by === "residual")
    return [
      "little ", el("span", {class: "chip same"}), el("span", {class: "chip harmed"}),
      " much residual"
    ];
  if (by === "error")
    return [
      el("span", {class: "chip same"}), "the base is right ", el("span", {class: "chip harmed"}),
      "the base is wrong"
    ];
  const counts = new Map();
  for (const label of points.label) counts.set(label, (counts.get(label) ?? 0) + 1);
  const all = [...counts].sort((a, b) => a[0] - b[0]);
  const chips = all.slice(0, 20).map(([c, count]) => {
    const chip = el("span", {class: "chip"});
    chip.style.background = classColor(c);
    return el(
        "span", {class: "legend-item"}, chip, `${className(c)} `, el("small", null, number(count)));
  });
  return all.length > 20 ? [...chips, el("small", null, `and ${all.length - 20} more`)] : chips;
}

function suspects(page, show, review) {
  const rows = review.label_errors;
  if (rows.length === 0) return el("p", null, "None was found.");
  const line = (row) =>
      [el("span", null, rowImage(row.id, `The image of row ${row.id}`),
          link(`row ${row.id}`, () => show(row.id))),
       className(row.label), className(row.suggested), percent(row.disagreement, 0),
       number(row.residual, 2),
       el("span", null, ...actions(page, row.id), " ",
          link(
              "Relabel",
              () => {
                state.toForget = {id: row.id, label: className(row.suggested)};
                page.go("teach");
              },
              `Relabel row ${row.id}`),
          " ", link("Keep", (event) => event.target.closest("tr").remove(), `Keep row ${row.id}`))];
  return table(
      "Likely label errors", ["row", "label", "neighbors say", "disagree", "residual", ""],
      rows.map(line));
}

function twins(page, show, review) {
  const rows = review.duplicates;
  if (rows.length === 0) return el("p", null, "None was found.");
  const line = (pair) =>
      [link(`row ${pair.id}`, () => show(pair.id)),
       link(`row ${pair.other}`, () => show(pair.other)), pair.distance.toPrecision(3),
       state.memory.classifies ?
           (pair.label === pair.other_label ?
                className(pair.label) :
                el("strong", {class: "wrong"},
                   `${className(pair.label)} / ${className(pair.other_label)}`)) :
           "",
       el("span", null, ...actions(page, pair.other))];
  return table("Near-duplicates", ["row", "and", "distance", "label", ""], rows.map(line));
}

function harms(review) {
  if (review.classes.length === 0)
    return el(
        "p", null, "This memory is frozen: it keeps no logits, so its own rows cannot be judged.");
  const rows =
      review.classes.filter((each) => each.fixed + each.harmed > 0)
          .sort((a, b) => (b.harmed - b.fixed) - (a.harmed - a.fixed) || a.class - b.class);
  if (rows.length === 0) return el("p", null, "The memory changed none of the answers.");
  const net = (each) => each.fixed - each.harmed;
  return table(
      "Classes by what the memory does to them", ["class", "checked", "fixed", "harmed", "net"],
      rows.map(
          (each) =>
              [className(each.class), number(each.rows), number(each.fixed), number(each.harmed),
               el("span",
                  {class: net(each) < 0 ? "wrong" :
                       net(each) > 0    ? "right" :
                                          ""},
                  (net(each) > 0     ? "+" :
                       net(each) < 0 ? "−" :
                                       "") +
                      Math.abs(net(each)))]));
}

function Review(page, show) {
  const out = el("div", {"aria-live": "polite"});
  const part = (title, note, content) =>
      el("div", {class: "review-part"}, el("h3", null, title), el("p", {class: "quiet"}, note),
         content);
  const load = () => page.run(async () => {
    out.replaceChildren(el("p", {class: "quiet"}, "Checking…"));
    try {
      const review = await api.review(state.memory.name);
      const checked = `${number(review.checked)} of ${number(review.rows)} rows`;
      out.replaceChildren(
          state.memory.classifies &&
              part(
                  "Likely label errors",
                  `Rows with a large residual whose neighbors have another label; the ${
                      number(review.suspected)} rows of the largest residual were checked.`,
                  suspects(page, show, review)),
          part(
              "Near-duplicates",
              `Pairs nearer than ${
                  review.duplicate_distance.toPrecision(
                      3)}, a hundredth of the usual distance to the nearest row; ${
                  checked} were checked.`,
              twins(page, show, review)),
          state.memory.classifies &&
              part(
                  "Classes where the memory harms",
                  `${checked}, each left out of its own answer. ${
                      review.cross_fitted ?
                          "" :
                          "If the base was trained on these rows, it looks better here than on new ones, and the memory worse."}`,
                  harms(review)));
    } catch (error) {
      out.replaceChildren();
      throw error;
    }
  });
  return {
    element:
        el("div", {class: "review"},
           button("Find rows that deserve a look", load, {class: "main", id: "review"}), out),
    clear: () => out.replaceChildren(),
    again: () => out.childElementCount > 0 && load(),
  };
}

export function LookView(root, page) {
  let points = null, loaded = null, edited = false, index = new Map();
  const shownLegend = el("p", {class: "legend"});
  const note = el("p", {class: "quiet"});
  const by = el("select", {id: "color-by"});
  const id = el("input", {id: "find-id", inputmode: "numeric", size: 12});
  const describe = (i) =>
      `row ${points.id[i]}${points.label ? `, ${className(points.label[i])}` : ""}, residual ${
          number(points.residual[i], 2)}`;
  const map = new PointMap((i) => show(points.id[i].toString()), describe);
  const row = RowPanel(page, (other) => show(other));
  const review = Review(page, (other) => show(other));

  const show = (which) => page.run(async () => {
    const others = await row.load(which);
    id.value = which;
    const at = index.get(String(which));
    const near = others.map((each) => index.get(String(each))).filter((i) => i !== undefined);
    if (at !== undefined) map.choose(at, near);
  });
  const paint = () => {
    if (!points) return;
    map.setColors(pointColors(points, by.value));
    shownLegend.replaceChildren(...legend(points, by.value));
  };
  map.recolor = paint;
  by.addEventListener("change", paint);

  async function load() {
    const {memory} = state;
    if (!memory || (loaded === memory.name && !edited)) return;
    points = await api.map(memory.name);
    if (loaded === memory.name)
      review.again();
    else
      review.clear();
    [loaded, edited] = [memory.name, false];
    index = new Map();
    points.id.forEach((value, i) => index.set(value.toString(), i));
    const choices = memory.classifies ?
        [["class", "class"], ["residual", "residual"], ["error", "the base's errors"]] :
        [["residual", "residual"]];
    by.replaceChildren(...choices.map(([value, text]) => el("option", {value}, text)));
    map.setPoints(points, pointColors(points, by.value));
    shownLegend.replaceChildren(...legend(points, by.value));
    const count = points.x.length;
    note.textContent = `${
        count < memory.rows ?
            `${number(count)} of ${number(memory.rows)}` :
            number(count)} rows, by the two directions in which their keys differ most.`;
    row.clear();
  }

  const find = (event) => {
    event.preventDefault();
    if (/^\d+$/.test(id.value.trim()))
      show(id.value.trim());
    else
      id.focus();
  };
  root.append(
      el("h2", {id: "title-look", tabindex: "-1"}, "Look"),
      el("div", {class: "line"}, field("Color by", by),
         el("form", {class: "line", onsubmit: find}, field("Find a row", id),
            el("button", {type: "submit"}, "Find")),
         button("Show all", () => map.reset()),
         button("+", () => map.zoomMiddle(1.5), {"aria-label": "Zoom in"}),
         button("−", () => map.zoomMiddle(1 / 1.5), {"aria-label": "Zoom out"})),
      el("div", {class: "columns map-columns"}, el("div", null, map.element, shownLegend, note),
         row.element),
      review.element);

  on("edited", () => (edited = true));
  return {
    async enter() {
      await load();
      if (state.found === undefined) return;
      const which = state.found;
      delete state.found;
      await show(which);
    },
  };
}
