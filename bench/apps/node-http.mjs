// The lower bound: this workload on Node alone, without a framework.
import { createServer } from "node:http";
import { makeDepartment, readPortArgument, reparent, routeNames } from "./workload.mjs";

const routes = new Map(routeNames.map((name) => [name, new Map([["dept_infra", makeDepartment()]])]));

function answer(res, status, value) {
  const body = JSON.stringify(value);
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  res.end(body);
}

function readJson(req, done) {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => done(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))));
}

const server = createServer((req, res) => {
  const [, version, name, id] = req.url.split("/");
  const record = version === "v1" ? routes.get(name)?.get(id) : undefined;
  if (!record) return answer(res, 404, { error: "not found" });
  if (req.method === "GET") return answer(res, 200, record);
  readJson(req, (body) => answer(res, 200, reparent(record, body.new_parent_id)));
});
server.listen(readPortArgument(), "127.0.0.1");
