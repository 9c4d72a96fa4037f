import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isReadOnly } from "../../src/engine/contract/operation.ts";
import { listRefusals } from "../../src/engine/contract/refusals.ts";
import { API } from "../../src/engine/resources/index.ts";
import { findConsoleUrl } from "../../src/tools/verify/discover-understudy.ts";
import type { CheckReport, VerifyReport } from "../../src/tools/verify/report.ts";
import { type Api, type Caller, KEYS, startReference } from "../support/harness.ts";
import {
  CLOCK_MARGIN_MS,
  describeChecks,
  type ProxiedRequest,
  type ProxiedResponse,
  type RecordingServer,
  startProxy,
  startRecordingServer,
  toIdsToUse,
  verify,
} from "../support/verify-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let api: Api;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  api = await startReference();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await api.close();
});

async function control(method: string, path: string, body?: unknown) {
  const headers = { "content-type": "application/json" };
  const answer = await api.call(undefined, method, `/_control/sandboxes/default${path}`, body, headers);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const findCheck = (report: VerifyReport, id: string): CheckReport => {
  const found = report.checks.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no check ${id}`);
  return found;
};

const NO_COLLECTION = ["music_collections.list_tracks"];

/** Checks that a run cannot observe: those that need a role, and lists of objects that the user does not have. */
function listUnobservable(who: "ada" | "ben" | "cleo" | "dan", { write }: { write: boolean }): Set<string> {
  const forAdministrators = API.operations
    .filter((operation) => write || isReadOnly(operation))
    .filter((operation) => listRefusals(operation).some(({ details }) => "required_role" in details))
    .map(({ id }) => id);
  const role = who === "cleo" || who === "dan" ? forAdministrators : [];
  return new Set([...role, ...(who === "ben" || who === "cleo" ? NO_COLLECTION : [])]);
}

function listNotObserved({ checks }: VerifyReport): Set<string> {
  const unseen = checks.filter(({ outcome }) => outcome === "not-observable");
  return new Set(unseen.map(({ id }) => id.slice(0, id.indexOf("/"))));
}

describe("verify against Understudy itself", () => {
  it.each(["ada", "ben", "cleo", "dan"] as const)(
    "passes for %s and changes nothing [interfaces 2]",
    async (who) => {
      await control("POST", "/snapshots", { name: "before" });
      const report = await verify(api, who);
      expect(describeChecks(report, ["failed", "differs"])).toEqual({ stopped: null, shown: [] });
      expect(report.verdict).toBe("pass");
      expect(await control("GET", "/snapshots/before/diff/now")).toEqual({
        added: {},
        removed: {},
        changed: {},
      });
      expect(await control("GET", "/clock/pending")).toBeDefined();
      // Checks without the needed role or objects are reported as not observed, not as passed.
      expect(listNotObserved(report)).toEqual(listUnobservable(who, { write: false }));
      expect(report.summary.total).toBeGreaterThan(130);
      expect(report.changes).toEqual([]);
    },
  );

  it.each(["ada", "ben", "dan"] as const)(
    "passes with --write for %s, and undoes what it can [interfaces 2]",
    async (who) => {
      const hook = await startRecordingServer((_request, answer) => answer.writeHead(200).end());
      open.push(hook);
      await control("POST", "/snapshots", { name: "before" });
      const report = await verify(api, who, {
        write: true,
        idsToUse: toIdsToUse({
          webhook_url: `${hook.url}/hook`,
          scratch_store_id: "vs_empty",
          scratch_connection_id: "conn_wiki",
          model: "comet-mini",
          provider: "provider_a",
        }),
      });
      expect(describeChecks(report, ["failed", "differs"])).toEqual({ stopped: null, shown: [] });
      expect(report.verdict).toBe("pass");
      expect(listNotObserved(report)).toEqual(listUnobservable(who, { write: true }));
      const { removed, added, changed } = await control("GET", "/snapshots/before/diff/now");
      expect(removed).toEqual({});
      // These records remain: tokens, two files (one in a store), a cancelled job, and log entries of moving a department and
      // back.
      expect(new Set(Object.keys(added))).not.toContain("webhooks");
      expect(Object.keys(changed)).not.toContain("departments");
      expect(Object.keys(changed)).not.toContain("api_keys");
      expect(added.files).toHaveLength(2);
      expect(report.changes.filter(({ undone }) => !undone).length).toBe(6);
      expect(hook.seen.length).toBeGreaterThan(1);
    },
  );

  it("takes no organization of its user for a foreign one in a world of many users [interfaces 2]", async () => {
    const fixture = { extends: "reference", generate: { users: 150, api_keys: 150 } };
    await control("POST", "/reset", { fixture });
    const { items } = await control("GET", "/state/api_keys");
    const { key } = items.findLast((one: { revoked: boolean }) => !one.revoked);
    const id = "usage.retrieve_limits/foreign";
    const report = await verify(api, "ada", { key, only: (check) => check.id === id });
    expect(report.checks.map(({ outcome }) => outcome)).toEqual(["passed"]);
  });

  it("finds the sandbox that the target's host or path names [interfaces 16]", () => {
    const consoles = ["", "/_s/other"].map((path) => findConsoleUrl(`http://mine.localhost:4747${path}`));
    const base = "http://mine.localhost:4747/_console/s";
    expect(consoles).toEqual([`${base}/mine`, `${base}/other`]);
  });

  it("finds the objects of a sandbox at a port of its own [interfaces 16]", async () => {
    const { body } = await api.call(undefined, "POST", "/_control/sandboxes", { origin: true });
    const report = await verify(api, "ada", { target: body.origin });
    expect(listNotObserved(report)).toEqual(listUnobservable("ada", { write: false }));
  });

  it("reads ids from answers if no control API lists them [interfaces 2]", async () => {
    const guarded = await startProxy(api.url, ({ path }, answer) =>
      path.startsWith("/_control") ? { status: 403, headers: {}, body: "" } : answer,
    );
    open.push(guarded);
    const report = await verify(api, "ada", { target: guarded.url });
    expect(describeChecks(report, ["failed", "differs"])).toEqual({ stopped: null, shown: [] });
    expect(findCheck(report, "connector_jobs.retrieve/answer").outcome).toBe("passed");
    expect(findCheck(report, "webhooks.list_deliveries/answer").outcome).toBe("passed");
    const unknown = findCheck(report, "transcriptions.list_sentences/answer");
    expect(unknown.outcome).toBe("not-observable");
    expect(unknown.not_observed.join()).toContain("--use transcription_id=");
    const given = await verify(api, "ada", {
      target: guarded.url,
      idsToUse: toIdsToUse({ transcription_id: "trans_interview", session_id: "mbsess_standup" }),
    });
    expect(findCheck(given, "transcriptions.list_sentences/conditional").outcome).toBe("passed");
    expect(findCheck(given, "meeting_sessions.export_transcript/srt").outcome).toBe("passed");
  });

  it("waits for the rate limit as the service asks [G05]", async () => {
    const waits: number[] = [];
    await control("POST", "/faults", {
      match: { operation: "webhooks.list" },
      sequence: ["RATE_LIMIT_EXCEEDED", "pass"],
    });
    const report = await verify(api, "ada", {
      only: selectChecks("webhooks.list/answer"),
      wait: async (milliseconds) => {
        waits.push(milliseconds);
      },
    });
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThan(0);
    expect(report.verdict).toBe("pass");
  });

  it("gives up with a message if the rate limit never opens [8]", async () => {
    await control("POST", "/faults", {
      match: { operation: "webhooks.list" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    const report = await verify(api, "ada", { wait: async () => {} });
    expect(report.stopped).toContain("the rate limit does not end");
    expect(report.verdict).toBe("fail");
    expect(report.checks.at(-1)!.family).toBe("headers");
    expect(findCheck(report, "usage.retrieve_limits/month").outcome).toBe("not-observable");
  });

  it("names the frozen clock that keeps the rate limit from opening [8]", async () => {
    const waits: number[] = [];
    const report = await verify(api, "eve", { wait: async (milliseconds) => void waits.push(milliseconds) });
    expect(report.stopped).toContain("the sandbox's clock is frozen: run it with `understudy clock run`");
    expect(waits).toHaveLength(1);
  });

  it("keeps to a plan of 100 requests a minute [8]", async () => {
    const waits: number[] = [];
    const report = await verify(api, "eve", {
      wait: async (milliseconds) => {
        waits.push(milliseconds);
        await api.advance(milliseconds + CLOCK_MARGIN_MS);
      },
    });
    expect(report.verdict).toBe("pass");
    expect(waits.length).toBeGreaterThan(0);
    const refused = report.checks.flatMap(({ requests }) => requests).filter(({ status }) => status === 429);
    expect(refused).toEqual([]);
  });
});

describe("a different assumption", () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    ["G08 page sizes that are clamped", { out_of_range_limits: "clamp" }, ["G08"]],
    ["G06 envelope C for every 401 and 403", { auth_errors: "guide" }, ["G06"]],
    ["G07 one family of rate headers", { rate_headers: "alternative" }, ["G07"]],
    ["G21 no /v2/models", { v2_models: "off" }, ["G21"]],
    ["G22 the announced endpoint, available", { preview: "on" }, []],
  ];
  it.each(cases)("is reported and does not fail: %s", async (_title, settings, gaps) => {
    const headers = { "content-type": "application/json" };
    await api.call(undefined, "PATCH", "/_control/sandboxes/default", { settings }, headers);
    const report = await verify(api, "dan");
    expect(describeChecks(report, ["failed"])).toEqual({ stopped: null, shown: [] });
    expect(report.verdict).toBe("pass");
    const apart = report.assumptions.filter(({ differs }) => differs > 0).map(({ id }) => id);
    expect(apart).toEqual(gaps);
  });

  it("is distinguished from the specified parts of one body [4.5]", async () => {
    const spoilt = await startCheckedProxy(({ path }, answer) => {
      if (!path.includes("/connectors/jobs?") && !path.endsWith("/connectors/jobs")) return answer;
      if (answer.status !== 200) return answer;
      const { jobs } = JSON.parse(answer.body);
      return { ...answer, body: JSON.stringify({ jobs }) };
    });
    const report = await verify(api, "ada", {
      target: spoilt.url,
      only: selectChecks("connector_jobs.list/answer"),
    });
    const { outcome, differences } = findCheck(report, "connector_jobs.list/answer");
    expect(outcome).toBe("differs");
    expect(differences.map(({ assumption }) => assumption)).toEqual(["G14", "G14", "G14"]);
    expect(report.verdict).toBe("pass");
  });
});

