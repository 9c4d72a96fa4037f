import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { type Api, type ApiResponse, EPOCH, startReference } from "../support/harness.ts";

/**
 * The files in answers/ contain successful responses of the control API, field by field; those in refusals/ contain
 * refusals. `npx vitest run FILE -u` writes them again.
 */
type Call = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

const CALLS: Readonly<Record<string, readonly Call[]>> = {
  sandboxes: [
    ["GET", "S"],
    ["PATCH", "S", { settings: { preview: true, processing_seconds: 5 } }],
    ["POST", "S/fork", { name: "day-two" }],
    ["GET", "/_control/sandboxes"],
    ["POST", "/_control/sandboxes/day-two/reset", { seed: 9 }],
    ["DELETE", "/_control/sandboxes/day-two"],
    ["DELETE", "/_control/sandboxes/default"],
    ["GET", "/_control/fleet"],
  ],
  clock: [
    ["GET", "S/clock"],
    ["PUT", "S/clock", { mode: "frozen", now: "2026-03-15T12:00:30Z" }],
    ["POST", "S/clock/advance", { by: "5m" }],
    ["POST", "S/clock/advance", { to: "2026-03-15T13:00:00Z" }],
    ["GET", "S/clock/pending"],
    ["POST", "S/clock/advance", { next: true }],
    ["POST", "S/clock/advance", { by: 1500 }],
  ],
  state: [
    ["GET", "S/state"],
    ["GET", "S/state/threads?limit=2&offset=1"],
    ["GET", "S/state/threads?owner_id=usr_ada&limit=1"],
    ["GET", "S/state/threads?owner_id=usr_ada&limit=1&offset=1"],
    ["GET", "S/state/users?name=null&limit=1"],
    ["POST", "S/state/threads", { id: "thread_new", owner_id: "usr_dan" }],
    ["POST", "S/state/threads?silent=true&actor=usr_ada"],
    ["PATCH", "S/state/threads/thread_new", { title: "Plans" }],
    ["GET", "S/state/threads/thread_new"],
    ["DELETE", "S/state/threads/thread_new"],
    ["POST", "S/state/webhooks", { url: "http://127.0.0.1:9/hook" }],
    ["POST", "S/state/api_keys", { user_id: "usr_dan" }],
    ["POST", "S/state/users"],
  ],
  snapshots: [
    ["POST", "S/snapshots", { name: "before" }],
    ["PATCH", "S/state/threads/thread_ada", { title: "Changed" }],
    ["POST", "S/state/threads", { id: "thread_added" }],
    ["DELETE", "S/state/threads/thread_long"],
    ["GET", "S/snapshots/before/diff/now"],
    ["GET", "S/snapshots/now/diff/before?of=day"],
    ["POST", "S/snapshots/before/restore"],
    ["GET", "S/snapshots/before/diff/now"],
    ["POST", "S/snapshots", { name: "after" }],
    ["GET", "S/snapshots"],
    ["DELETE", "S/snapshots/after"],
  ],
  "rules and scenarios": [
    [
      "POST",
      "S/faults",
      {
        id: "once",
        match: { operation: "models.list" },
        effect: { status: 503 },
        lease: { hits: 2, ttl: "5m" },
      },
    ],
    ["POST", "S/faults", { match: { path: "/v1/beta" }, effect: { body: { ok: true } } }],
    ["GET", "/_s/day/v1/models", undefined, { "api-key": "dan" }],
    ["GET", "S/faults"],
    ["GET", "S/faults/once"],
    ["PUT", "S/faults/once", { match: { operation: "models.list" }, times: 1, effect: { status: 503 } }],
    [
      "POST",
      "S/faults/explain",
      { operation: "models.list", principal: "usr_dan", query: { limit: 1 }, body: { a: 1 } },
    ],
    ["POST", "S/faults/explain", { method: "get", path: "/v1/models?limit=1" }],
    ["POST", "S/faults/explain", { operation: "threads.delete", params: {}, principal: "usr_dan" }],
    ["DELETE", "S/faults/once"],
    ["DELETE", "S/faults"],
    ["PUT", "S/scenarios/active", { names: ["broken-wire", "audit-logs-export-forbidden", "broken-wire"] }],
    ["PUT", "S/scenarios/active", { names: [] }],
  ],
  "receivers and deliveries": [
    ["POST", "S/receivers", { answers: [503, 200], secret: "whsec_of_the_day" }],
    ["POST", "S/receivers"],
    ["GET", "S/receivers"],
    ["PATCH", "S/state/webhooks/wh_ops", { url: "URL/_receivers/day/RECEIVER", active: true }],
    ["POST", "S/events", { event: "user.created", for: "usr_dan", data: { email: "d@example.test" } }],
    ["POST", "S/events", { event: "file.processed", organization: "org_acme" }],
    ["POST", "S/clock/advance", { next: true }],
    ["GET", "S/receivers/RECEIVER"],
    ["GET", "S/receivers/RECEIVER/requests"],
    ["PATCH", "S/receivers/RECEIVER", { answers: [200], secret: null }],
    ["GET", "S/deliveries?limit=2"],
    ["GET", "S/deliveries?status=failed&event=file.processed&webhook=wh_ops&since=2026-03-01"],
    ["GET", "S/deliveries?status=success&limit=1"],
    ["POST", "S/deliveries/redeliver", { ids: ["del_failed", "del_failed"] }],
    ["POST", "S/deliveries/redeliver", { ids: ["del_ok"], again: true }],
    [
      "POST",
      "S/deliveries/redeliver",
      { all_failed: true, since: "2026-03-15T12:00:00Z", webhook: "wh_ops" },
    ],
    ["GET", "S/deliveries/del_failed"],
    ["DELETE", "S/receivers/RECEIVER"],
    ["GET", "S/outbox"],
  ],
  "journal and history": [
    ["DELETE", "/_s/day/v1/threads/thread_ada", undefined, { "api-key": "ada" }],
    ["GET", "/_s/day/v1/threads/thread_ada?token=secret", undefined, { "api-key": "ada" }],
    ["GET", "S/journal?limit=2"],
    ["GET", "S/journal?kind=delivery&limit=1"],
    ["GET", "S/journal?kind=request&status=4xx&method=get&path=/v1/threads/*&code=RESOURCE_NOT_FOUND"],
    ["GET", "S/journal?event=user.*&limit=1"],
    ["GET", "S/journal?since=2027-01-01"],
    ["POST", "S/journal/verify", { match: { operation: "threads.*" }, count: 2 }],
    ["POST", "S/journal/verify", { match: { operation: "threads.*", status: 404 }, count: { min: 5 } }],
    ["POST", "S/journal/verify", { match: { event: "user.created", status: "2xx" }, count: { max: 0 } }],
    ["POST", "S/journal/verify", { sequence: [{ status: 404 }, { method: "delete" }], strict: true }],
    ["GET", "S/history?limit=1"],
    ["GET", "S/history?kind=control&limit=1"],
    ["GET", "S/history?subject=thread_ada&since=2026-03-01&limit=1"],
    ["GET", "S/history/NEWEST"],
    ["POST", "S/history/NEWEST/repeat", {}],
    ["POST", "S/history/NEWEST/rewind"],
    ["POST", "S/history/NEWEST/repeat", { with: { effect: { error: "RATE_LIMIT_EXCEEDED" } } }],
    ["POST", "S/history/NEWEST/fork", { name: "branch", to: "after" }],
    ["GET", "S/snapshots/now/diff/now?of=branch"],
    ["DELETE", "S/journal"],
    ["GET", "S/journal"],
  ],
};

