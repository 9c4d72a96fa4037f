import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROBLEM_TYPE } from "../../src/engine/contract/problems.ts";
import { type Api, type ApiResponse, EPOCH, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

/**
 * The files in refusals/ contain the control API's refusals word by word, so that a changed sentence, field name or
 * hint is noticed. `npx vitest run FILE -u` writes them again.
 */
type Call = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

const S = "/_control/sandboxes/mine";
const TOKEN = { authorization: "Bearer a-token-of-tests" };
const makeText = (length: number) => "x".repeat(length);

const CALLS: Readonly<Record<string, readonly Call[]>> = {
  "paths and names": [
    ["GET", "/_control/nowhere"],
    ["GET", "/_nowhere"],
    ["PUT", "/_control/sandboxes", {}],
    ["POST", "/_control/health", {}],
    ["GET", `${S}s`],
    ["GET", "/_control/sandboxes/nothing-like-it"],
    ["GET", `${S}/snapshots/befor`],
    ["GET", `${S}/snapshots/zzz`],
    ["DELETE", `${S}/snapshots/zzz`],
    ["POST", `${S}/snapshots/zzz/restore`],
    ["GET", `${S}/snapshots/zzz/diff/now`],
    ["GET", `${S}/snapshots/now/diff/zzz`],
    ["GET", `${S}/snapshots/now/diff/now?of=min`],
    ["GET", `${S}/state/thread`],
    ["GET", `${S}/state/zzz`],
    ["POST", `${S}/state/zzz`, {}],
    ["GET", `${S}/state/threads/thread_adda`],
    ["PATCH", `${S}/state/threads/thread_adda`, {}],
    ["DELETE", `${S}/state/threads/thread_adda`],
    ["GET", `${S}/receivers/rcv`],
    ["GET", `${S}/faults/los-answer`],
    ["DELETE", `${S}/faults/zzz`],
    ["GET", `${S}/journal/req_nothing`],
    ["GET", `${S}/history/h_999`],
    ["POST", `${S}/history/h_999/rewind`, {}],
    ["GET", `${S}/deliveries/del_okk`],
    ["GET", `${S}/deliveries/zzz`],
    ["GET", `/_control/sandboxes/${makeText(300)}`],
    ["GET", `/_control/${makeText(300)}`],
  ],
  "queries and bodies": [
    ["GET", `${S}?nowhere=1`],
    ["GET", `${S}/journal?limt=1`],
    ["GET", `${S}/journal?limit=1&limit=2`],
    ["GET", `${S}/journal?limit=0`],
    ["GET", `${S}/journal?limit=100001`],
    ["GET", `${S}/journal?limit=many`],
    ["GET", `${S}/journal?kind=requests`],
    ["GET", `${S}/journal?since=yesterday`],
    ["GET", `${S}/history?since=yesterday`],
    ["GET", `${S}/history?kind=requst`],
    ["GET", `${S}/history?subject=`],
    ["GET", `${S}/history?cause=h_999`],
    ["GET", `${S}/journal/stream`, undefined, { "last-event-id": "h_1" }],
    ["GET", `${S}/history/stream`, undefined, { "last-event-id": "1234567890123456" }],
    ["GET", "/_control/fleet?limit=100001"],
    ["POST", `${S}/events`],
    ["POST", `${S}/events`, "{"],
    ["POST", `${S}/events`, "[]"],
    ["POST", `${S}/events`, '{"event":"user.created","data":{"n":12345678901234567890}}'],
    ["POST", `${S}/events`, "event=user.created", { "content-type": "application/x-www-form-urlencoded" }],
    ["POST", `${S}/bundle`, "{}", { "content-type": "text/plain" }],
    ["DELETE", `${S}/journal`, "{", { "content-type": "application/json" }],
    ["POST", `${S}/faults`, `{"effect":{"body":[${"0,".repeat(250_000)}0]}}`],
    ["PATCH", S, { settings: { preview: makeText(2100) } }],
  ],
  sandboxes: [
    ["POST", "/_control/sandboxes", { name: "mine" }],
    ["POST", "/_control/sandboxes", { name: "Mine" }],
    ["POST", "/_control/sandboxes", { nam: "x" }],
    ["POST", "/_control/sandboxes", { seed: -1 }],
    ["POST", "/_control/sandboxes", { seed: 0.5 }],
    ["POST", "/_control/sandboxes", { fixture: 1 }],
    ["POST", "/_control/sandboxes", { fixture: "referense" }],
    ["POST", "/_control/sandboxes", { fixture: "./world.yaml" }],
    ["POST", "/_control/sandboxes", { fixture: { extends: "./world.yaml" } }],
    ["POST", "/_control/sandboxes", { fixture: { organisations: [] } }],
    ["POST", "/_control/sandboxes", { fixture: { users: [{ id: "usr_x", emial: "x@y.test" }] } }],
    ["POST", "/_control/sandboxes", { scenarios: ["flaky-upload"] }],
    ["POST", "/_control/sandboxes", { scenarios: ["flaky-uploads", "nothing-like-it"] }],
    ["POST", "/_control/sandboxes", { scenarios: ["flaky-uploads", "broken"] }],
    ["POST", "/_control/sandboxes", { fixture: "referense", scenarios: ["flaky-uploads"] }],
    ["POST", "/_control/sandboxes", { clock: { mode: "real", now: EPOCH } }],
    ["POST", "/_control/sandboxes", { clock: { mode: "frozen", rate: 2 } }],
    ["POST", "/_control/sandboxes", { clock: { mode: "frozen", now: "noon" } }],
    ["POST", "/_control/sandboxes", { clock: { mode: "froze" } }],
    ["POST", "/_control/sandboxes", { settings: { previw: "on" } }],
    ["POST", "/_control/sandboxes", { settings: [] }],
    ["PATCH", S, {}],
    ["PATCH", S, { settings: { preview: "maybe" } }],
    ["PATCH", S, { settings: { retry_schedule: ["1m", "soon"] } }],
    ["PATCH", S, { settings: { cors_origins: ["*", "example.test"] } }],
    ["PATCH", S, { settings: { cors_origins: ["https://example.test/x"] } }],
    ["PATCH", S, { settings: { cors_headers: ["X Trace"] } }],
    ["PATCH", S, { settings: { journal_limit: 0 } }],
    ["POST", `${S}/reset`, { fixture: "nothing-like-it" }],
    ["POST", `${S}/reset`, { fixture: "/etc/passwd" }],
    ["POST", `${S}/reset`, { fixtur: "reference" }],
    ["POST", `${S}/fork`, { name: "mine" }],
    ["POST", `${S}/fork`, { name: "-" }],
    ["POST", `${S}/history/KEPT/fork`, { name: "mine" }],
    ["POST", `${S}/history/KEPT/fork`, { name: "a b" }],
    ["POST", `${S}/history/KEPT/rewind`, { to: "befor" }],
  ],
  snapshots: [
    ["POST", `${S}/snapshots`, {}],
    ["POST", `${S}/snapshots`, { name: "before" }],
    ["POST", `${S}/snapshots`, { name: "now" }],
    ["POST", `${S}/snapshots`, { name: "a b" }],
    ["POST", `${S}/snapshots`, { name: makeText(64) }],
    ["PUT", `${S}/snapshots/now`, {}],
    ["PUT", `${S}/snapshots/other`, { format: "zip" }],
    ["PUT", `${S}/snapshots/other`, { format: "understudy-snapshot", version: 99 }],
    ["PUT", `${S}/snapshots/other`, { format: "understudy-snapshot", version: "1" }],
  ],
  clock: [
    ["PUT", `${S}/clock`, {}],
    ["PUT", `${S}/clock`, { mode: "scaled", rate: 0 }],
    ["PUT", `${S}/clock`, { mode: "scaled", rate: 1_000_001 }],
    ["PUT", `${S}/clock`, { mode: "real", rate: 1 }],
    ["PUT", `${S}/clock`, { mode: "real", now: EPOCH }],
    ["PUT", `${S}/clock`, { mode: "frozen", now: "2026-02-30T00:00:00Z" }],
    ["PUT", `${S}/clock`, { mode: "frozen", now: "2020-01-01T00:00:00Z" }],
    ["POST", `${S}/clock/advance`, {}],
    ["POST", `${S}/clock/advance`, { by: "5m", next: true }],
    ["POST", `${S}/clock/advance`, { by: "soon" }],
    ["POST", `${S}/clock/advance`, { by: -5 }],
    ["POST", `${S}/clock/advance`, { by: "-5m" }],
    ["POST", `${S}/clock/advance`, { by: "P9999999D" }],
    ["POST", `${S}/clock/advance`, { by: [] }],
    ["POST", `${S}/clock/advance`, { next: false }],
    ["POST", `${S}/clock/advance`, { to: "noon" }],
    ["POST", `${S}/clock/advance`, { to: "2020-01-01T00:00:00Z" }],
  ],
  state: [
    ["GET", `${S}/state/threads?owner=usr_ada`],
    ["GET", `${S}/state/threads?ofset=1`],
    ["GET", `${S}/state/webhooks?events=user.created`],
    ["GET", `${S}/state/users?memberships=org_acme`],
    ["GET", `${S}/state/threads?limit=0`],
    ["GET", `${S}/state/threads?limit=1000001`],
    ["GET", `${S}/state/threads?offset=-1`],
    ["POST", `${S}/state/threads`, { id: "thread_ada" }],
    ["POST", `${S}/state/threads`, { titel: "x" }],
    ["POST", `${S}/state/threads`, { title: 1 }],
    ["POST", `${S}/state/threads`, { created_at: "noon" }],
    ["POST", `${S}/state/threads`, { organization_id: "org_acmee" }],
    ["POST", `${S}/state/threads?actor=usr_adda`, {}],
    ["POST", `${S}/state/threads?silent=maybe`, {}],
    ["POST", `${S}/state/users`, { email: 1 }],
    ["POST", `${S}/state/departments`, { parent_id: "dept_nowhere" }],
    ["PATCH", `${S}/state/threads/thread_ada`, { id: "thread_other" }],
    ["PATCH", `${S}/state/threads/thread_ada`, { created_at: "2026-03-15T25:00:00Z" }],
    ["PATCH", `${S}/state/departments/dept_eng`, { parent_id: "dept_ml" }],
  ],
  "rules and scenarios": [
    ["POST", `${S}/faults`, {}],
    ["POST", `${S}/faults`, { id: "lost-answer", effect: { error: "RATE_LIMIT_EXCEEDED" } }],
    ["POST", `${S}/faults`, { match: { operation: "nowhere" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { match: { path: "/v1/model" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { match: { path: "v1/models" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { match: { path: "/v1/models?limit=1" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { match: { path: "/v1/{models" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { match: { principle: "usr_ada" }, effect: { wire: "reset" } }],
    ["POST", `${S}/faults`, { effect: { wire: "rset" } }],
    ["POST", `${S}/faults`, { effect: { error: "RATE_LIMIT" } }],
    ["POST", `${S}/faults`, { effect: { error: "RATE_LIMIT_EXCEEDED" }, times: 0 }],
    ["PUT", `${S}/scenarios/active`, {}],
    ["PUT", `${S}/scenarios/active`, { names: ["flaky-uploads", "flaky-upload"] }],
    ["PUT", `${S}/scenarios/active`, { names: ["flaky-uploads", "broken"] }],
    ["PUT", `${S}/scenarios/active`, { names: Array.from({ length: 1001 }, () => "flaky-uploads") }],
  ],
  explain: [
    ["POST", `${S}/faults/explain`, {}],
    ["POST", `${S}/faults/explain`, { method: "GET" }],
    ["POST", `${S}/faults/explain`, { path: "/v1/models" }],
    ["POST", `${S}/faults/explain`, { method: "", path: "/v1/models" }],
    ["POST", `${S}/faults/explain`, { method: "GET", path: "/v1/models", params: {} }],
    ["POST", `${S}/faults/explain`, { method: "GET", path: "v1/models" }],
    ["POST", `${S}/faults/explain`, { method: "GET", path: "/_s/mine/v1/models" }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", method: "GET" }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", path: "/v1/models" }],
    ["POST", `${S}/faults/explain`, { operation: "models.lst" }],
    ["POST", `${S}/faults/explain`, { operation: "zzz" }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", params: { id: 1 } }],
    ["POST", `${S}/faults/explain`, { operation: "threads.delete", params: { thread: "thread_ada" } }],
    ["POST", `${S}/faults/explain`, { operation: "store_files.retrieve_status", params: { store: "vs_1" } }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", principal: "usr_adda" }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", principal: "zzz" }],
    ["POST", `${S}/faults/explain`, { operation: "models.list", principal: "usr_keyless" }],
    ...["Api-Key", "x-api-key", "Authorization"].map(
      (name): Call => [
        "POST",
        `${S}/faults/explain`,
        { operation: "models.list", principal: "usr_ada", headers: { [name]: "x" } },
      ],
    ),
  ],
  "journal and history": [
    ["GET", `${S}/journal?operation=models.lst`],
    ["GET", `${S}/journal?operation=zzz`],
    ["GET", `${S}/journal?operation={models`],
    ["GET", `${S}/journal?path={x`],
    ["GET", `${S}/journal?status=999`],
    ["GET", `${S}/journal?status=4x`],
    ["GET", `${S}/journal?code=RATE_LIMIT_EXCEDED`],
    ["GET", `${S}/journal?code=zzz`],
    ["GET", `${S}/journal?event=user.creatd`],
    ["GET", `${S}/journal?event=zzz`],
    ["GET", `${S}/journal?event=user.created&code=RATE_LIMIT_EXCEEDED`],
    ["GET", `${S}/journal?webhook=wh_ops&operation=models.list`],
    ["GET", `${S}/journal/stream?operation=zzz`],
    ["POST", `${S}/journal/verify`, {}],
    ["POST", `${S}/journal/verify`, { match: {} }],
    ["POST", `${S}/journal/verify`, { match: { operation: "models.lst" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { opration: "models.list" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { principal: "usr_adda" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { principal: "zzz" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { webhook: "wh_op" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { webhook: "zzz" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { path: "/v1/models?limit=1" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { path: "v1/models" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { path: "/_s/mine/v1/models" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { path: "/v1/model" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { attempt: 1, principal: "usr_ada" }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: { attempt: 0 }, count: 0 }],
    ["POST", `${S}/journal/verify`, { match: {}, count: -1 }],
    ["POST", `${S}/journal/verify`, { match: {}, count: {} }],
    ["POST", `${S}/journal/verify`, { match: {}, count: { min: 2, max: 1 } }],
    ["POST", `${S}/journal/verify`, { match: {}, count: 0, within: "soon" }],
    ["POST", `${S}/journal/verify`, { match: {}, count: 0, within: "3m" }],
    ["POST", `${S}/journal/verify`, { sequence: [] }],
    ["POST", `${S}/journal/verify`, { sequence: [{}, { operation: "zzz" }] }],
    ["POST", `${S}/journal/verify`, { sequence: [{}], strict: "yes" }],
    ["POST", `${S}/journal/verify`, { sequence: Array.from({ length: 101 }, () => ({})) }],
    ["POST", `${S}/history/KEPT/repeat`, {}],
    ["POST", `${S}/history/KEPT/repeat`, { in: "min" }],
    ["POST", `${S}/history/REQUEST/repeat`, { in: "min" }],
    ["POST", `${S}/history/REQUEST/repeat`, { with: {} }],
    [
      "POST",
      `${S}/history/REQUEST/repeat`,
      { with: { match: { path: "/v1/model" }, effect: { wire: "reset" } } },
    ],
  ],
  "events, deliveries and receivers": [
    ["POST", `${S}/events`, { event: "user.creatd" }],
    ["POST", `${S}/events`, { event: "zzz" }],
    ["POST", `${S}/events`, { event: "webhook.test" }],
    ["POST", `${S}/events`, { event: "user.created", for: "usr_adda" }],
    ["POST", `${S}/events`, { event: "user.created", for: "zzz" }],
    ["POST", `${S}/events`, { event: "user.created", organization: "org_acmee" }],
    ["POST", `${S}/events`, { event: "user.created", organization: "zzz" }],
    ["POST", `${S}/events`, { event: "user.created", data: { emial: "x" } }],
    ["POST", `${S}/events`, { event: "user.created", data: [] }],
    ["GET", `${S}/deliveries?status=done`],
    ["GET", `${S}/deliveries?event=user.creatd`],
    ["GET", `${S}/deliveries?event=zzz`],
    ["GET", `${S}/deliveries?webhook=wh_op`],
    ["GET", `${S}/deliveries?webhook=zzz`],
    ["GET", `${S}/deliveries?since=yesterday`],
    ["GET", `${S}/deliveries?limit=10001`],
    ["POST", `${S}/deliveries/redeliver`, {}],
    ["POST", `${S}/deliveries/redeliver`, { ids: [] }],
    ["POST", `${S}/deliveries/redeliver`, { ids: Array.from({ length: 1001 }, () => "del_failed") }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["del_failed"], all_failed: true }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["del_failed", "del_faild"] }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["zzz"] }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["del_ok"] }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["del_failed"], since: "2026-03-01" }],
    ["POST", `${S}/deliveries/redeliver`, { ids: ["del_failed"], webhook: "wh_ops" }],
    ["POST", `${S}/deliveries/redeliver`, { all_failed: true, again: true }],
    ["POST", `${S}/deliveries/redeliver`, { all_failed: false }],
    ["POST", `${S}/deliveries/redeliver`, { all_failed: true, webhook: "wh_op" }],
    ["POST", `${S}/deliveries/redeliver`, { all_failed: true, since: "yesterday" }],
    ["POST", `${S}/receivers`, { answers: [] }],
    ["POST", `${S}/receivers`, { answers: [200, { status: 200, delay: "soon" }] }],
    ["POST", `${S}/receivers`, { answers: ["hang", "hung"] }],
    ["POST", `${S}/receivers`, { secret: "" }],
    ["POST", `${S}/receivers`, { secret: makeText(1001) }],
    ["PATCH", `${S}/receivers/RECEIVER`, { answers: [{ status: 200, delay: "soon" }] }],
    ["PATCH", `${S}/receivers/zzz`, {}],
    ["POST", `${S}/receivers/RECEIVER/forwarded/zzz`, {}],
    ["POST", `${S}/receivers/RECEIVER/forwarded/zzz`, { status: 200, failure: "x" }],
    ["POST", `${S}/receivers/RECEIVER/forwarded/zzz`, { status: 200, headers: { "X Y": "1" } }],
    ["POST", `${S}/receivers/RECEIVER/forwarded/zzz`, { status: 200 }],
    ["POST", `${S}/receiver-test`, { url: "nowhere", secret: "whsec_x" }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "whsec_x", only: ["body-larg"] }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "whsec_x", skip: ["zzz"] }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "whsec_x", event: "zzz" }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "" }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "x", timeout_seconds: 601 }],
    ["POST", `${S}/receiver-test`, { url: "http://127.0.0.1:9/", secret: "x", fail_on: "all" }],
  ],
  "coverage and bundles": [
    ["POST", "/_control/coverage", {}],
    ["POST", "/_control/coverage", createCoverage("models.lst")],
    ["POST", "/_control/coverage", createCoverage("zzz")],
    ["POST", `/_control/sandboxes/restored/bundle`],
    ["POST", `/_control/sandboxes/forgetful/bundle`],
    ["POST", `/_control/sandboxes/forgetful/journal/verify`, { match: {}, count: 0 }],
    ["POST", `/_control/sandboxes/forgetful/history/FORGOTTEN/rewind`],
    ["POST", `/_control/sandboxes/forgetful/history/FORGOTTEN/fork`],
    ["GET", `/_control/sandboxes/forgetful/history/FORGOTTEN/changes`],
    ["POST", `/_control/sandboxes/forgetful/history/DROPPED/repeat`, {}],
  ],
};

/** Calls to a shared server whose limits are all reached. */
const CALLS_TO_FULL_SERVER: readonly Call[] = [
  ["GET", "/_control/sandboxes"],
  ["GET", "/_control/sandboxes", undefined, { authorization: "Bearer another-token-of-tests" }],
  ["GET", "/_control/sandboxes", undefined, { authorization: "Basic a-token-of-tests" }],
  ["GET", "/_control/health", undefined, { ...TOKEN, origin: "https://elsewhere.example.test" }],
  ["GET", "/_control/health", undefined, { ...TOKEN, "sec-fetch-site": "cross-site" }],
  ["GET", "/_control/login", undefined],
  ["POST", "/_control/login", { code: "wrong" }],
  ["POST", "/_control/sandboxes", {}, TOKEN],
  ["POST", "/_control/sandboxes/default/fork", {}, TOKEN],
  ["POST", "/_control/sandboxes/default/reset", {}, TOKEN],
  ["POST", "/_control/sandboxes/default/faults", { effect: { wire: "reset" } }, TOKEN],
  ["PUT", "/_control/sandboxes/default/scenarios/active", { names: ["flaky-uploads"] }, TOKEN],
  ["POST", "/_control/sandboxes/default/state/threads", {}, TOKEN],
  ["POST", "/_control/sandboxes/default/receivers", {}, TOKEN],
  ["POST", "/_control/sandboxes/default/events", { event: "user.created" }, TOKEN],
];

function createCoverage(operation: string) {
  return {
    covered: 0,
    total: 0,
    percent: 0,
    operations: [{ operation, method: "GET", path: "/", outcomes: [], other: [] }],
  };
}

let api: Api;
let full: Api;
let folder: string;
const ids = new Map<string, string>();
beforeAll(async () => {
  folder = createTempFolder();
  const broken = "name: broken\nrules: [{ match: { operation: nowhere }, effect: { status: 500 } }]\n";
  writeFileSync(join(folder, "broken.yaml"), broken);
  api = await startReference({ scenariosFolder: folder });
  full = await startReference({
    shared: { token: "a-token-of-tests", limits: { sandboxes: 1, records: 1, upload_bytes: 1, rules: 0 } },
  });
  const control = async (method: string, path: string, body: unknown = {}) => {
    const answer = await api.call(undefined, method, `/_control/sandboxes${path}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  for (const name of ["mine", "restored", "forgetful"])
    await control("POST", "", { name, clock: { mode: "frozen", now: EPOCH } });
  await control("POST", "/mine/snapshots", { name: "before" });
  await control("POST", "/mine/faults", {
    id: "lost-answer",
    match: { operation: "files.register" },
    effect: { status: 500 },
  });
  await control("POST", "/mine/state/users", { id: "usr_keyless" });
  ids.set("RECEIVER", (await control("POST", "/mine/receivers")).id);
  await control("POST", "/mine/state/threads", { id: "thread_new" });
  ids.set("KEPT", (await getNewestEntry("mine")).id);
  await api.call("ada", "DELETE", "/_s/mine/v1/threads/thread_new");
  ids.set("REQUEST", (await getNewestEntry("mine")).id);
  await control("POST", "/restored/snapshots", { name: "kept" });
  const kept = await api.call(undefined, "GET", "/_control/sandboxes/restored/snapshots/kept");
  await control("PUT", "/restored/snapshots/foreign", kept.body);
  await control("POST", "/restored/snapshots/foreign/restore");
  await control("PATCH", "/forgetful", { settings: { journal_limit: 1 } });
  await control("POST", "/forgetful/state/threads", { id: "thread_new" });
  ids.set("FORGOTTEN", (await getNewestEntry("forgetful")).id);
  api.understudy.sandboxes.get("forgetful")!.history.releaseStates(0);
  await api.call("ada", "DELETE", "/_s/forgetful/v1/threads/thread_new");
  ids.set("DROPPED", (await getNewestEntry("forgetful")).id);
  for (let n = 0; n < 3; n += 1) await api.call("dan", "GET", "/_s/forgetful/v1/models");
});
afterAll(async () => {
  await Promise.all([api.close(), full.close()]);
  removeTempFolders();
});

async function getNewestEntry(name: string): Promise<{ id: string }> {
  const { body } = await api.call(undefined, "GET", `/_control/sandboxes/${name}/history?limit=1`);
  return body.entries[0];
}

describe("a refusal says what was wrong, where, and what to do", () => {
  it.each(Object.entries(CALLS))("for %s [interfaces 4]", async (about, calls) => {
    await expect(await formatRefusals(api, calls)).toMatchFileSnapshot(getFilePath(about));
  });

  it("for a shared server without room [interfaces 7]", async () => {
    await expect(await formatRefusals(full, CALLS_TO_FULL_SERVER)).toMatchFileSnapshot(getFilePath("shared"));
  });
});

it("a scenario whose file is broken is listed with what is wrong with it [interfaces 6]", async () => {
  const { body } = await api.call(undefined, "GET", `${S}/scenarios`);
  const broken = body.items.find(({ name }: { name: string }) => name === "broken");
  const problem = `${join(folder, "broken.yaml")}:2:31: "nowhere" is not an operation`;
  expect(broken).toEqual({
    ...{ name: "broken", description: "", active: false, shipped: false, origin: "own" },
    ...{ hits: 0, rules: [], file: join(folder, "broken.yaml"), problem },
  });
});

const getFilePath = (about: string) =>
  join(import.meta.dirname, "refusals", `${about.replaceAll(/,? /g, "-")}.txt`);

async function formatRefusals(server: Api, calls: readonly Call[]): Promise<string> {
  const paragraphs: string[] = [];
  for (const [method, path, body, headers = {}] of calls) {
    const filled = [...ids].reduce((text, [name, id]) => text.replaceAll(name, id), path);
    const type: Record<string, string> = method === "GET" ? {} : { "content-type": "application/json" };
    const answer = await server.call(undefined, method, filled, body, { ...type, ...headers });
    expect(answer.headers.get("content-type"), `${method} ${path}`).toBe("application/problem+json");
    paragraphs.push(`${formatCall(method, path, body, headers)}\n${formatAnswer(answer)}`);
  }
  const text = paragraphs.join("\n").replaceAll(`${folder}/`, "");
  return [...ids].reduce((sofar, [name, id]) => sofar.replaceAll(id, name), text);
}

const MAX_LINE = 200;

function formatCall(method: string, path: string, body: unknown, headers: object): string {
  const { authorization: _, ...others } = headers as Record<string, string>;
  const sent = body === undefined ? "" : ` ${typeof body === "string" ? body : JSON.stringify(body)}`;
  const with_ = Object.entries(others).map(([name, value]) => ` ${name}: ${value}`);
  return cut(`${method} ${path.replace(S, "S")}${sent}${with_.join("")}`);
}

/** Formats a refusal without what its kind implies: `control-run.test.ts` compares that with the catalogue. */
function formatAnswer({ status, body, headers }: ApiResponse): string {
  const { type, title: _title, status: _status, detail, ...members } = body;
  const kind = type.slice(PROBLEM_TYPE.length);
  // Node's message for invalid JSON differs between versions.
  const lines = [`${status} ${kind}: ${/ in JSON/.test(detail) ? "(the parser's words)" : detail}`];
  for (const [name, value] of Object.entries(members)) lines.push(cut(`  ${name}: ${JSON.stringify(value)}`));
  for (const name of ["allow", "www-authenticate", "x-sandbox-decision", "access-control-allow-origin"])
    if (headers.has(name)) lines.push(`  (${name}: ${headers.get(name)})`);
  return `${lines.join("\n")}\n`;
}

function cut(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}… (${line.length})` : line;
}
