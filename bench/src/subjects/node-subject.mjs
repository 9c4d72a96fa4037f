import { fileURLToPath } from "node:url";
import { HIT_ROUTE, routeNames } from "../../apps/workload.mjs";
import { freePort, startNode, waitForFirstOk } from "../server-process.mjs";

const PATH = `/v1/${routeNames[HIT_ROUTE]}/dept_infra`;
const JSON_BODY = { "content-type": "application/json" };

/** Two bodies of 200 bytes that move the department back and forth, so that each POST changes something. */
export const reparentBodies = ["dept_ops", "dept_eng"].map((parent) =>
  JSON.stringify({ new_parent_id: parent, reason: "" }).replace('""', () => {
    const rest = 200 - JSON.stringify({ new_parent_id: parent, reason: "" }).length;
    return `"${"r".repeat(rest)}"`;
  }),
);

/**
 * A subject that is one Node program and listens on a given port. `program(port)` returns node's arguments; `get` and
 * `post` describe its requests.
 */
export function defineNodeSubject({ name, kind, program, prepare, get, post, env }) {
  return {
    name,
    kind,
    get,
    post,
    async start({ probe = false } = {}) {
      const folder = prepare?.();
      const port = await freePort();
      const server = startNode({ args: program(port, folder), cwd: folder, env, probe });
      const url = `http://127.0.0.1:${port}`;
      const firstAnswerMs = await waitForFirstOk(server, { url: url + get.path, headers: get.headers });
      return { ...server, url, firstAnswerMs };
    },
  };
}

/** One of the programs in apps/. */
export function defineAppSubject(name, file, kind) {
  const path = fileURLToPath(new URL(`../../apps/${file}`, import.meta.url));
  return defineNodeSubject({
    name,
    kind,
    program: (port) => [path, String(port)],
    get: { path: PATH },
    post: { path: `${PATH}/reparent`, bodies: reparentBodies, headers: JSON_BODY },
  });
}
