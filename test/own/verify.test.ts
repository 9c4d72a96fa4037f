import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readApi } from "../../src/cli/document-files.ts";
import { createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import { createJoinedApi, toOperationsOption } from "../../src/engine/own/join.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { readIdsToUse } from "../../src/tools/verify/known-objects.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";
import { runVerify, type VerifyOptions } from "../../src/tools/verify/run-verify.ts";
import { readExample } from "../support/own/serve-document.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import {
  type ProxiedRequest,
  type ProxiedResponse,
  type RecordingServer,
  startProxy,
  startRecordingServer,
} from "../support/verify-setup.ts";
import * as operations from "./notes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterAll(removeTempFolders);
const open: { close(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((one) => one.close()))));
const closeLater = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};

const write = (name: string, text: string) => {
  const file = join(createTempFolder(), name);
  writeFileSync(file, text);
  return file;
};
const TRACKER = write("tracker.yaml", readExample("issue-tracker/openapi.yaml"));
const readContract = async (openapi: string) =>
  new Contract((await readApi({ openapi: [openapi] })).resources);
const run = async (contract: Contract, target: string, options: Partial<VerifyOptions> = {}) => {
  const signal = new AbortController().signal;
  const about = { key: KEY, write: false, own: true, version: "0", signal, wait: async () => {} };
  const report = await runVerify({ contract, target, ...about, ...options });
  const groupByOutcome = (outcome: string) => report.checks.filter((one) => one.outcome === outcome);
  const list = (outcome: string) => groupByOutcome(outcome).map(({ id }) => id);
  return {
    report,
    passed: list("passed"),
    failed: list("failed"),
    differs: list("differs"),
    unseen: list("not-observable"),
  };
};
const KEY = "ak_adaOwnerAcme000000000000000000000000000";

/** Serves the issue tracker with objects of each kind, in place of the real service. */
async function startTracker(): Promise<LocalUnderstudy> {
  const understudy = closeLater(await createUnderstudy({ openapi: [TRACKER], seed: 7 }));
  const post = async (path: string, body: unknown) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${understudy.url}/v2${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, ...(!isForm && { "content-type": "application/json" }) },
      body: isForm ? body : JSON.stringify(body),
    });
    expect(answer.status, path).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  const project = await post("/projects", { key: "APP", name: "App" });
  await post("/projects", { key: "WEB", name: "Web" });
  const issue = await post(`/projects/${project}/issues`, { title: "First" });
  await post(`/projects/${project}/issues`, { title: "Second" });
  await post(`/issues/${issue}/comments`, { text: "Seen" });
  await post(`/projects/${project}/labels`, { name: "bug", color: "#ff0000" });
  await post(`/projects/${project}/milestones`, { title: "Spring", due_on: "2026-05-01" });
  const form = new FormData();
  form.set("file", new File(["bytes"], "a.txt"));
  await post(`/issues/${issue}/attachments`, form);
  return understudy;
}