/** Selects the checks of one operation and those of all responses, which is enough to find one deviation. */
function selectChecks(id: string) {
  const operation = id.startsWith("headers/") ? "models.list" : id.split("/")[0];
  return (one: { id: string; family: string }) =>
    one.family === "headers" || one.id.startsWith(`${operation}/`);
}

function startCheckedProxy(
  spoil: (request: ProxiedRequest, answer: ProxiedResponse) => ProxiedResponse | undefined,
): Promise<RecordingServer> {
  return startProxy(api.url, spoil).then((made) => {
    open.push(made);
    return made;
  });
}

/** Changed responses and the check that must find each; each contradicts one line of the reference. */
const DEVIATIONS: {
  title: string;
  found: string;
  who?: Caller;
  write?: boolean;
  spoil: (request: ProxiedRequest, answer: ProxiedResponse) => ProxiedResponse | undefined;
}[] = [
  {
    title: "9 an answer without x-request-id",
    found: "headers/x-request-id",
    spoil: (_request, { headers: { "x-request-id": _, ...headers }, ...answer }) => ({ ...answer, headers }),
  },
  {
    title: "9 request ids that repeat",
    found: "headers/x-request-id",
    spoil: (_request, { headers, ...answer }) => ({
      ...answer,
      headers: { ...headers, "x-request-id": "req_1" },
    }),
  },
  {
    title: "9 a version that is not a date",
    found: "headers/service-api-version",
    spoil: (_request, { headers, ...answer }) => ({
      ...answer,
      headers: { ...headers, "service-api-version": "v1" },
    }),
  },
  {
    title: "8 no rate headers",
    found: "headers/rate-limit",
    spoil: (_request, { headers, ...answer }) => ({
      ...answer,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => !name.startsWith("x-ratelimit")),
      ),
    }),
  },
  {
    title: "5 an answer to a call without credentials",
    found: "usage.retrieve_limits/no-credentials",
    spoil: ({ path, headers }, answer) =>
      path.includes("/usage/limits/") && headers["api-key"] === undefined
        ? { ...answer, status: 200, body: "{}" }
        : answer,
  },
  {
    title: "7.1 an error in no envelope",
    found: "usage.retrieve_limits/month",
    spoil: ({ path }, answer) =>
      path.includes("month=13") ? { ...answer, body: '{"message":"no"}' } : answer,
  },
  {
    title: "7.4 an error with another status",
    found: "music_collections.list_tracks/unknown",
    spoil: ({ path }, answer) =>
      path.includes("/tracks") && answer.status === 404 ? { ...answer, status: 403 } : answer,
  },
  {
    title: "7.4 an error with another code",
    found: "meeting_sessions.export_transcript/unknown",
    spoil: (_request, answer) => ({
      ...answer,
      body: answer.body.replace("SESSION_NOT_FOUND", "RESOURCE_NOT_FOUND"),
    }),
  },
  {
    title: "7.1 a status in the body that is not the answer's",
    found: "usage.retrieve_limits/unknown",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace('"status":404', '"status":400') }),
  },
  {
    title: "2.5 a field of another type",
    found: "transcriptions.list_sentences/answer",
    spoil: ({ path }, answer) =>
      path.includes("/sentences")
        ? { ...answer, body: answer.body.replace(/"start":([\d.]+)/, '"start":"$1"') }
        : answer,
  },
  {
    title: "2.7 a missing field",
    found: "usage.retrieve_limits/answer",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace('"keys_exceeded"', '"exceeded"') }),
  },
  {
    title: "3.6 a wrong classification",
    found: "usage.retrieve_limits/figures",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace('"warning"', '"ok"') }),
  },
  {
    title: "2.6 a CSV with other columns",
    found: "audit_logs.export/csv",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace("Entity Type,", "Type,") }),
  },
  {
    title: "4.15 a filter that does nothing",
    found: "audit_logs.export/csv",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replaceAll(",department,", ",role,") }),
  },
  {
    title: "4.4 tracks out of order",
    found: "music_collections.list_tracks/order",
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace('"position":1,', '"position":3,') }),
  },
  {
    title: "4.8 an offset that is ignored",
    found: "assistants.list_history/pages",
    spoil: ({ path }, answer) => {
      if (!path.includes("/history?limit=2&offset=1") || answer.status !== 200) return answer;
      const body = JSON.parse(answer.body);
      return { ...answer, body: JSON.stringify({ ...body, audit_logs: body.audit_logs.toReversed() }) };
    },
  },
  {
    title: "4.11 no 304",
    found: "transcriptions.list_sentences/conditional",
    spoil: ({ headers }, answer) =>
      headers["if-none-match"] === undefined ? answer : { ...answer, status: 200, body: "{}" },
  },
  {
    title: "4.1 SRT without numbers",
    found: "meeting_sessions.export_transcript/srt",
    spoil: ({ path }, answer) =>
      path.includes("format=srt") ? { ...answer, body: answer.body.replace(/^2$/m, "7") } : answer,
  },
  {
    title: "2.12 a secret in a listing",
    found: "webhooks.list/no-secret",
    spoil: ({ path }, answer) =>
      path === "/webhooks"
        ? { ...answer, body: answer.body.replace('"events"', '"secret":"whsec_1","events"') }
        : answer,
  },
  {
    title: "RFC 9112 an exchange that breaks off",
    found: "models.list_v2/answer",
    spoil: ({ path }, answer) => (path === "/v2/models" ? undefined : answer),
  },
  {
    title: "4.17 a server error",
    found: "usage.retrieve_limits/answer",
    spoil: ({ path, headers }, answer) =>
      path.endsWith("/limits/org_acme") && headers["api-key"] ? { ...answer, status: 500 } : answer,
  },
  {
    title: "3.5 a department that does not move",
    found: "departments.reparent/there-and-back",
    write: true,
    spoil: ({ path }, answer) =>
      path.endsWith("/reparent")
        ? { ...answer, body: answer.body.replace('"parent_id":null', '"parent_id":"dept_acme"') }
        : answer,
  },
  {
    title: "4.7 a thread's own code",
    found: "threads.delete/unknown",
    write: true,
    spoil: (_request, answer) => ({ ...answer, body: answer.body.replace("thread_not_found", "not_found") }),
  },
  {
    title: "4.21 a creation without a secret",
    found: "webhooks/lifecycle",
    write: true,
    spoil: ({ method, path }, answer) =>
      method === "POST" && path === "/webhooks"
        ? { ...answer, body: answer.body.replace(/"secret":"[^"]*",?/, "") }
        : answer,
  },
  {
    title: "4.5 another organization than asked for",
    found: "users.set_current_organization/there-and-back",
    write: true,
    spoil: ({ method }, answer) =>
      method === "PUT"
        ? { ...answer, body: answer.body.replace(/("current_organization_id":)"org_\w+"/, '$1"org_other"') }
        : answer,
  },
];

