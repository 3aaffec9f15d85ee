// USearch from npm: its graph.  Arguments and output: see peer.h.
//   NODE_PATH=FOLDER/node_modules node usearch_peer.cjs FOLDER THREADS approximate
const fs = require("fs");
const os = require("os");
const path = require("path");
const usearch = require("usearch");

// One array of a .npy file that NumPy or resmem wrote: version 1, little-endian, in C order.
function readNpy(file, type) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((s) => s.trim()).map(Number);
  const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
  return { values: new type(data), rows: shape[0], columns: shape[1] || 1 };
}

// For half a second and at least 3 times, as timing.h does.
function medianSeconds(run) {
  const times = [];
  let total = 0;
  for (let i = 0; times.length < 3 || (total < 0.5 && times.length < 500); ++i) {
    const begin = process.hrtime.bigint();
    run(i);
    times.push(Number(process.hrtime.bigint() - begin) / 1e9);
    total += times[times.length - 1];
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

function main() {
  const [folder, most, task] = process.argv.slice(2);
  if (task !== "approximate") return;
  const k = 50;
  const keys = readNpy(path.join(folder, "keys.npy"), Float32Array);
  const load = (values, truth) => ({
    ...readNpy(path.join(folder, values), Float32Array),
    truth: readNpy(path.join(folder, truth), BigInt64Array).values,
  });
  const queries = load("queries.npy", "truth.npy");
  const heldOut = load("held_out.npy", "held_out_truth.npy");
  const config = (ef) => ({
    dimensions: keys.columns, metric: "l2sq", quantization: "f32", connectivity: 16,
    expansion_add: 200, expansion_search: ef, multi: false,
  });
  const begin = Date.now();
  const built = new usearch.Index(config(50));
  built.add(BigUint64Array.from({ length: keys.rows }, (_, i) => BigInt(i)), keys.values, Number(most));
  const seconds = (Date.now() - begin) / 1000;
  // The width of a search is fixed when an index is made: one for each, from the same file.
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "usearch-")), "index");
  built.save(file);
  const recall = (index, asked) => {
    const found = index.search(asked.values, k, Number(most));
    let right = 0;
    for (let q = 0; q < asked.rows; ++q) {
      const known = new Set(asked.truth.subarray(q * k, (q + 1) * k));
      for (let i = 0; i < k; ++i) right += known.has(BigInt.asIntN(64, found.keys[q * k + i])) ? 1 : 0;
    }
    return right / (asked.rows * k);
  };
  let ef = 50;
  for (const wanted of [0.95, 0.99]) {
    for (; ef <= 3200; ef = Math.floor((ef * 5) / 4)) {
      const index = new usearch.Index(config(ef));
      index.load(file);
      if (recall(index, heldOut) < wanted) continue;
      const reached = recall(index, queries);
      for (let threads = 1; threads <= Number(most); ++threads) {
        const one = medianSeconds((i) => {
          const q = i % queries.rows;
          index.search(queries.values.subarray(q * queries.columns, (q + 1) * queries.columns), k, 1);
        });
        const all = medianSeconds(() => index.search(queries.values, k, threads));
        for (const [count, time] of [[1, one], [queries.rows, all]]) {
          console.log(["USearch", threads, count, k, time.toFixed(9), reached.toFixed(5), wanted,
                       seconds.toFixed(3), `ef ${ef}`].join("\t"));
        }
      }
      break;
    }
  }
  fs.rmSync(path.dirname(file), { recursive: true });
}

main();
