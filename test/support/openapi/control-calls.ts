import { expect } from "vitest";
import { readEvents } from "../../../src/client/http.ts";
import type { ControlOperation } from "../../../src/control/operation.ts";
import type { ProblemKind } from "../../../src/engine/contract/problems.ts";
import { listProblemKinds } from "../../../src/engine/contract/problems.ts";
import { sign } from "../../../src/engine/webhooks/sign.ts";
import { waitUntil } from "../eventually.ts";
import type { Api, ApiResponse } from "../harness.ts";
import { sendRawRequest } from "../raw-request.ts";
import { FreshWorld } from "./fresh-world.ts";

/** A call of the control API with the examples of its declaration, and a sandbox in which it succeeds. */
export interface Example {
  world: FreshWorld;
  operation: ControlOperation;
  params: Record<string, string>;
  query?: string;
  body: unknown;
}

interface WithExamples {
  examples?: unknown[];
}

export async function createExample(api: Api, operation: ControlOperation): Promise<Example> {
  const world = await FreshWorld.create(api);
  const parameters = Object.entries((operation.params?.properties ?? {}) as Record<string, WithExamples>);
  const shown = Object.fromEntries(
    parameters.map(([name, { examples = [] }]) => [name, String(examples[0])]),
  );
  const shownBody = (operation.body as { schema?: WithExamples } | undefined)?.schema?.examples?.[0];
  const body = operation.id === "sandboxes.open" ? await exportSandbox(world) : shownBody;
  const params = { ...shown, name: world.name, ...(await prepareWorld(world, operation)) };
  return { world, operation, params, body };
}

export function send(
  api: Api,
  { operation, params, query, body }: Example,
  headers = {},
): Promise<ApiResponse> {
  // Calls that change something need a content type that a page cannot send without permission (preflight).
  const type: Record<string, string> =
    operation.method === "GET" ? {} : { "content-type": "application/json" };
  return api.call(undefined, operation.method, fillPath(operation, params) + (query ?? ""), body, {
    ...type,
    ...headers,
  });
}

export function fillPath({ path }: ControlOperation, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!);
}

const rule = {
  id: "lost-answer",
  match: { operation: "threads.*" },
  effect: { error: "RESOURCE_NOT_FOUND" },
};

/** Creates what an example refers to. Returns the ids that the server chose, as parameters. */
async function prepareWorld(
  world: FreshWorld,
  { id, path }: ControlOperation,
): Promise<Record<string, string>> {
  if (/\{(snap|a)\}/.test(path) && id !== "snapshots.upload")
    await world.control("POST", "/snapshots", { name: "before" });
  if (path.includes("/faults/{id}")) await world.control("POST", "/faults", rule);
  if (id === "receivers.answer") return forwardDelivery(world);
  if (id === "held.release") await holdRequest(world);
  if (path.includes("/receivers/{id}")) {
    const { body } = await world.control("POST", "/receivers");
    await world.api.call(undefined, "POST", new URL(body.url).pathname, { event: "user.created" });
    return { id: body.id };
  }
  if (id === "history.repeat") await world.call("/v1/threads/thread_ada", "DELETE", { who: "ada" });
  else if (id.startsWith("history.")) await world.control("POST", "/state/threads");
  if (id.startsWith("journal.")) {
    const { headers } = await world.call("/v1/models", "GET", { who: "dan" });
    if (path.includes("{id}")) return { id: headers.get("x-request-id")! };
  }
  return {};
}