describe("verify of own operations on a running service", () => {
  it("finds the objects in lists, checks every reading operation and changes nothing [interfaces 18]", async () => {
    const understudy = await startTracker();
    const sandbox = await understudy.open("default");
    await sandbox.snapshots.save("before");
    const between = closeLater(await startProxy(understudy.url, (_asked, answer) => answer));
    const contract = await readContract(TRACKER);
    const { report, passed, failed, differs, unseen } = await run(contract, between.url);
    expect({ failed, differs, unseen }).toEqual({ failed: [], differs: [], unseen: [] });
    const reading = contract.operations.filter(
      ({ sourceFile, method }) => sourceFile !== undefined && method === "GET",
    );
    expect(passed).toEqual(expect.arrayContaining(reading.map(({ id }) => `${id}/answer`)));
    expect(passed).toEqual(
      expect.arrayContaining(["listIssues/pages", "getIssue/unknown", "deleteIssue/no-credentials"]),
    );
    expect(report.checks.map(({ id }) => id.split("/")[0])).not.toContain("models.list");
    const changing = between.seen.filter(({ method }) => method !== "GET");
    expect(changing.length).toBeGreaterThan(5);
    const dangerous = changing.filter(({ headers, body }) => body !== "" || hasKey(headers));
    expect(dangerous).toEqual([]);
    expect(await sandbox.snapshots.diff("before", "now")).toEqual({ added: {}, removed: {}, changed: {} });
  });

  it.each([false, true])(
    "sends no GET that is bound to a change, and says so (--write: %s) [interfaces 18]",
    async (writes) => {
      const dropping = `paths:
  /drop/{issue_id}:
    get:
      operationId: dropIssue
      x-understudy: { delete: issues, id: "{issue_id}" }
      parameters: [{ name: issue_id, in: path, required: true, schema: { type: string } }]
      responses: { "204": { description: Gone } }
`;
      const DELETING = write(
        "deleting.yaml",
        readExample("issue-tracker/openapi.yaml").replace("paths:\n", dropping),
      );
      const { url } = await startTracker();
      const between = closeLater(await startProxy(url, (_asked, answer) => answer));
      const { report } = await run(await readContract(DELETING), between.url, { write: writes });
      const check = report.checks.find(({ id }) => id === "dropIssue/answer");
      expect([check?.outcome, JSON.stringify(check)]).toEqual([
        "not-observable",
        expect.stringContaining("its binding changes data, so it is not sent"),
      ]);
      const sent = between.seen.filter(({ path }) => path.startsWith("/v2/drop/"));
      expect(sent.filter(({ headers }) => hasKey(headers))).toEqual([]);
      expect(sent.every(({ path }) => path.includes("nobody0"))).toBe(true);
    },
  );

  it("checks the reference's operations too, unless --own is given [interfaces 18]", async () => {
    const { url } = await startTracker();
    const { passed, failed } = await run(await readContract(TRACKER), url, { own: false });
    expect(failed).toEqual([]);
    expect(passed).toEqual(expect.arrayContaining(["models.list/answer", "getIssue/answer"]));
  });

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every operation
  const makeJson = (change: (body: any) => unknown) => (answer: ProxiedResponse) => ({
    ...answer,
    body: JSON.stringify(change(JSON.parse(answer.body))),
  });
  const ALTERATIONS: readonly [
    what: string,
    check: string,
    says: string,
    at: (asked: ProxiedRequest, answer: ProxiedResponse) => boolean,
    alter: (answer: ProxiedResponse) => ProxiedResponse,
  ][] = [
    [
      "an answer without a required field",
      "getProject/answer",
      'has no "name"',
      ({ path }, { status }) => /projects\/prj_\w+$/.test(path) && status === 200,
      makeJson(({ name: _, ...body }) => body),
    ],
    [
      "a value of another type in a list",
      "listIssues/answer",
      "/data/0/priority",
      ({ path }, { status }) => /issues(\?|$)/.test(path) && status === 200,
      makeJson(({ data, ...body }) => ({
        ...body,
        data: data.map((one: object) => ({ ...one, priority: "3" })),
      })),
    ],
    [
      "an undocumented success",
      "getMe/answer",
      "answers 202 instead of 200",
      ({ path }, { status }) => path.endsWith("/me") && status === 200,
      (answer) => ({ ...answer, status: 202 }),
    ],
    [
      "a server error",
      "getStatistics/answer",
      "answers 500",
      ({ path }) => path.endsWith("/statistics"),
      (answer) => ({ ...answer, status: 500 }),
    ],
    [
      "another content type",
      "health/answer",
      "content type",
      ({ path }) => path.endsWith("/health"),
      (answer) => ({ ...answer, headers: { ...answer.headers, "content-type": "text/html" } }),
    ],
    [
      "another record than the one asked for",
      "getIssue/answer",
      'answers id "iss_other"',
      ({ path }, { status }) => /issues\/iss_\w+$/.test(path) && status === 200,
      makeJson((body) => ({ ...body, id: "iss_other" })),
    ],
    [
      "a page of more items than the limit",
      "listProjects/pages",
      "answers 2 items",
      ({ path }, { status }) => path === "/v2/projects?limit=1" && status === 200,
      makeJson((body) => ({ ...body, data: [body.data[0], body.data[0]] })),
    ],
    [
      "a success for a record that does not exist",
      "getProject/unknown",
      "answers 200 instead of 404",
      ({ path }, { status }) => /projects\/prj_\w+$/.test(path) && status === 404,
      (answer) => ({ ...answer, status: 200 }),
    ],
    [
      "a refusal that its schema does not describe",
      "getIssue/unknown",
      'has no "type"',
      ({ path }, { status }) => /issues\/iss_\w+$/.test(path) && status === 404,
      makeJson(() => ({ message: "no" })),
    ],
    [
      "a call without credentials that is served",
      "listLabels/no-credentials",
      "answers 200 instead of 401",
      ({ path }, { status }) => path.endsWith("/labels") && status === 401,
      (answer) => ({ ...answer, status: 200, body: "[]" }),
    ],
    [
      "a parameter that its schema forbids, but the service takes",
      "listProjects/malformed",
      "answers 200 instead of 400 or 422",
      ({ path }, { status }) => path.includes("limit=0") && status === 422,
      (answer) => ({ ...answer, status: 200 }),
    ],
  ];

  it("finds each difference between a service and its document by the check of that name [interfaces 18]", async () => {
    const { url } = await startTracker();
    const contract = await readContract(TRACKER);
    for (const [what, check, says, at, alter] of ALTERATIONS) {
      let altered = 0;
      const between = await startProxy(url, (asked, answer) => {
        if (!at(asked, answer)) return answer;
        altered += 1;
        return alter(answer);
      });
      const { report, failed, differs } = await run(contract, between.url);
      await between.close();
      expect(altered, what).toBeGreaterThan(0);
      expect([...failed, ...differs], what).toContain(check);
      const found = report.checks.find(({ id }) => id === check)!;
      expect([...found.failures, ...found.differences.map(({ detail }) => detail)].join(), what).toContain(
        says,
      );
    }
  });

  it("finds a page that repeats the last item of the page before [interfaces 18]", async () => {
    const { url } = await startTracker();
    let first = "";
    const between: RecordingServer = closeLater(
      await startProxy(url, ({ path }, answer) => {
        if (!path.startsWith("/v2/projects?") || answer.status !== 200) return answer;
        if (path.includes("cursor=")) return { ...answer, body: first };
        if (path.includes("limit=1")) first = answer.body;
        return answer;
      }),
    );
    expect((await run(await readContract(TRACKER), between.url)).failed).toEqual(["listProjects/pages"]);
  });

  it("asks for no page of one item where the limit is one of other numbers [interfaces 18]", async () => {
    const { url } = await startTracker();
    const text = readExample("issue-tracker/openapi.yaml").replace(
      /(Limit:[\s\S]*?schema: )\{[^}]*\}/,
      "$1{ type: integer, enum: [10, 25], default: 25 }",
    );
    expect(text).toContain("enum: [10, 25]");
    const { report } = await run(await readContract(write("sizes.yaml", text)), url);
    expect(report.checks.filter(({ id }) => id === "listProjects/pages")).toEqual([]);
  });

  it("sends no position as a date by which a list is filtered [interfaces 18]", async () => {
    const { url } = await startTracker();
    const from = "{ name: from, in: query, schema: { type: string, format: date } }";
    const cursor = '{ $ref: "#/components/parameters/Cursor" }, ';
    const dated = readExample("issue-tracker/openapi.yaml").replace(cursor, `${from}, ${cursor}`);
    const { passed } = await run(await readContract(write("dated.yaml", dated)), url);
    expect(passed).toContain("listProjects/pages");
  });

  it.each(["", "security: [{ key: [] }]"])(
    "sends only values that the schema of a parameter forbids: format and pattern may allow any text (%s) [interfaces 18]",
    async (security) => {
      const document = `openapi: 3.1.0
info: { title: Hints, version: "1" }
${security}
paths:
  /v1/hints:
    get:
      operationId: listHints
      parameters:
        - { name: secret, in: query, schema: { type: string, format: password } }
        - { name: phone, in: query, schema: { type: string, format: phone } }
        - { name: number, in: query, schema: { type: string, format: int64 } }
        - { name: text, in: query, schema: { type: string, pattern: "^.{1,20}$" } }
        - { name: code, in: query, schema: { type: string, pattern: "^[a-z]+$" } }
        - { name: since, in: query, schema: { type: string, format: date-time } }
        - { name: color, in: query, schema: { type: string, enum: [red, green] } }
      responses: { "200": { description: Some } }
components: { securitySchemes: { key: { type: apiKey, in: header, name: api-key } } }
`;
      const file = write("hints.yaml", document);
      const { url } = closeLater(await createUnderstudy({ openapi: [file] }));
      const { report, passed } = await run(await readContract(file), url);
      expect(passed).toContain("listHints/malformed");
      const check = report.checks.find(({ id }) => id === "listHints/malformed")!;
      expect(check.requests.map(({ path }) => path.split("?")[1])).toEqual([
        "code=%21nonsense",
        "since=%21nonsense",
        "color=%21nonsense",
      ]);
    },
  );

  it.each(["in: header, name: X-Key", "in: query, name: key", "in: cookie, name: session"])(
    "accepts a documented redirect, live and in a recording, and the credential of %s [interfaces 18]",
    async (place) => {
      const file = write(
        "redirect.yaml",
        `openapi: 3.1.0
info: { title: Files, version: "1" }
security: [{ key: [] }]
paths: { /v1/download: { get: { operationId: download, responses: { "302": { description: Elsewhere } } } } }
components: { securitySchemes: { key: { type: apiKey, ${place} } } }
`,
      );
      const contract = await readContract(file);
      const { url } = closeLater(await createUnderstudy({ openapi: [file] }));
      const between = closeLater(await startProxy(url, (_asked, answer) => answer));
      const { report, passed, failed, differs } = await run(contract, between.url);
      expect({ passed, failed, differs }).toEqual({
        ...{ passed: ["download/answer", "download/no-credentials"], failed: [], differs: [] },
      });
      const downloads = between.seen.filter(({ path }) => path.startsWith("/v1/download"));
      const places = downloads.flatMap(({ path, headers }) => [
        ...(path.endsWith(`?key=${KEY}`) ? ["in: query, name: key"] : []),
        ...(headers.cookie === `session=${KEY}` ? ["in: cookie, name: session"] : []),
        ...(headers["x-key"] === KEY ? ["in: header, name: X-Key"] : []),
        ...(hasKey(headers) ? ["elsewhere"] : []),
      ]);
      expect([...new Set(places)]).toEqual([place]);
      expect(JSON.stringify(report)).not.toContain(KEY);
      await fetch(`${url}/_control/sandboxes/default/journal`, { method: "DELETE" });
      const query = place.includes("query") ? `?key=${KEY}` : "";
      const headers = { ...(place.includes("X-Key") && { "X-Key": KEY }), cookie: `session=${KEY}` };
      const { status } = await fetch(`${url}/v1/download${query}`, { headers, redirect: "manual" });
      expect(status).toBe(302);
      const journal = await fetch(`${url}/_control/sandboxes/default/journal.har`);
      const { checks } = await verifyRecorded({
        contract,
        file: write("a.har", await journal.text()),
        target: undefined,
      });
      expect(checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
    },
  );

  it("checks operations of declarations like those of a document [interfaces 18]", async () => {
    const understudy = closeLater(await createUnderstudy({ operations, seed: 7 }));
    const sandbox = await understudy.open("default");
    await sandbox.state(operations.notes).create({ text: "One", organization_id: "org_acme" });
    const declared = await toOperationsOption(operations);
    const contract = new Contract(createJoinedApi(declared.operations!).api.resources);
    const right = await run(contract, understudy.url);
    expect({ failed: right.failed, unseen: right.unseen }).toEqual({ failed: [], unseen: [] });
    expect(right.passed).toEqual([
      "notes.list/answer",
      "notes.list/pages",
      "notes.list/malformed",
      "notes.list/no-credentials",
      "notes.delete/no-credentials",
    ]);
    const between = closeLater(
      await startProxy(understudy.url, ({ method }, answer) => {
        if (method === "DELETE") return makeJson((body) => ({ ...body, error: { code: "X" } }))(answer);
        return answer.status === 200 ? makeJson(({ data }) => ({ data }))(answer) : answer;
      }),
    );
    expect((await run(contract, between.url)).failed).toEqual([
      "notes.list/answer",
      "notes.list/pages",
      "notes.delete/no-credentials",
    ]);
  });
});

