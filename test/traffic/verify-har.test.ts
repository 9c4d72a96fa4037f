import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../../src/tools/verify/report.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";
import { playSession } from "../support/traffic/client-session.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// biome-ignore lint/suspicious/noExplicitAny: archives are taken apart
type Har = any;

let api: Api;
/** The journal's export of an ordinary session. */
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

function writeArchive(har: unknown, name = "traffic.har"): string {
  const file = join(createTempFolder(), name);
  writeFileSync(file, typeof har === "string" ? har : JSON.stringify(har));
  return file;
}

const verify = (har: unknown, target?: string): Promise<VerifyReport> =>
  verifyRecorded({ contract: new Contract(RESOURCES), file: writeArchive(har), target });

function listReported({ checks }: VerifyReport): string[] {
  return checks.filter(({ outcome }) => outcome === "failed" || outcome === "differs").map(({ id }) => id);
}

/** The session as a browser would export it. */
const asFromBrowser = (change: (entry: Har) => Har | undefined): Har => ({
  log: {
    version: "1.2",
    creator: { name: "WebInspector", version: "537.36" },
    pages: [{ id: "page_1" }],
    entries: structuredClone(session.log.entries).map((entry: Har) => change(entry) ?? entry),
  },
});
const matchesPath = (entry: Har, path: string) => entry.request.url.endsWith(path);