async function exportSandbox({ api, name }: FreshWorld): Promise<{ file: string }> {
  const response = await fetch(`${api.url}/_control/sandboxes/${name}/export`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  return { file: Buffer.from(await response.arrayBuffer()).toString("base64") };
}

async function holdRequest(world: FreshWorld): Promise<void> {
  await world.control("POST", "/faults", { match: { operation: "models.list" }, effect: { hold: {} } });
  void world.call("/v1/models", "GET", { who: "dan" }).catch(() => {});
  await waitUntil(() => world.api.understudy.sandboxes.get(world.name)!.held.list().length > 0);
}

/** Forwards a signed delivery, which then waits for an answer of another process. */
async function forwardDelivery(world: FreshWorld): Promise<{ id: string; delivery: string }> {
  const secret = "whsec_example";
  const { body } = await world.control("POST", "/receivers", { answers: ["forward"], secret });
  const path = `/_control/sandboxes/${world.name}/receivers/${body.id}/stream`;
  const { events, waitForCount } = await followEvents(world.api, path);
  await waitForCount(1);
  const signature = { "X-Service-Signature": sign(secret, Buffer.from("{}")) };
  void fetch(body.url, { method: "POST", body: "{}", headers: signature }).catch(() => {});
  await waitForCount(2);
  return { id: body.id, delivery: (events[1] as { delivery: { id: string } }).delivery.id };
}

/** Follows the events of a stream that ends only with its sandbox. */
export async function followEvents(
  api: Api,
  path: string,
): Promise<{ events: object[]; waitForCount: (count: number) => Promise<void>; close: () => void }> {
  const leaving = new AbortController();
  const { body } = await fetch(api.url + path, { signal: leaving.signal });
  const events: object[] = [];
  void (async () => {
    for await (const event of readEvents<object>(body!.pipeThrough(new TextDecoderStream())))
      events.push(event);
  })().catch(() => {});
  return {
    events,
    waitForCount: (count) => waitUntil(() => events.length >= count),
    close: () => leaving.abort(),
  };
}

interface RefusalServers {
  api: Api;
  /** A server that all tests share and whose limits are all reached. */
  full: Api;
}

type SendRefused = (example: Example, spoiling: RefusalServers) => Promise<ApiResponse>;

const TOKEN = { authorization: "Bearer a-token-of-tests" };
const nowhere = {
  snap: "nowhere",
  a: "nowhere",
  id: "nowhere",
  collection: "nowhere",
  delivery: "nowhere",
};

/** Sends the call with ids that do not exist. */
const withUnknown =
  (...names: (keyof typeof nowhere)[]): SendRefused =>
  (example, { api }) => {
    const wrong = Object.fromEntries(names.map((name) => [name, nowhere[name]]));
    return send(api, { ...example, params: { ...example.params, ...wrong } });
  };

const sendTwice: SendRefused = async (example, { api }) => {
  const again = { ...example, body: { ...(example.body as object), ...(await nameTaken(example)) } };
  await send(api, again);
  return send(api, again);
};

async function nameTaken({ operation, world }: Example): Promise<object> {
  if (operation.id === "state.create") return { id: "thread_twice" };
  return operation.id.startsWith("sandboxes.") ? { name: world.name } : {};
}

/** Sends the call to the full server. Prepares what it needs without the server's limits. */
const sendToFullServer: SendRefused = async (example, { full }) => {
  const { operation } = example;
  const params = { ...example.params, name: "default" };
  const sandbox = full.understudy.sandboxes.get("default")!;
  if (operation.id.startsWith("history.")) {
    // This request adds no record, so the full server accepts it; the second one changes the value back.
    for (const organization_id of ["org_initech", "org_acme"])
      await full.call("ada", "PUT", "/v1/user/current-organization", { organization_id });
    return send(full, { ...example, params: { ...params, id: sandbox.history.entries()[0]!.id } }, TOKEN);
  }
  if (operation.id === "snapshots.save") {
    const value = sandbox.toValue();
    for (let n = 0; n < 1000; n += 1) sandbox.snapshots.set(`kept-${n}`, value);
  }
  if (operation.id !== "snapshots.upload") return send(full, { ...example, params }, TOKEN);
  sandbox.saveSnapshot("whole");
  const path = "/_control/sandboxes/default/snapshots/whole";
  const { body } = await full.call(undefined, "GET", path, undefined, TOKEN);
  return send(full, { ...example, params, body }, TOKEN);
};

const withLostEntries: SendRefused = async (example, { api }) => {
  await example.world.control("PATCH", "", { settings: { journal_limit: 1 } });
  for (let n = 0; n < 2; n += 1) await example.world.call("/v1/models", "GET", { who: "dan" });
  return send(api, example);
};

const withForeignPast: SendRefused = async (example, { api }) => {
  const { world } = example;
  await world.control("POST", "/snapshots", { name: "kept" });
  const { body } = await world.control("GET", "/snapshots/kept");
  await world.control("PUT", "/snapshots/foreign", body);
  await world.control("POST", "/snapshots/foreign/restore");
  return send(api, example);
};

/** Sends the call when the sandbox has released its earlier states. */
const withLostStates: SendRefused = async (example, { api }) => {
  api.understudy.sandboxes.get(example.world.name)!.history.releaseStates(0);
  return send(api, example);
};

/** Documents that are invalid, by the call that reads them. */
const BROKEN: Readonly<Record<string, object>> = {
  "sandboxes.create": { fixture: { organisations: [] } },
  "sandboxes.reset": { fixture: "nowhere" },
  "history.repeat": { with: { match: { operation: "nowhere" } } },
  "faults.add": { match: { operation: "nowhere" } },
  "faults.change": { match: { operation: "nowhere" } },
  "scenarios.activate": { names: ["broken"] },
  "operations.replace": { openapi: { swagger: "2.0" } },
  "held.release": { error: "NO_SUCH_CODE" },
};

/** Sends headers that fetch cannot send: another Host, or a Content-Length beyond the limit. */
async function sendRaw(api: Api, example: Example, lines: Record<string, string>): Promise<ApiResponse> {
  const { host, port } = new URL(api.url);
  const { method } = example.operation;
  const headers = { Host: host, Connection: "close", ...lines };
  const head = [
    `${method} ${fillPath(example.operation, example.params)} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const answer = await sendRawRequest(Number(port), head);
  return {
    status: answer.status,
    headers: new Headers(answer.headers),
    text: answer.body,
    body: JSON.parse(answer.body),
  };
}

/** How to send an example so that the server refuses it for this reason. */
const REFUSED_CALLS: Partial<Record<ProblemKind, SendRefused>> = {
  "token-required": (example, { full }) => send(full, example),
  "host-not-allowed": (example, { api }) => sendRaw(api, example, { Host: "sandbox.example.test" }),
  "origin-not-allowed": (example, { api }) =>
    send(api, example, { origin: "https://elsewhere.example.test" }),
  misdirected: async (example, { api }) => {
    const made = await api.call(undefined, "POST", "/_control/sandboxes", { origin: true });
    return sendRaw({ ...api, url: made.body.origin }, example, {});
  },
  "unknown-sandbox": (example, { api }) =>
    send(api, { ...example, params: { ...example.params, name: "nowhere" } }),
  "unknown-snapshot": withUnknown("snap", "a"),
  "unknown-collection": withUnknown("collection"),
  "unknown-record": withUnknown("id"),
  "unknown-inline-rule": withUnknown("id"),
  "unknown-entry": withUnknown("id"),
  "unknown-receiver": withUnknown("id"),
  "nothing-waits": withUnknown("delivery"),
  "unknown-held": withUnknown("id"),
  "already-released": async (example, { api }) => {
    await send(api, example);
    return send(api, example);
  },
  "name-in-use": sendTwice,
  "id-in-use": sendTwice,
  "journal-incomplete": withLostEntries,
  "state-evicted": withLostStates,
  "not-repeatable": async (example, { api }) => {
    await example.world.control("DELETE", "/journal");
    return send(api, example);
  },
  "not-replayable": withForeignPast,
  "limit-reached": sendToFullServer,
  "payload-too-large": (example, { api }) =>
    sendRaw(api, example, { "Content-Type": "application/json", "Content-Length": String(10 ** 12) }),
  "unsupported-media-type": (example, { api }) =>
    send(api, { ...example, body: "a=1" }, { "content-type": "text/plain" }),
  "invalid-input": (example, { api }) => send(api, { ...example, query: "?nowhere=1" }),
  "invalid-json": (example, { api }) => send(api, { ...example, body: '{"broken' }),
  "invalid-document": (example, { api }) => send(api, { ...example, body: BROKEN[example.operation.id] }),
  "snapshot-too-new": (example, { api }) =>
    send(api, { ...example, body: { ...(example.body as object), version: 99 } }),
};

/**
 * Other tests cause these: internal errors, full disks (test/control/persistence.test.ts), used ports
 * (test/control/origins.test.ts).
 */
const TESTED_ELSEWHERE = new Set<ProblemKind>(["internal", "not-saved", "moved", "store-failing", "no-port"]);

export function listRefusals(operation: ControlOperation): ProblemKind[] {
  return listProblemKinds(operation).filter((kind) => !TESTED_ELSEWHERE.has(kind));
}

export async function sendRefused(
  kind: ProblemKind,
  example: Example,
  spoiling: RefusalServers,
): Promise<ApiResponse> {
  const refused = REFUSED_CALLS[kind];
  expect(refused, `say in control-calls.ts how ${kind} comes about`).toBeDefined();
  return refused!(example, spoiling);
}