const UNBOUND = `
openapi: 3.1.0
info: { title: Payments, version: "1" }
paths:
  /v1/payments/{id}:
    get:
      operationId: getPayment
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "200": { description: One }, "404": { description: None } }
    delete:
      operationId: deletePayment
      security: [{ key: [] }]
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "204": { description: Gone } }
  /v1/payments/run:
    post: { operationId: runPayments, security: [{ key: [] }], responses: { "200": { description: All are paid } } }
  /v1/search:
    get:
      operationId: search
      parameters: [{ name: q, in: query, required: true, schema: { type: string } }]
      responses: { "200": { description: Found } }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Company-Key } }
security: [{ key: [] }]
`;

describe("a service that answers 200 to every request", () => {
  const startObedient = async () =>
    closeLater(await startRecordingServer((_asked, answer) => void answer.writeHead(200).end()));

  it.each([{ write: false }, { write: true }])(
    "gets no writing request for an operation without a binding, %j [interfaces 2]",
    async ({ write: writes }) => {
      const { url, seen } = await startObedient();
      const { unseen } = await run(await readContract(write("payments.yaml", UNBOUND)), url, {
        write: writes,
      });
      expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
      expect(unseen).toEqual(expect.arrayContaining(["deletePayment/no-credentials", "search/answer"]));
    },
  );

  const base64 = (text: string) => Buffer.from(text).toString("base64");
  it.each([
    ["type: apiKey, in: header, name: X-Company-Key", KEY, { "x-company-key": KEY }],
    ["type: http, scheme: Basic", KEY, { authorization: `Basic ${base64(`${KEY}:`)}` }],
    ["type: http, scheme: basic", "ada:pw", { authorization: `Basic ${base64("ada:pw")}` }],
    ["type: http, scheme: bearer", KEY, { authorization: `Bearer ${KEY}` }],
    ["$ref: '#/components/securitySchemes/other'", KEY, { authorization: `Basic ${base64(`${KEY}:`)}` }],
  ])(
    "gets the key as the document's security describes it: %s [interfaces 18]",
    async (scheme, key, sent) => {
      const { url, seen } = await startObedient();
      const more = "other: { type: http, scheme: basic }, key: {";
      const text = UNBOUND.replace("key: { type: apiKey, in: header, name: X-Company-Key", more + scheme);
      const contract = await readContract(write("payments.yaml", text));
      await run(contract, url, { key, idsToUse: readIdsToUse(["payments=7"], contract.names) });
      const asked = seen.filter(({ path }) => path === "/v1/payments/7");
      const [name] = Object.keys(sent);
      expect(asked.map(({ headers }) => headers[name!])).toEqual([Object.values(sent)[0], undefined]);
      expect(seen.some(({ headers }) => headers["api-key"] !== undefined)).toBe(false);
    },
  );
});

