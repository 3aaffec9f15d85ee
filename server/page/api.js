// The service as this page asks it.  Every failure is an Error whose message is meant for people.

const KEY = "resmem-key";
export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)),
};

export class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

const WORDS = {
  401: "This server wants a key. Enter it above, under Key.",
  413: "That is larger than this server takes in one request.",
  429: "The server has too much to do. Try again in a moment.",
  503: "The server is not ready for this.",
};

async function problemOf(response) {
  let told = "";
  try {
    told = (await response.json()).error ?? "";
  } catch {
    // Not ours: a proxy between, say.
  }
  const sentence = told && told[0].toUpperCase() + told.slice(1) + (/[.!?]$/.test(told) ? "" : ".");
  const words = response.status === 401 ?
      WORDS[401] :
      [WORDS[response.status], sentence].filter(Boolean).join(" ");
  return new Problem(
      words || `The server answered ${response.status} without a reason.`, response.status);
}

async function ask(method, path, {body, signal, headers} = {}) {
  const all = {...headers};
  if (key.get()) all.Authorization = `Bearer ${key.get()}`;
  let response;
  try {
    response = await fetch(path, {method, body, signal, headers: all, cache: "no-store"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached. Is it still running?", 0);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

// Ids have 64 bits and JavaScript's numbers 53: long ones stay texts.
const parse = (text) => JSON.parse(text.replace(/([[,:]\s*)(\d{16,})(?=\s*[,\]}])/g, "$1\"$2\""));

async function json(method, path, options) {
  const response = await ask(method, path, options);
  return {data: parse(await response.text()), request: response.headers.get("X-Request-Id")};
}

const get = async (path) => (await json("GET", path)).data;
const post = async (path, body, signal) =>
    (await json(
         "POST", path, {body: typeof body === "string" ? body : JSON.stringify(body), signal}))
        .data;
const v1 = (name, what) => `/v1/memories/${encodeURIComponent(name)}/${what}`;
const idsJson = (name, ids) => `"${name}":[${ids.join(",")}]`;

export const server = () => get("/v2");
export const memories = async () => (await get("/v1/memories")).memories;
export const about = (name) => get(`/v2/models/${encodeURIComponent(name)}`);
export const aboutWithTokens = (name) =>
    get(`/v2/models/${encodeURIComponent(name)}?class_names=all`);
// An id that is a text here is a number there.
export const queryJson = (body) =>
    JSON.stringify(body).replace(/"leave_out":"(\d+)"/, "\"leave_out\":$1");
export const explain = (name, body, signal) => post(v1(name, "explain"), queryJson(body), signal);
export const tokens = (name, body, signal) => post(v1(name, "tokens"), body, signal);
export const neighbors = async (name, body) => (await post(v1(name, "neighbors"), body)).neighbors;
export const correct = (name, body) => post(v1(name, "correct"), body);
export const forget = (name, ids, keep) =>
    post(v1(name, "forget"), `{${idsJson("ids", ids)},"keep_for_undo":${keep}}`);
export const undo = (name, edit) => post(v1(name, "undo"), {edit});
export const previewLearn = (name, rows) => post(v1(name, "preview"), {learn: rows});
export const previewForget = (name, ids) =>
    post(v1(name, "preview"), `{${idsJson("forget", ids)}}`);
// A stored row under its own id, with another label.
const rowJson = (row, label) => `{${idsJson("ids", [row.id])},${
    JSON.stringify({
          keys: row.key,
          logits: row.logits,
          label,
          ...(row.source === undefined ? {} : {sources: [row.source]}),
        })
        .slice(1)}`;
export const relabel = (name, ids, label) =>
    post(v1(name, "relabel"), `{${idsJson("ids", ids)},"label":${label}}`);
export const previewRelabel = (name, row, label) =>
    post(v1(name, "preview"), `{"learn":${rowJson(row, label)},${idsJson("forget", [row.id])}}`);
export const history = async (name, before) =>
    (await get(v1(name, `history?limit=20${before ? `&before=${before}` : ""}`))).edits;
// Of the latest 1,000 edits, those that were corrections, the oldest first.
export const corrections = async (name) => (await get(v1(name, "history?limit=1000")))
                                               .edits.filter((edit) => edit.done && edit.feedback)
                                               .reverse();
export const rows = async (name, ids) => (await get(v1(name, `rows?ids=${ids.join(",")}`))).rows;
export const rowImage = async (name, id) => (await ask("GET", v1(name, `rows/${id}/image`))).blob();
export const anyRow = async (name) => (await get(v1(name, "rows?sample=1"))).rows[0];
export const recent = async (name) => (await get(v1(name, "queries?limit=20"))).queries;
export const recentQuery = async (name, request) =>
    (await get(v1(name, `queries/${encodeURIComponent(request)}`))).queries;
export const review = (name) => get(v1(name, "review"));
export const metrics = async () => (await ask("GET", "/metrics")).text();

export async function infer(name, body, signal) {
  return json(
      "POST", `/v2/models/${encodeURIComponent(name)}/infer`, {body: JSON.stringify(body), signal});
}

// One input whose bytes follow the JSON -> the arrays that the memory's model made of it.
async function embed(name, input, parts) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const head = JSON.stringify({
    inputs: [{...input, parameters: {binary_data_size: size}}],
    outputs: [{name: "keys"}, {name: "logits"}],
  });
  const length = new TextEncoder().encode(head).length;
  const {data} = await json("POST", `/v2/models/${encodeURIComponent(name)}/infer`, {
    body: new Blob([head, ...parts]),
    headers: {"Inference-Header-Content-Length": String(length)},
  });
  const [keys, logits] = data.outputs.map((output) => output.data);
  return {keys, logits};
}

// A BYTES tensor of one element: its length, 4 bytes, before it.
const oneElement = (bytes) => [new Uint8Array(new Uint32Array([bytes.length]).buffer), bytes];

// One image: height x width x channels bytes.
export const embedImage = (name, shape, bytes) =>
    embed(name, {name: "image", datatype: "UINT8", shape: [1, ...shape]}, [bytes]);
export const embedImageFile = (name, bytes) =>
    embed(name, {name: "image_file", datatype: "BYTES", shape: [1]}, oneElement(bytes));
export const embedText = (name, text) => embed(
    name, {name: "text", datatype: "BYTES", shape: [1]},
    oneElement(new TextEncoder().encode(text)));

const ARRAYS = {
  FP32: Float32Array,
  INT32: Int32Array,
  UINT64: BigUint64Array,
  UINT8: Uint8Array
};

// The arrays of an answer in the protocol's binary form, by name.
export async function map(name) {
  const response = await ask("GET", v1(name, "map"));
  const body = await response.arrayBuffer();
  let at = Number(response.headers.get("Inference-Header-Content-Length"));
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 0, at)));
  const arrays = {parameters: head.parameters};
  for (const output of head.outputs) {
    const size = output.parameters.binary_data_size;
    arrays[output.name] = new ARRAYS[output.datatype](body.slice(at, at + size));
    at += size;
  }
  return arrays;
}