describe("a departure from the reference", () => {
  it.each(DEVIATIONS)("is found: $title", async ({ found, write = false, spoil }) => {
    const spoilt = await startCheckedProxy(spoil);
    const report = await verify(api, "ada", { target: spoilt.url, write, only: selectChecks(found) });
    expect(findCheck(report, found).failures, JSON.stringify(findCheck(report, found))).not.toEqual([]);
    expect(report.verdict).toBe("fail");
    // Whatever failed, the created objects are deleted.
    expect(report.changes.filter(({ detail }) => detail.includes("answered"))).toEqual([]);
  });

  const armed: [string, object, string][] = [
    ["garbage", { match: { operation: "models.list" }, times: 40, effect: { wire: "garbage" } }, ""],
    [
      "a wrong refusal",
      {
        match: { operation: "usage.retrieve_limits", query: { month: "13" } },
        effect: { error: "ORGANIZATION_NOT_FOUND" },
      },
      "usage.retrieve_limits/month",
    ],
    [
      "an outage of one operation",
      { match: { operation: "webhooks.list" }, effect: { status: 503 } },
      "webhooks.list/answer",
    ],
    [
      "a reset",
      { match: { operation: "connector_jobs.list" }, effect: { wire: "reset" } },
      "connector_jobs.list/answer",
    ],
    [
      "a body that is cut off",
      { match: { operation: "assistants.list_history" }, phase: "after", effect: { wire: "truncate" } },
      "assistants.list_history/answer",
    ],
  ];
  it.each(armed)("is found if injected: %s [interfaces 6]", async (_title, rule, id) => {
    await control("POST", "/faults", rule);
    if (id === "") {
      await expect(verify(api, "ada")).rejects.toThrow(/nothing answers at/);
      return;
    }
    const report = await verify(api, "ada", { wait: async () => {}, only: selectChecks(id) });
    expect(findCheck(report, id).outcome, JSON.stringify(findCheck(report, id))).toBe("failed");
    expect(report.verdict).toBe("fail");
  });

  it("is reported without the key [interfaces 2]", async () => {
    const echo = await startCheckedProxy(({ path }, answer) =>
      path.includes("month=13") ? { ...answer, body: `{"echo":"${KEYS.ada}"}` } : answer,
    );
    const report = await verify(api, "ada", {
      target: echo.url,
      only: selectChecks("usage.retrieve_limits/month"),
    });
    expect(findCheck(report, "usage.retrieve_limits/month").failures.join()).toContain("[key]");
    expect(JSON.stringify(report)).not.toContain(KEYS.ada);
  });

  it("is noted without the key, if a field has its name [interfaces 2]", async () => {
    const echo = await startCheckedProxy((_, answer) => ({
      ...answer,
      body: answer.body.replace('{"models":', `{"${KEYS.ada}":1,"models":`),
    }));
    const report = await verify(api, "ada", { target: echo.url, only: selectChecks("models.list/answer") });
    expect(findCheck(report, "models.list/answer").notes).toEqual(["also answers /[key]"]);
    expect(JSON.stringify(report)).not.toContain(KEYS.ada);
  });

  it.each([
    ["a redirect", { status: 302, headers: { location: `/login?key=${KEYS.ada}` }, body: "" }],
    ["a long refusal", { status: 401, headers: {}, body: `${"x".repeat(280)} ${KEYS.ada}` }],
  ])("is described without the key, if it is %s [interfaces 2]", async (_, answer) => {
    const echo = await startCheckedProxy(() => answer);
    const refusal = await verify(api, "ada", { target: echo.url }).catch((error: Error) => error.message);
    expect(refusal).toMatch(/redirects to|refuses the key/);
    expect(refusal).not.toContain(KEYS.ada.slice(0, 12));
  });
});