it("the caller's organization is found if every path contains one [interfaces 18]", async () => {
  const tags = write(
    "tags.yaml",
    `
openapi: 3.1.0
info: { title: Tags, version: "1" }
paths:
  /v1/organizations/{organization_id}/tags:
    get:
      operationId: listTags
      x-understudy: { answer: [], access: member }
      security: [{ key: [] }]
      parameters: [{ name: organization_id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: "", content: { application/json: { schema: { type: array, items: {} } } } } }
`,
  );
  const { url } = closeLater(await createUnderstudy({ openapi: [tags], seed: 7 }));
  const { passed, unseen } = await run(await readContract(tags), url);
  expect({ passed, unseen }).toEqual({ passed: ["listTags/answer", "listTags/no-credentials"], unseen: [] });
});

describe("verify on the command line", () => {
  const verify = (url: string, ...more: string[]) =>
    runCommand(["verify", "--target", url, "--key", KEY, "--openapi", TRACKER, "--own", ...more]);

  it("accepts an object by the name of a parameter or of a list, and names the missing ones [interfaces 2]", async () => {
    const empty = closeLater(await createUnderstudy({ openapi: [TRACKER], seed: 7 }));
    const without = await verify(empty.url);
    expect([without.code, without.stdout]).toEqual([
      0,
      expect.stringContaining("not known: --use projects=… (no answer lists one)"),
    ]);
    const { url } = await startTracker();
    const named = await verify(url, "--use", "project_id=prj_none");
    expect(named.stdout).toContain("/v2/projects/prj_none");
    expect(await verify(url, "--use", "projects=prj_none")).toMatchObject({ code: named.code });
    const wrong = await verify(url, "--use", "projekt_id=prj_none");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("projekt_id")]);
  });

  it("refuses --own without operations, and with a recording [interfaces 2]", async () => {
    const none = await runCommand(["verify", "--target", "http://127.0.0.1:1", "--key", KEY, "--own"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--openapi")]);
    const recording = await runCommand(["verify", "--har", "a.har", "--openapi", TRACKER, "--own"]);
    expect([recording.code, recording.stderr]).toEqual([2, expect.stringContaining("--own")]);
  });
});

it("the refusals in a recording are checked by the document's schema for their status [interfaces 12]", async () => {
  const understudy = await startTracker();
  const headers = { authorization: `Bearer ${KEY}` };
  for (const path of ["/projects/prj_none", "/projects?limit=0"])
    await fetch(`${understudy.url}/v2${path}`, { headers });
  await fetch(`${understudy.url}/v2/me`);
  const sandbox = await understudy.open("default");
  const har = await (await fetch(`${sandbox.controlUrl}/journal.har`)).text();
  const verify = (text: string) =>
    runCommand(["verify", "--har", write("traffic.har", text), "--json", "--openapi", TRACKER]);
  const right = await verify(har);
  expect(right.code, right.stdout + right.stderr).toBe(0);
  const archive = JSON.parse(har);
  for (const { response } of archive.log.entries)
    if (response.status === 404) {
      const text = JSON.stringify({ message: "no" });
      Object.assign(response.content, { text, size: text.length });
    }
  const wrong = await verify(JSON.stringify(archive));
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("getProject/refusals")]);
  expect(wrong.stdout).toContain('the body has no \\"type\\"');
});

function hasKey(headers: ProxiedRequest["headers"]): boolean {
  return ["api-key", "authorization"].some((name) => headers[name] !== undefined);
}