describe("an archive in place of a service [interfaces 12]", () => {
  it("has no deviations if the journal exported it [interfaces 12]", async () => {
    const report = await verify(session);
    expect(listReported(report)).toEqual([]);
    expect(report).toMatchObject({
      verdict: "pass",
      target: api.url,
      organization_id: "org_acme",
      changes: [],
    });
    expect(report.recorded).toMatchObject({ creator: "Understudy", entries: 60, checked: 60 });
    expect(report.recorded!.operations).toContain("threads.delete");
    expect(report.checks.every(({ outcome }) => outcome !== "not-observable")).toBe(true);
  });

  it("may contain other hosts and unknown paths, which are counted and not checked [interfaces 12]", async () => {
    const har = asFromBrowser(() => undefined);
    const [first] = har.log.entries;
    const moveTo = (url: string) => ({ ...first, request: { ...first.request, url } });
    har.log.entries.push(
      moveTo("https://cdn.example/app.js"),
      moveTo("https://cdn.example/v1/models"),
      moveTo(`${api.url}/logo.png`),
    );
    const report = await verify(har);
    expect(listReported(report)).toEqual([]);
    expect(report.recorded).toMatchObject({ entries: 63, checked: 60, other_hosts: 2, unknown_paths: 1 });
  });

  it("has the base URL of most operations, or the given one [interfaces 12]", async () => {
    const prefixed = JSON.parse(JSON.stringify(session).replaceAll(api.url, "https://api.example.com/ai"));
    prefixed.log.entries.push(...structuredClone(session.log.entries.slice(0, 2)));
    const found = await verify(prefixed);
    expect([found.target, found.recorded!.checked, found.recorded!.other_hosts]).toEqual([
      "https://api.example.com/ai",
      60,
      2,
    ]);
    const named = await verify(prefixed, `${api.url}/`);
    expect([named.target, named.recorded!.checked, named.recorded!.other_hosts]).toEqual([api.url, 2, 60]);
  });

  it("may contain preflights, cached answers and requests without an answer [interfaces 12]", async () => {
    const har = asFromBrowser(() => undefined);
    const [first] = har.log.entries;
    har.log.entries.push(
      { ...first, request: { ...first.request, method: "OPTIONS" } },
      { ...first, _fromCache: "disk", response: { ...first.response, headers: [] } },
      { ...first, response: { ...first.response, status: 0, headers: [] } },
      { request: "odd" },
      7,
    );
    const report = await verify(har);
    expect(listReported(report)).toEqual([]);
    expect(report.recorded!.not_checked).toEqual({
      "a browser's preflight": 1,
      "from a browser's cache": 1,
      "without an answer": 1,
      malformed: 2,
    });
  });

  it("may lack credentials if a browser left them out [interfaces 12]", async () => {
    const without = (entry: Har) => {
      entry.request.headers = entry.request.headers.filter(
        ({ name }: Har) => name.toLowerCase() !== "api-key",
      );
      return entry;
    };
    const sanitized = asFromBrowser(without);
    expect(listReported(await verify(sanitized))).toEqual([]);
    // A header that browsers always leave out shows that the archive has all headers.
    sanitized.log.entries[0].request.headers.push({ name: "Authorization", value: "Bearer ***" });
    const report = await verify(sanitized);
    expect(listReported(report)).toContain("usage.retrieve_limits/no-credentials");
    expect(report.verdict).toBe("fail");
  });

  it("may contain bodies in base64, while missing or cut ones are not checked [interfaces 12]", async () => {
    const LIMITS = "/usage/limits/org_acme";
    const spoilContent = (content: (content: Har) => object) =>
      asFromBrowser((entry) =>
        matchesPath(entry, LIMITS) && entry.response.status === 200
          ? { ...entry, response: { ...entry.response, content: content(entry.response.content) } }
          : undefined,
      );
    const spoilCode = (text: string) => text.replace('"keys_exceeded"', '"keysExceeded"');
    const toBase64 = (text: string) => Buffer.from(text).toString("base64");
    const repackHar = (change: (text: string) => string) =>
      spoilContent(({ text, mimeType }) => {
        const changed = change(text);
        return { size: Buffer.byteLength(changed), mimeType, encoding: "base64", text: toBase64(changed) };
      });
    expect(listReported(await verify(repackHar((text) => text)))).toEqual([]);
    expect(listReported(await verify(repackHar(spoilCode)))).toContain("usage.retrieve_limits/answer");
    const left = await verify(spoilContent(({ size, mimeType }) => ({ size, mimeType })));
    const cut = await verify(
      spoilContent(({ size, mimeType, text }) => ({ size, mimeType, text: text.slice(0, 40) })),
    );
    expect([listReported(left), listReported(cut)]).toEqual([[], []]);
    // A body that is complete and not JSON is a failure of the service.
    const broken = await verify(
      spoilContent(({ mimeType, text }) => ({ size: 40, mimeType, text: text.slice(0, 40) })),
    );
    expect(listReported(broken)).toContain("usage.retrieve_limits/answer");
  });

  it("reports an answer that is not JSON also if the request's body is missing [interfaces 12]", async () => {
    const har = asFromBrowser(({ request, response, ...rest }) => {
      if (!matchesPath({ request }, "/dashboard/change-logs") || response.status !== 200) return undefined;
      const { mimeType, text } = response.content;
      const content = { size: 40, mimeType, text: text.slice(0, 40) };
      return {
        ...rest,
        request: { ...request, postData: undefined, bodySize: 11 },
        response: { ...response, content },
      };
    });
    const report = await verify(har);
    expect(report.recorded!.partly_checked["with the request's body left out"]).toBeGreaterThan(0);
    expect(listReported(report)).toContain("change_logs.list/answer");
  });

  it("leaves no secret in the report, even if the archive masks none [interfaces 12]", async () => {
    const canary = "ak_canaryCanaryCanary000000000000000000000000";
    const report = await verify(
      asFromBrowser((entry) => {
        entry.request.url += `${entry.request.url.includes("?") ? "&" : "?"}api_key=${canary}`;
        if (entry.response.status === 404)
          Object.assign(entry.response.content, { size: 1, text: JSON.stringify({ echo: canary }) });
        entry.response.content.text = entry.response.content.text?.replace(
          '{"models":',
          `{"${canary}":1,"models":`,
        );
        return entry;
      }),
    );
    expect(report.summary.failed).toBeGreaterThan(3);
    const models = report.checks.find(({ id }) => id === "models.list/answer");
    expect(models?.notes).toEqual(["also answers /ak_***"]);
    expect(JSON.stringify(report)).not.toContain("canaryCanary");
  });

  it("gets one finding with a count for a repeated problem [interfaces 12]", async () => {
    const har = asFromBrowser((entry) => {
      // Without Cache-Control, a repeated answer does not count as cached.
      entry.response.headers = entry.response.headers.filter(
        ({ name }: Har) => !["service-api-version", "cache-control"].includes(name.toLowerCase()),
      );
      return entry;
    });
    har.log.entries = Array.from({ length: 30 }, () => har.log.entries).flat();
    const report = await verify(har);
    const check = report.checks.find(({ id }) => id === "headers/service-api-version")!;
    const reported = check.failures.reduce(
      (sum, text) => sum + 1 + Number(/and (\d+) more/.exec(text)?.[1] ?? 0),
      0,
    );
    const unreported = Number(/^(\d+) problems/.exec(check.notes[0] ?? "0 problems")![1]);
    expect(reported + unreported).toBe(1800);
    expect(check.failures.length).toBeLessThanOrEqual(20);
    expect(check.requests.length).toBeLessThanOrEqual(20);
  });
});

