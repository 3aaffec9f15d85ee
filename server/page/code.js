// The question on the screen as a command or a program.
import {key, queryJson} from "./api.js";

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function asCurl(memory, body) {
  const secret = key.get() ? " -H \"Authorization: Bearer $RESMEM_KEY\"" : "";
  return `curl -s${secret} ${location.origin}/v1/memories/${memory}/explain \\\n  -d ${
      quote(queryJson(body))}`;
}

const literal = (value) =>
    typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value).replaceAll(",", ", ");

export function asPython(memory, body) {
  const lines = Object.entries(body).map(
      ([name, value]) =>
          `    ${JSON.stringify(name)}: ${name === "leave_out" ? value : literal(value)},`);
  const secret = key.get() ?
      "\n    headers={\"Authorization\": \"Bearer \" + os.environ[\"RESMEM_KEY\"]}," :
      "";
  return `import json${key.get() ? "\nimport os" : ""}
import urllib.request

query = {
${lines.join("\n")}
}
request = urllib.request.Request(
    "${location.origin}/v1/memories/${memory}/explain",
    data=json.dumps(query).encode(),${secret})
ledger = json.load(urllib.request.urlopen(request))["ledger"]
print(ledger["base_prediction"], "->", ledger["prediction"])
`;
}
