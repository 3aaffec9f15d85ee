// The frame: which memory, which key, which part of the page is shown.
import * as api from "./api.js";
import {el, number, say} from "./dom.js";
import {LookView} from "./look.js";
import {memoryOf, on, setMemory, state} from "./state.js";
import {TeachView} from "./teach.js";
import {TryView} from "./try.js";
import {WatchView} from "./watch.js";

const byId = (id) => document.getElementById(id);
const problem = byId("problem");

function showProblem(error) {
  if (error.name === "AbortError") return;
  problem.textContent =
      error instanceof api.Problem ? error.message : `This page made a mistake: ${error.message}`;
  problem.hidden = false;
  if (error.status === 401) {
    byId("key").open = true;
    byId("key-text").focus();
  }
}
const clearProblem = () => (problem.hidden = true);

// Runs what goes on by itself: what goes wrong is shown, what a person was told stays.
async function background(work) {
  try {
    return await work();
  } catch (error) {
    showProblem(error);
    return undefined;
  }
}

// Runs what a person asked for.
const run = (work) => {
  clearProblem();
  return background(work);
};

const go = (name) => (location.hash = `#${name}`);
const page = {
  run,
  background,
  go,
  showProblem
};
const VIEWS = {
  try: TryView,
  teach: TeachView,
  look: LookView,
  watch: WatchView
};
const views = {};
let shown = null;

function show(asked, byHand) {
  const name = Object.hasOwn(VIEWS, asked) ? asked : "try";
  views[name] ??= VIEWS[name](byId(`view-${name}`), page);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`)
      link.setAttribute("aria-current", "page");
    else
      link.removeAttribute("aria-current");
  }
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = section.id !== `view-${name}`;
  }
  if (shown && shown !== name) views[shown].leave?.();
  shown = name;
  if (byHand) clearProblem();
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · resmem`;
  if (byHand) byId(`title-${name}`).focus();
  background(() => views[name].enter?.());
}

async function useMemory(name) {
  const memory = memoryOf(await api.about(name));
  setMemory(memory.text ? memoryOf(await api.aboutWithTokens(name)) : memory);
  if (shown) await views[shown].enter?.();
}

on("memory", () => {
  const {memory} = state;
  const what = memory.classifies ?
      `${number(memory.outputs)} ${memory.text ? "tokens" : "classes"}` :
      `${number(memory.outputs)} values to predict`;
  const p = memory.parameters;
  byId("about").textContent =
      `${number(memory.rows)} rows, keys of ${number(memory.dim)} values, ${what}. ` +
      `Answers by ${p.answer}, k = ${p.k}, sigma = ${number(p.sigma)}, T = ${
          number(p.temperature)}` +
      `${p.tuned ? "" : ", not tuned"}.`;
});
on("edited", () => background(async () => {
               const fresh = memoryOf(await api.about(state.memory.name));
               state.memory.rows = fresh.rows;
               byId("about").textContent =
                   byId("about").textContent.replace(/^[\d,]+ rows/, `${number(fresh.rows)} rows`);
             }));

async function load() {
  const all = await api.memories();
  const select = byId("memory");
  const before = select.value;
  select.replaceChildren(...all.map(
      (memory) =>
          el("option", {value: memory.name, disabled: !memory.loaded},
             memory.name + (memory.loaded ? "" : " (not loaded)"))));
  const usable = all.filter((memory) => memory.loaded);
  if (usable.length === 0) throw new api.Problem("No memory is loaded on this server.", 0);
  select.value = (usable.find((memory) => memory.name === before) ?? usable[0]).name;
  byId("version").textContent = `resmem ${(await api.server()).version}.`;
  await useMemory(select.value);
}

byId("memory").addEventListener("change", (event) => run(() => useMemory(event.target.value)));
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.key.set(byId("key-text").value.trim());
  byId("key-text").value = "";
  run(async () => {
    await load();
    byId("key").open = false;
    say("The key was accepted.");
  });
});
byId("key-drop").addEventListener("click", () => {
  api.key.set("");
  say("The key was dropped.");
});
window.addEventListener(
    "hashchange", () => location.hash !== "#content" && show(location.hash.slice(1), true));
window.addEventListener("unhandledrejection", (event) => showProblem(event.reason));

await run(load);
show(location.hash.slice(1) || "try", false);
document.documentElement.dataset.ready = "true";
