import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../../src/tools/verify/report.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import { playSession } from "../support/traffic/client-session.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// biome-ignore lint/suspicious/noExplicitAny: archives are taken apart
type Har = any;

let api: Api;
/** An hour of an application's traffic, exported from the journal. */
let session: Har;
beforeAll(async () => {
  api = await startReference();
  await playSession(api.url);
  session = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal.har")).body;
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

/** The session as another recorder would write it; `change` alters each entry. */
function asRecordedBy(name: string, change: (entry: Har) => void): Har {
  const entries = structuredClone(session.log.entries);
  for (const entry of entries) change(entry);
  return { log: { version: "1.2", creator: { name, version: "1" }, entries } };
}

function writeRecording(har: Har): string {
  const file = join(createTempFolder(), "traffic.har");
  writeFileSync(file, JSON.stringify(har));
  return file;
}

const verify = (har: Har, strict = false): Promise<VerifyReport> =>
  verifyRecorded({ contract: new Contract(RESOURCES), file: writeRecording(har), target: undefined, strict });

const listProblems = ({ checks }: VerifyReport) =>
  checks.flatMap(({ failures, differences }) => [...failures, ...differences.map(({ detail }) => detail)]);

const isSuccess = ({ response }: Har) => response.status >= 200 && response.status < 300;
const isFor = ({ request }: Har, path: string) => request.url.includes(path);

/** Changes the JSON body of an answer. */
function editBody(entry: Har, change: (body: Har) => void): void {
  const { content } = entry.response;
  const body = JSON.parse(content.text);
  change(body);
  content.text = JSON.stringify(body);
  content.size = Buffer.byteLength(content.text);
}

describe("a recording of a correct server passes", () => {
  it("a 304 for which Chrome exports the cached body is not checked as an answer of the service", async () => {
    const har = asRecordedBy("WebInspector", () => {});
    const [model] = har.log.entries.filter((entry: Har) => isFor(entry, "/sentences") && isSuccess(entry));
    for (const headers of [[{ name: "If-None-Match", value: '"a"' }], []]) {
      const copy = structuredClone(model);
      copy.request.headers.push(...headers);
      Object.assign(copy.response, { status: 304, statusText: "Not Modified" });
      copy.response.headers = copy.response.headers.map((one: Har) =>
        one.name.toLowerCase() === "x-request-id" ? { ...one, value: `req_304${headers.length}` } : one,
      );
      har.log.entries.push(copy);
    }
    const report = await verify(har);
    expect(listProblems(report)).toEqual([]);
    expect(report.recorded!.partly_checked["with the browser's cached body"]).toBe(2);
  });

  it.each([
    ["Chrome, memory", (entry: Har) => Object.assign(entry, { _fromCache: "memory" })],
    ["Chrome, prefetch", (entry: Har) => Object.assign(entry.response, { _fromPrefetchCache: true })],
    ["Safari, disk", (entry: Har) => Object.assign(entry.response, { _fetchType: "Disk Cache" })],
    [
      "a service worker's cache",
      (entry: Har) => Object.assign(entry.response, { _serviceWorkerResponseSource: "cache-storage" }),
    ],
  ])("an answer from a cache is not checked: %s", async (_title, mark) => {
    const har = asRecordedBy("WebInspector", () => {});
    const cached = structuredClone(har.log.entries[0]);
    cached.response.headers = [];
    mark(cached);
    har.log.entries.push(cached);
    const report = await verify(har);
    expect(listProblems(report)).toEqual([]);
    expect(report.recorded!.not_checked).toEqual({ "from a browser's cache": 1 });
  });

  it.each([
    ["no size", {}],
    ["size -1, as Playwright writes it", { size: -1 }],
    ["size 0 beside a Content-Length", { size: 0 }],
    ["a size without a text", { size: 700 }],
    ["a file that is not there", { size: 700, _file: "missing.json" }],
    ["a file elsewhere", { size: 700, _file: "../../etc/passwd" }],
  ])("a body that the recorder omitted is counted and not checked: %s", async (_title, content) => {
    const har = asRecordedBy("Playwright", (entry) => {
      const { response, request } = entry;
      if (request.method === "HEAD" || response.status === 204 || response.status === 304) return;
      response.content = { mimeType: response.content.mimeType, ...content };
    });
    const report = await verify(har);
    expect(listProblems(report)).toEqual([]);
    expect(report.recorded!.partly_checked["with the body left out"]).toBeGreaterThan(40);
    const { stdout, stderr } = await runCommand(["verify", "--har", writeRecording(har)]);
    expect(stdout.split("\n")[0]).toMatch(/partly checked: \d+ with the body left out/);
    expect(stdout + stderr).not.toContain("TypeError");
    expect(stdout + stderr).not.toContain("undefined");
  });

  it("a text that lost its byte order mark counts as complete", async () => {
    const har = asRecordedBy("Firefox", ({ response }) => {
      if (typeof response.content.text === "string") response.content.size += 3;
    });
    const report = await verify(har);
    expect(listProblems(report)).toEqual([]);
    const { recorded } = await verify(asRecordedBy("Firefox", () => {}));
    expect(report.recorded!.partly_checked).toEqual(recorded!.partly_checked);
  });
});

describe("parts that could not be checked are counted by reason in the first line", () => {
  it("bodies that are shorter than their size say so", async () => {
    const har = asRecordedBy("Firefox", (entry) => {
      if (isFor(entry, "/usage/limits/org_acme") && isSuccess(entry)) entry.response.content.size = 90_000;
    });
    const { stdout, code } = await runCommand(["verify", "--har", writeRecording(har)]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/partly checked: \d+ with the body cut short/);
  });

  it("bodies that Playwright writes into files beside the archive are read", async () => {
    const folder = createTempFolder();
    mkdirSync(join(folder, "har"));
    let files = 0;
    const har = asRecordedBy("Playwright", (entry) => {
      const { content } = entry.response;
      if (typeof content.text !== "string") return;
      if (isFor(entry, "/usage/limits/org_acme") && isSuccess(entry))
        editBody(entry, (body) => delete body.summary);
      const _file = `${++files}.json`;
      writeFileSync(join(folder, "har", _file), content.text);
      entry.response.content = { mimeType: content.mimeType, size: content.size, _file };
    });
    const file = join(folder, "har", "traffic.har");
    writeFileSync(file, JSON.stringify(har));
    const report = await verifyRecorded({ contract: new Contract(RESOURCES), file, target: undefined });
    expect(listProblems(report).join("\n")).toContain('has no "summary"');
    expect(report.recorded!.partly_checked["with the body left out"]).toBeUndefined();
  });

  it("a recording in which nothing could be checked is not a PASS", async () => {
    const har = asRecordedBy("Playwright", ({ response }) => {
      response.headers = [];
      response.content = { size: -1, mimeType: "" };
    });
    har.log.entries = har.log.entries.filter(({ response }: Har) => response.status === 200).slice(0, 1);
    har.log.entries[0].request.method = "PUT";
    har.log.entries[0].request.url = `${api.url}/v1/upload/nowhere`;
    const { code } = await runCommand(["verify", "--har", writeRecording(har)]);
    expect(code).toBe(1);
  });

  it("a fixture of a recording without bodies says that there was nothing to read", async () => {
    const har = asRecordedBy("Playwright", ({ response }) => {
      response.content = { size: -1, mimeType: "application/json" };
    });
    for (const { response } of har.log.entries) response.headers = [];
    const out = join(createTempFolder(), "world.yaml");
    const { code, stderr } = await runCommand(["fixture", "from-har", writeRecording(har), "--out", out]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/shows no object of this API.*left out or cut the bodies of \d+ answers/);
  });
});

describe("a field in the reference's tables counts as specified", () => {
  const cases: [title: string, path: string, change: (body: Har) => void, fails: boolean][] = [
    ["a file's status answer without status [2.9]", "/status", (body) => delete body.status, true],
    ["a file's status that is a number [2.9]", "/status", (body) => Object.assign(body, { status: 1 }), true],
    ["a file's status answer without current_step", "/status", (body) => delete body.current_step, true],
    ["a job without bytes_synced [2.10]", "/jobs/", (body) => delete body.bytes_synced, true],
    ["a job of a type that 2.10 does not list", "/jobs/", (body) => (body.job_type = "polish"), true],
    ["a job whose bytes are a text [G14]", "/jobs/", (body) => (body.bytes_synced = "7"), false],
    ["a department whose color is a number [2.2]", "/reparent", (body) => (body.color = 7), true],
    ["a department whose color is a name [G10]", "/reparent", (body) => (body.color = "red"), false],
    ["a log entry without action [2.6]", "/history", (body) => delete body.audit_logs[0].action, true],
    ["an organization without type [4.5]", "current-organization", (b) => delete b.organization.type, true],
    [
      "sentences without a link to paragraphs [4.11]",
      "/sentences",
      (b) => delete b.actions.get_paragraphs,
      true,
    ],
  ];

  it.each(cases)("%s", async (_title, path, change, fails) => {
    let changed = 0;
    const har = asRecordedBy("Firefox", (entry) => {
      const json = entry.response.content.mimeType?.includes("json");
      if (!isSuccess(entry) || !json || !isFor(entry, path)) return;
      if (path === "/jobs/" && entry.request.url.split("/").at(-1).includes("?")) return;
      try {
        editBody(entry, change);
        changed += 1;
      } catch {
        // The answer does not have the part that `change` alters.
      }
    });
    expect(changed).toBeGreaterThan(0);
    const report = await verify(har);
    expect([report.verdict, listProblems(report).length > 0]).toEqual([fails ? "fail" : "pass", true]);
    if (!fails) expect((await verify(har, true)).verdict).toBe("fail");
  });

  it("for a deleted webhook that is listed again ten minutes later [4.21]", async () => {
    const har = asRecordedBy("Firefox", () => {});
    const listing = har.log.entries.find(
      (entry: Har) => entry.request.method === "GET" && /\/webhooks$/.test(entry.request.url),
    );
    const { webhook_id } = JSON.parse(listing.response.content.text).data.at(-1);
    const deletion = structuredClone(listing);
    deletion.request.method = "DELETE";
    deletion.request.url += `/${webhook_id}`;
    const answered = { status: "success", data: { webhook_id, deleted: true } };
    editBody(deletion, () => {});
    deletion.response.content.text = JSON.stringify(answered);
    deletion.response.content.size = deletion.response.content.text.length;
    const again = structuredClone(listing);
    for (const [entry, minutes] of [
      [deletion, 1],
      [again, 11],
    ] as const) {
      const at = Date.parse(listing.startedDateTime) + minutes * 60_000;
      entry.startedDateTime = new Date(at).toISOString();
      har.log.entries.push(entry);
    }
    const { checks } = await verify(har);
    const gone = checks.find(({ id }) => id === "webhooks.delete/gone")!;
    expect([gone.outcome, gone.failures]).toEqual([
      "failed",
      [expect.stringContaining(`GET /webhooks answers "${webhook_id}" after its deletion`)],
    ]);
  });

  it("the last line says PASS with the number of differences, and --strict fails", async () => {
    const har = asRecordedBy("Firefox", (entry) => {
      if (isFor(entry, "/reparent") && isSuccess(entry)) editBody(entry, (body) => (body.color = "red"));
    });
    const file = writeRecording(har);
    const lenient = await runCommand(["verify", "--har", file]);
    expect([lenient.code, lenient.stdout]).toEqual([
      0,
      expect.stringMatching(/^PASS with 1 difference {2}/m),
    ]);
    expect((await runCommand(["verify", "--har", file, "--strict"])).code).toBe(1);
  });
});

describe("a recording that lacks what a check needs", () => {
  it.each(["Base64", "BASE64"])("is read if it calls its encoding %s", async (encoding) => {
    const har = asRecordedBy("other", ({ response: { content } }) => {
      if (content.text === undefined) return;
      Object.assign(content, { text: Buffer.from(content.text).toString("base64"), encoding });
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
    const before = await verify(asRecordedBy("other", () => {}));
    expect(report.recorded!.partly_checked).toEqual(before.recorded!.partly_checked);
  });

  it.each<[what: string, coding: string, compress: (text: string) => Buffer]>([
    ["deflate", "deflate", (text) => deflateSync(text)],
    ["deflate without a header", "Deflate", (text) => deflateRawSync(text)],
    ["two codings", "deflate, gzip", (text) => gzipSync(deflateSync(text))],
  ])("is read if its bodies are still compressed by %s", async (_what, coding, compress) => {
    const har = asRecordedBy("other", ({ response }) => {
      if (response.content.text === undefined) return;
      response.headers.push({ name: "Content-Encoding", value: coding });
      const text = compress(response.content.text).toString("base64");
      Object.assign(response.content, { text, encoding: "base64" });
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
    expect(Object.keys(report.recorded!.partly_checked)).toEqual(["with masked values"]);
  });

  it("has the query of a request whose URL lacks it, as Insomnia exports parameters", async () => {
    const har = asRecordedBy("Insomnia REST Client", ({ request }) => {
      const url = new URL(request.url);
      request.queryString = [...url.searchParams].map(([name, value]) => ({ name, value }));
      request.url = url.origin + url.pathname;
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
    const before = await verify(asRecordedBy("other", () => {}));
    expect(report.summary).toEqual(before.summary);
  });

  it("has headers and parameters whose values are numbers", async () => {
    const har = asRecordedBy("other", ({ request, response }) => {
      for (const pair of [...request.headers, ...request.queryString, ...response.headers])
        if (/^\d{1,9}$/.test(pair.value)) pair.value = Number(pair.value);
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
  });

  it("has the bodies of requests that are in base64, as HAR 1.3 allows", async () => {
    const har = asRecordedBy("other", ({ request: { postData } }) => {
      if (!postData?.text) return;
      Object.assign(postData, { text: Buffer.from(postData.text).toString("base64"), encoding: "base64" });
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
    const before = await verify(asRecordedBy("other", () => {}));
    expect(report.summary).toEqual(before.summary);
  });

  it("counts a broken body of unknown size that is shorter than its Content-Length as cut short", async () => {
    for (const size of [-1, undefined]) {
      const har = asRecordedBy("other", (entry) => {
        const { content } = entry.response;
        if (isSuccess(entry) && content.mimeType.includes("json") && content.text?.length > 60)
          Object.assign(content, { text: content.text.slice(0, 20), size });
      });
      const report = await verify(har);
      expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
      expect(report.recorded!.partly_checked["with the body cut short"]).toBeGreaterThan(10);
    }
  });

  it.each([
    ["Chrome", "_error"],
    ["Playwright", "_failureText"],
  ])("counts a body that broke off as cut short, as %s marks it", async (name, mark) => {
    const har = asRecordedBy(name, (entry) => {
      const { content } = entry.response;
      entry.response[mark] = null;
      if (!isSuccess(entry) || !content.mimeType.includes("json") || !(content.text?.length > 60)) return;
      Object.assign(content, { text: content.text.slice(0, 20), size: 20 });
      entry.response[mark] = "net::ERR_ABORTED";
    });
    const report = await verify(har);
    expect([report.verdict, listProblems(report)]).toEqual(["pass", []]);
    expect(report.recorded!.partly_checked["with the body cut short"]).toBeGreaterThan(10);
  });

  it("checks a body that the recorder wrote in a shorter form", async () => {
    const har = asRecordedBy("other", ({ response }) => {
      response.content.size = -1;
      if (!response.content.mimeType.includes("json")) return;
      const length = response.headers.find(({ name }: Har) => /^content-length$/i.test(name));
      if (length !== undefined) length.value = String(Number(length.value) + 500);
    });
    expect((await verify(har)).recorded!.partly_checked["with the body cut short"]).toBeUndefined();
  });

  it.each<[what: string, change: (entry: Har) => void, says: string | RegExp]>([
    ["answers", ({ response }) => Object.assign(response, { status: 0 }), "60 without an answer"],
    [
      "answers, which Playwright calls status -1",
      ({ response }) => Object.assign(response, { status: -1, headers: [] }),
      "60 without an answer",
    ],
    ["responses", (entry) => delete entry.response, "60 without an answer"],
    [
      "headers",
      ({ response }) => Object.assign(response, { headers: [] }),
      /0 of 60 .*not checked: .*\d+ with the headers left out/,
    ],
    ["addresses", ({ request }) => Object.assign(request, { url: "data:,x" }), "most of them of data:"],
  ])("says so if it has no %s", async (_what, change, says) => {
    const file = writeRecording(asRecordedBy("other", change));
    const { code, stdout, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(says)]);
  });

  it("is checked as a file is if it comes from a pipe", async () => {
    const file = writeRecording(session);
    const pipe = join(createTempFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    // Other test files run at the same time and have such folders too.
    const temporary = createTempFolder();
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const writing = writeFile(pipe, readFileSync(file));
    const { stdout, stderr } = await runCommand(["verify", "--har", pipe]);
    await writing;
    expect([stdout.split("\n")[0], stderr]).toEqual([expect.stringMatching(/^60 of 60 entries of/), ""]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each<[what: string, bytes: Buffer, says: string]>([
    ["gzip", gzipSync('{"log":{"entries":[]}}'), "is compressed with gzip; unpack it first"],
    [
      "a ZIP",
      Buffer.from("PK\u0003\u0004\u0014\0\u0006\0", "latin1"),
      "is a ZIP archive or an Office document",
    ],
  ])("says so if it is %s", async (_what, bytes, says) => {
    const file = join(createTempFolder(), "traffic.har");
    writeFileSync(file, bytes);
    const { code, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