let api: Api;
const ids = new Map<string, string>();
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());
beforeEach(async () => {
  ids.clear();
  const day = { name: "day", clock: { mode: "frozen", now: EPOCH } };
  const { status } = await api.call(undefined, "POST", "/_control/sandboxes", day);
  expect(status).toBe(201);
});
afterEach(async () => {
  for (const name of ["day", "branch"]) await api.call(undefined, "DELETE", `/_control/sandboxes/${name}`);
});

it.each(Object.entries(CALLS))(
  "the answer to a control call is as recorded: %s [interfaces 4]",
  async (about, calls) => {
    const paragraphs: string[] = [];
    for (const [method, path, body, headers = {}] of calls) {
      const answer = await send(method, path, body, headers);
      const limit = path.startsWith("/_s/") ? 600 : 300;
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(limit);
      const sentBody = body === undefined ? "" : ` ${JSON.stringify(body)}`;
      paragraphs.push([`${method} ${path}${sentBody}`, ...toLines(answer), ""].join("\n"));
      if (path === "S/receivers" && method === "POST" && body !== undefined)
        ids.set("RECEIVER", answer.body.id);
      if (path.startsWith("S/history?") && !ids.has("NEWEST")) ids.set("NEWEST", answer.body.entries[0].id);
    }
    // A call that changed something names its entry of the history (interfaces 10).
    const { body } = await send("GET", "S/history");
    const titles = body.entries.map(
      ({ kind, title, subject }: { kind: string; title: string; subject: string | null }) =>
        replaceIds(`  ${kind}: ${title} (${subject ?? "none"})`),
    );
    paragraphs.push(["In the history", ...titles.reverse(), ""].join("\n"));
    const file = join(import.meta.dirname, "answers", `${about.replaceAll(" ", "-")}.txt`);
    await expect(paragraphs.join("\n")).toMatchFileSnapshot(file);
  },
);

