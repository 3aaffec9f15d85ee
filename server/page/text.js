// Text for a language model, token by token: what base and memory expect next, and how well each
// expected what stands there.
import * as api from "./api.js";
import {button, el, field, percent} from "./dom.js";
import {on, setQuery, state} from "./state.js";

const REST = 250;  // milliseconds after the last key until the text is read
const LAST = 24;   // tokens that are looked at, from the end
const TOP = 5;

// A token that is one word with its blank is shown without it.
const shown = (text) => text.trim() === "" ? "␣" : text.trim();

export function TextQuery(page) {
  let timer = 0, asked = null, query = null;
  const strip = el("ol", {class: "tokens", "aria-label": "The last tokens"});
  const next = el("ol", {class: "next-tokens", "aria-label": "What may come next"});
  const text = el("textarea", {
    id: "text-box",
    rows: 4,
    placeholder: "The beginning of a sentence",
    oninput: () => later(REST),
  });

  // The text up to a token becomes the query.
  const choose = (prefix) => page.run(async () => {
    const wanted = (query = {});
    const row = await api.embedText(state.memory.name, prefix);
    if (query !== wanted) return;
    const end = prefix.trim().split(/\s+/).slice(-4).join(" ");
    setQuery({...row, text: prefix, origin: `text after “${end}”`, counted: true});
  });
  const add = (token) => {
    text.value += token;
    later(0);
  };

  function draw(read, chooses) {
    let prefix = read.head;
    strip.replaceChildren(...read.tokens.map((token, i) => {
      prefix += token.text;
      const until = prefix;
      const before = read.tokens[i - 1];
      const gain = before ? before.next_memory - before.next_base : 0;
      const kind = Math.abs(gain) < 0.01 ? "" : gain > 0 ? "better" : "worse";
      const told = before ?
          `base ${percent(before.next_base)}, with the memory ${percent(before.next_memory)}` :
          "the first one shown";
      return el("li", null, button(shown(token.text), () => choose(until), {
                  class: `token ${kind}`,
                  title: told,
                  "aria-label": `${shown(token.text)}: ${told}`
                }));
    }));
    const last = read.tokens.at(-1);
    next.replaceChildren(...last.memory.map(
        (token) =>
            el("li", null,
               button(
                   [shown(token.text), el("small", null, ` ${percent(token.probability)}`)],
                   () => add(token.text), {"aria-label": `Add ${shown(token.text)}`}))));
    if (chooses) choose(prefix);
  }

  async function read(chooses) {
    asked?.abort();
    asked = new AbortController();
    const {signal} = asked;
    if (!text.value.trim()) {
      query = null;
      strip.replaceChildren();
      next.replaceChildren();
      return;
    }
    const answer =
        await api.tokens(state.memory.name, {text: text.value, last: LAST, top: TOP}, signal);
    if (!signal.aborted) draw(answer, chooses);
  }
  function later(wait, chooses = true) {
    clearTimeout(timer);
    timer = setTimeout(() => page.run(() => read(chooses)), wait);
  }

  on("memory", () => {
    asked?.abort();
    clearTimeout(timer);
    text.value = "";
    strip.replaceChildren();
    next.replaceChildren();
  });
  // The words are told again; the query stays, and with it what was said of the edit.
  on("edited", () => text.value.trim() && state.query?.text && later(0, false));
  return el(
      "div", {class: "text-query"}, field("Text", text), strip,
      el("p", {class: "legend"}, "With the memory it was expected ",
         el("span", {class: "legend-item"}, el("span", {class: "chip corrected"}), "more"),
         el("span", {class: "legend-item"}, el("span", {class: "chip harmed"}), "less"),
         "than by the base. Choose a token to see what may follow it."),
      el("p", {class: "quiet"}, "Next, by the memory:"), next);
}