describe("an archive of any size [interfaces 12]", () => {
  it("gets one finding for one problem of many objects [interfaces 12]", async () => {
    const [tracks] = session.log.entries.filter((entry: Har) =>
      matchesPath(entry, "/collections/mcoll_ada/tracks"),
    );
    const text = tracks.response.content.text.replace(/"added_at":"[^"]*"/, '"added_at":"yesterday"');
    const entries = Array.from({ length: 30 }, (_, i) =>
      JSON.parse(
        JSON.stringify({
          ...tracks,
          response: { ...tracks.response, content: { ...tracks.response.content, text } },
        })
          .replaceAll("mcoll_ada", `mcoll_${"x".repeat(i + 1)}`)
          .replaceAll(/req_\w+/g, `req_${i}`),
      ),
    );
    const report = await verify({ log: { ...session.log, entries } });
    const { failures } = report.checks.find(({ id }) => id === "music_collections.list_tracks/answer")!;
    expect(failures).toEqual([expect.stringMatching(/added_at .* \(and 29 more like it\)$/)]);
    for (const { response } of entries)
      response.headers = response.headers.filter(
        ({ name }: Har) => name.toLowerCase() !== "service-api-version",
      );
    const { checks } = await verify({ log: { ...session.log, entries } });
    const { failures: missing } = checks.find(({ id }) => id === "headers/service-api-version")!;
    expect(missing).toEqual([expect.stringMatching(/not a date \(and 29 more like it\)$/)]);
  });

  it("must not have one ETag for two contents of one URL [4.11]", async () => {
    const stale = structuredClone(session);
    const [first, ...others] = stale.log.entries.filter((entry: Har) =>
      matchesPath(entry, "trans_short/sentences"),
    );
    const changed = structuredClone(first);
    const { content, headers } = changed.response;
    headers.find(({ name }: Har) => name === "x-request-id").value = "req_another";
    content.text = content.text.replace('"text":"', '"text":"Not ');
    content.size = content.text.length;
    stale.log.entries.push(changed);
    expect(others).toEqual([]);
    const report = await verify(stale);
    expect(listReported(report)).toEqual(["transcriptions.list_sentences/conditional"]);
    expect(report.checks.flatMap(({ failures }) => failures)).toEqual([
      "/v1/audio/transcribe/trans_short/sentences has other content than before, and the same ETag",
    ]);
  });

  const replaceBody = (entry: Har, change: (json: Har) => void) => {
    const { content } = entry.response;
    const json = JSON.parse(content.text);
    change(json);
    content.text = JSON.stringify(json);
    content.size = Buffer.byteLength(content.text);
  };

  it("may have two contents of one URL without an ETag, and only the missing ETag is reported [4.11]", async () => {
    const untagged = structuredClone(session);
    const [first] = untagged.log.entries.filter((entry: Har) => matchesPath(entry, "trans_short/sentences"));
    first.response.headers = first.response.headers.filter(({ name }: Har) => name.toLowerCase() !== "etag");
    const changed = structuredClone(first);
    changed.response.headers.find(({ name }: Har) => name === "x-request-id").value = "req_another";
    replaceBody(changed, ({ data }) => {
      data.sentences[0].text = "Another";
    });
    untagged.log.entries.push(changed);
    const { checks } = await verify(untagged);
    const conditional = checks.find(({ id }) => id === "transcriptions.list_sentences/conditional")!;
    expect(conditional.failures).toEqual(["there is no ETag (and 1 more like it)"]);
  });

  it("may sort titles by code points, and repeat a title [4.18, G39]", async () => {
    const sorted = structuredClone(session);
    const models = sorted.log.entries.filter(
      ({ request, response }: Har) => /\/v[12]\/models$/.test(request.url) && response.status === 200,
    );
    for (const entry of models)
      replaceBody(entry, (json) => {
        const titles = ["Zeta", "alpha", "alpha"];
        json.models = titles.map((title) => ({ ...json.models[0], title }));
        json.total_count = titles.length;
      });
    expect(models.length).toBeGreaterThan(0);
    expect(listReported(await verify(sorted))).toEqual([]);
    for (const entry of models) replaceBody(entry, (json) => json.models.reverse());
    expect(listReported(await verify(sorted))).toEqual(["models.list/order"]);
  });

  it("may refuse a file of another size, and a year without usage, but must name the field [G08, G13]", async () => {
    const own = await startReference();
    const announced = { filename: "a.txt", file_size: 3, mime_type: "text/plain" };
    const uploads = "/v1/organizations/org_acme/files/upload-url";
    const begun = await own.call("ada", "POST", uploads, announced);
    const { upload_url, gcs_path } = begun.body;
    await fetch(upload_url, { method: "PUT", body: "abc", headers: { "content-type": "text/plain" } });
    const limits = "/v1/analytics/usage/limits/org_acme";
    await playSession(own.url, [
      ["POST", uploads.replace("/upload-url", ""), { ...announced, gcs_path, file_size: 4 }],
      ["GET", `${limits}?month=13&year=2026`],
    ]);
    const har = (await own.call(undefined, "GET", "/_control/sandboxes/default/journal.har")).body;
    await own.close();
    const refused = har.log.entries
      .map(({ response }: Har) => response)
      .filter(({ status }: Har) => status === 422);
    expect(refused).toHaveLength(2);
    expect(refused[0].content.text).toContain('"file_size"');
    expect(listReported(await verify(har))).toEqual([]);
    const entry = har.log.entries.at(-1);
    replaceBody(entry, ({ error }) => {
      error.details.field = "months";
    });
    expect(listReported(await verify(har))).toEqual(["usage.retrieve_limits/malformed"]);
    entry.request.url = entry.request.url.replace("month=13", "month=12");
    entry.request.queryString = [];
    replaceBody(entry, ({ error }) => {
      error.details = { field: "year", value: "2026" };
    });
    const { checks } = await verify(har);
    expect(checks.find(({ id }) => id === "usage.retrieve_limits/malformed")).toMatchObject({
      outcome: "differs",
      failures: [],
    });
  });

  it("may show a retry that was due while the receiver answered a redelivery [G24]", async () => {
    const redelivering = structuredClone(session);
    const lists = redelivering.log.entries.filter(
      ({ request, response }: Har) => request.url.endsWith("/deliveries") && response.status === 200,
    );
    const delivery = {
      ...{ delivery_id: "del_1", event: "user.created", status: "failed", response_code: 0, attempts: 2 },
      ...{ last_attempt: "2026-03-15T12:00:20.000Z", next_retry: "2026-03-15T12:00:00.000Z" },
    };
    for (const entry of lists)
      replaceBody(entry, (json) => {
        json.data = [delivery];
      });
    expect(lists.length).toBeGreaterThan(0);
    expect(listReported(await verify(redelivering))).toEqual([]);
  });

  it("is found to contain a deleted object also if its JSON has spaces [4.7]", async () => {
    const revived = structuredClone(session);
    const list = revived.log.entries.find(
      ({ request }: Har) => request.method === "GET" && request.url.endsWith("/webhooks"),
    );
    // The clock of the session is frozen.
    list.startedDateTime = new Date(Date.parse(list.startedDateTime) + 10_000).toISOString();
    const { content } = list.response;
    content.text = JSON.stringify({ ...JSON.parse(content.text), thread_id: "thread_ada" }, null, 1);
    content.size = content.text.length;
    expect(listReported(await verify(revived))).toEqual(["threads.delete/gone"]);
  });

  const sendLater = (entry: Har) => {
    entry.startedDateTime = new Date(Date.parse(entry.startedDateTime) + 10_000).toISOString();
  };

  it("is found to answer the second revocation of a share link with 404 [3.4]", async () => {
    const revoking = structuredClone(session);
    const matchesPath = (path: string) =>
      revoking.log.entries.find(({ request }: Har) => request.url.endsWith(path));
    const again = matchesPath("/dsh_gone/share-links/slink_board");
    again.request.url = again.request.url.replace("dsh_gone", "dsh_revenue");
    sendLater(again);
    const { content } = again.response;
    content.text = content.text.replaceAll("dsh_gone", "dsh_revenue");
    content.size = content.text.length;
    expect(listReported(await verify(revoking))).toEqual(["share_links.revoke/again"]);
  });

  it("may contain a webhook that was changed after its creation, or disabled by a 410 [3.3, 4.21]", async () => {
    const own = await startReference();
    const hook = { url: "http://127.0.0.1:9/x", events: ["user.created"], description: "first" };
    await playSession(own.url, [["POST", "/webhooks", hook]]);
    const exportHar = async () =>
      (await own.call(undefined, "GET", "/_control/sandboxes/default/journal.har")).body;
    const [created] = (await exportHar()).log.entries;
    const { webhook_id } = JSON.parse(created.response.content.text).data;
    await playSession(own.url, [
      ["PUT", `/webhooks/${webhook_id}`, { description: "second", active: true }],
      ["GET", "/webhooks"],
    ]);
    const changed = await exportHar();
    await own.close();
    const list = changed.log.entries.at(-1);
    sendLater(list);
    const { content } = list.response;
    content.text = content.text.replaceAll('"active":true', '"active":false');
    content.size = content.text.length;
    expect(listReported(await verify(changed))).toEqual([]);
    const unknown = structuredClone(changed);
    unknown.log.entries.at(-2).response.content = { size: 0, mimeType: "" };
    unknown.log.entries.at(-2).request.postData = undefined;
    expect(listReported(await verify(unknown))).toEqual([]);
    content.text = content.text.replaceAll('"second"', '"first"');
    content.size = content.text.length;
    expect(listReported(await verify(changed))).toEqual(["webhooks.update/sticks"]);
  });

  it("is found to show null in place of a list that was set [4.21]", async () => {
    const own = await startReference();
    const hook = { url: "http://127.0.0.1:9/x", events: ["user.created"] };
    await playSession(own.url, [
      ["POST", "/webhooks", hook],
      ["GET", "/webhooks"],
    ]);
    const har = (await own.call(undefined, "GET", "/_control/sandboxes/default/journal.har")).body;
    await own.close();
    const list = har.log.entries.at(-1);
    sendLater(list);
    const { content } = list.response;
    content.text = content.text.replaceAll('"events":["user.created"]', '"events":null');
    content.size = content.text.length;
    const { checks } = await verify(har);
    expect(checks.find(({ id }) => id === "webhooks.create/sticks")!.failures).toEqual([
      'events is null after POST /webhooks set it to ["user.created"]',
    ]);
  });

  it("is refused before an entry larger than 64 MB is read [interfaces 12]", async () => {
    const file = join(createTempFolder(), "huge.har");
    const out = openSync(file, "w");
    writeSync(out, `{"log":{"version":"1.2","entries":[{},{"response":{"content":{"text":"`);
    for (let i = 0; i < 70; i++) writeSync(out, "x".repeat(1024 * 1024));
    writeSync(out, '"}}}]}}');
    closeSync(out);
    const wanted = { contract: new Contract(RESOURCES), file, target: undefined };
    await expect(verifyRecorded(wanted)).rejects.toThrow(
      /huge\.har: entry 2 is larger than 64 MB; export it without/,
    );
  });
});