it("outcomes that occurred are counted as covered, also in Prometheus' text format [interfaces 4]", async () => {
  const own = await startReference();
  const call = (method: string, path: string) => own.call("dan", method, path);
  await call("GET", "/v1/models");
  await call("GET", "/v1/models");
  await call("DELETE", "/v1/threads/nothing");
  await call("GET", "/v1/nothing");
  await own.call(undefined, "POST", "/_control/sandboxes/default/events", { event: "user.created" });
  const { body } = await call("GET", "/_control/sandboxes/default/coverage");
  const seen = body.operations.filter(({ outcomes, other }: Record<string, { hits: number }[]>) =>
    [...outcomes!, ...other!].some(({ hits }) => hits > 0),
  );
  const { text } = await call("GET", "/_control/metrics");
  await own.close();
  // Values that differ between machines are replaced by zero.
  const figures = text.replaceAll(/^((?:process|nodejs|understudy_uptime)\w*) .*$/gm, "$1 0");
  const lines = [...toLines({ status: 200, body: { ...body, operations: seen } }), "", figures];
  await expect(lines.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "answers", "coverage.txt"));
});

function send(
  method: string,
  path: string,
  body?: unknown,
  { "api-key": who, ...headers } = {} as Record<string, string>,
) {
  const fill = (text: string) =>
    [...ids].reduce((so, [name, id]) => so.replaceAll(name, id), text.replaceAll("URL", api.url));
  const json: Record<string, string> = { "content-type": "application/json" };
  const type = method === "GET" || path.startsWith("/_s/") ? {} : json;
  const filled = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)));
  const target = fill(path.replace(/^S/, "/_control/sandboxes/day"));
  return api.call(who as never, method, target, filled, { ...type, ...headers });
}

/** Writes each field and each item of a list on its own line. */
function toLines({ status, body }: Pick<ApiResponse, "status" | "body">): string[] {
  if (body === undefined) return [String(status)];
  const members = Array.isArray(body) ? { "": body } : body;
  const lines = Object.entries(members).flatMap(([name, value]) => {
    // `created_at` of a sandbox is wall-clock time.
    if (name === "created_at" && "base_url" in body) return [];
    if (!Array.isArray(value))
      return [`  ${name}: ${format(name === "settings" ? listChangedSettings(value as object) : value)}`];
    const items = value.slice(0, MAX_ITEMS).map((item) => `    - ${format(item)}`);
    const more = value.length > MAX_ITEMS ? [`    … (${value.length})`] : [];
    return [`  ${name}:`, ...items, ...more];
  });
  return [String(status), ...lines];
}

const MAX_ITEMS = 35;
const MAX_LINE = 1500;
const CLIENT_HEADERS =
  /^(date|service-processing-ms|connection|keep-alive|host|user-agent|accept.*|sec-fetch-mode|content-length)$/;

function format(value: unknown): string {
  const text = JSON.stringify(value, function (this: { base_url?: string }, name, inner: unknown) {
    if (name === "duration_ms") return 0;
    if (name === "settings") return listChangedSettings(inner as object);
    if (name === "created_at" && this.base_url !== undefined) return undefined;
    if (name !== "headers" || !Array.isArray(inner)) return inner;
    return inner.filter((one: { name: string }) => !CLIENT_HEADERS.test(one.name.toLowerCase()));
  });
  return replaceIds(text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length})` : text);
}

/** Returns the settings that differ from a server's defaults. */
function listChangedSettings(settings: object): object {
  const defaults = Object.entries(DEFAULT_SETTINGS).map(([name, value]) => [name, JSON.stringify(value)]);
  const known = new Map(defaults as [string, string][]);
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => JSON.stringify(value) !== known.get(name)),
  );
}

function replaceIds(text: string): string {
  const { host } = new URL(api.url);
  return [...ids].reduce(
    (so, [name, id]) => so.replaceAll(id, name),
    text.replaceAll(host, "HOST").replaceAll(/repeat-\w{24}/g, "repeat-…"),
  );
}