describe("verify --har on the command line [interfaces 12]", () => {
  const verify = (...args: string[]) => runCommand(["verify", ...args]);

  it("prints the report of verify in every format [interfaces 12]", async () => {
    const folder = createTempFolder();
    const [xml, html] = [join(folder, "v.xml"), join(folder, "v.html")];
    const file = writeArchive(session);
    const { code, stdout, stderr } = await verify("--har", file, "--report", `junit=${xml},html=${html}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      `60 of 60 entries of ${file} checked, of 26 operations; partly checked: 3 with masked values.`,
    );
    expect(stdout).toMatch(
      /PASS {2}http\S+ in org_acme: \d+ passed, 0 failed, 0 differ .*60 recorded requests/,
    );
    expect(readFileSync(xml, "utf8")).toContain("[usage.retrieve_limits/answer]");
    expect(readFileSync(html, "utf8")).toContain("60 of 60 entries of ");
    const wrong = writeArchive(JSON.stringify(session).replaceAll('\\"keys_exceeded\\"', '\\"exceeded\\"'));
    const failed = await verify("--har", wrong, "--json");
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ verdict: "fail", recorded: { entries: 60 } });
  });

  it("exits 2 with one sentence for an unreadable file [interfaces 12]", async () => {
    const text = JSON.stringify(session);
    const cases: [string, string[], RegExp][] = [
      [
        "cut short",
        ["--har", writeArchive(text.slice(0, -3))],
        /is cut short or broken after 60 entries.*; export it again$/,
      ],
      [
        "cut in an entry",
        ["--har", writeArchive(text.slice(0, 30_000))],
        /is cut short or broken after \d+ entries/,
      ],
      [
        "broken",
        ["--har", writeArchive(text.replace('"entries":[', '"entries":[{]'))],
        /is cut short or broken after 0 entries/,
      ],
      ["followed by more", ["--har", writeArchive(`${text}x`)], /is cut short or broken after 60 entries/],
      ["empty", ["--har", writeArchive("")], /is not an HTTP Archive/],
      ["no JSON", ["--har", writeArchive("<html>")], /is not an HTTP Archive/],
      ["other JSON", ["--har", writeArchive({ openapi: "3.1.0" })], /is not an HTTP Archive: it has no log/],
      ["missing", ["--har", "missing.har"], /cannot use missing\.har: there is no such file/],
      ["a folder", ["--har", createTempFolder()], /cannot use \/.*: it is a folder/],
      [
        "another base",
        ["--har", writeArchive(session), "--target", "ftp://example.com"],
        /--target must be an http or https URL/,
      ],
      [
        "a key",
        ["--har", "x.har", "--key", "ak_x"],
        /--har sends nothing, so --key cannot be combined with it/,
      ],
      ["to write", ["--har", "x.har", "--write"], /so --write cannot be combined with it/],
      ["nothing", [], /verify needs --target and --key, or --har FILE/],
    ];
    const ended = await Promise.all(cases.map(([, args]) => verify(...args)));
    for (const [i, { code, stdout, stderr }] of ended.entries()) {
      const [name, , message] = cases[i]!;
      expect(stderr.trimEnd(), name).toMatch(message);
      expect(stderr.trimEnd().split("\n"), name).toHaveLength(1);
      expect([code, stdout], name).toEqual([2, ""]);
    }
  });

  it("exits 1 with one sentence for an archive of another service [interfaces 12]", async () => {
    const other = JSON.parse(JSON.stringify(session).replaceAll(/\/(v1|v2|webhooks)/g, "/other"));
    const { code, stderr, stdout } = await verify("--har", writeArchive(other));
    expect([code, stdout]).toEqual([1, ""]);
    const host = new URL(api.url).host;
    expect(stderr).toMatch(
      /^understudy: \S+ has no request of this API; its 60 entries belong to other APIs, most of them of /,
    );
    expect(stderr).toContain(host);
    const none = await verify("--har", writeArchive({ log: { version: "1.2", entries: [] } }));
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("has no entries")]);
    const elsewhere = await verify("--har", writeArchive(session), "--target", "https://api.example.com");
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining("no request of https://api.example.com"),
    ]);
  });

  it("reads 100 MB with the memory of a few entries [interfaces 12]", async () => {
    const file = join(createTempFolder(), "large.har");
    const out = openSync(file, "w");
    const body = JSON.stringify({ text: 'Ein \\ "Satz" für viele. '.repeat(4_000) });
    const [first] = session.log.entries;
    const large = JSON.stringify({
      ...first,
      request: { ...first.request, url: "https://elsewhere.example/blob" },
      response: {
        ...first.response,
        content: { size: body.length, mimeType: "application/json", text: body },
      },
    });
    writeSync(out, '\ufeff{"log":{"version":"1.2","creator":{"name":"Firefox","version":"1"},"entries":[');
    const times = Math.ceil((100 * 1024 * 1024) / Buffer.byteLength(large));
    for (let i = 0; i < times; i++) writeSync(out, `${large},\n`);
    writeSync(out, `${session.log.entries.map((entry: Har) => JSON.stringify(entry)).join(",")}]}}`);
    closeSync(out);
    // Node itself needs about 30 MB of it.
    const { code, stdout, stderr } = await startCommand(["verify", "--har", file, "--json"], {
      env: { NODE_OPTIONS: "--max-old-space-size=60" },
    }).finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).recorded).toMatchObject({
      entries: times + 60,
      checked: 60,
      other_hosts: times,
    });
  });
});
