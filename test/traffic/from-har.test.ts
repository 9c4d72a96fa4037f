import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isReadOnly } from "../../src/engine/contract/operation.ts";
import { API, RESOURCES } from "../../src/engine/resources/index.ts";
import { EXTRACTORS } from "../../src/tools/traffic/extractors.ts";
import { inferFixtureFromHar } from "../../src/tools/traffic/fixture-from-har.ts";
import { inferScenarioFromHar } from "../../src/tools/traffic/scenario-from-har.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import { playSession } from "../support/traffic/client-session.ts";

// biome-ignore lint/suspicious/noExplicitAny: archives are taken apart
type Har = any;

const contract = new Contract(RESOURCES);
let session: Har;
beforeAll(async () => {
  const api = await startReference();
  await playSession(api.url);
  session = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal.har")).body;
  await api.close();
});
afterAll(() => removeTempFolders());

function writeArchive(har: unknown): string {
  const file = join(createTempFolder(), "traffic.har");
  writeFileSync(file, typeof har === "string" ? har : JSON.stringify(har));
  return file;
}

const inferFixture = (har: unknown) =>
  inferFixtureFromHar({ file: writeArchive(har), contract, resources: RESOURCES });

/** An archive with only these answers. */
function createArchive(
  entries: { path: string; status?: number; body?: unknown; wait?: number; method?: string }[],
): Har {
  const made = entries.map(({ path, status = 200, body = {}, wait = 1, method = "GET" }) => ({
    startedDateTime: "2026-03-15T12:00:00.000Z",
    time: wait,
    request: { method, url: `https://api.example.com${path}`, headers: [] },
    response: {
      status,
      headers: [{ name: "Content-Type", value: "application/json" }],
      content: { mimeType: "application/json", text: JSON.stringify(body) },
    },
    timings: { send: 0, wait, receive: 0 },
  }));
  return { log: { version: "1.2", creator: { name: "Firefox" }, entries: made } };
}

describe("fixture from-har [interfaces 12]", () => {
  /** Random figures, and histories, of which a fixture contains only the length. */
  const DRAWN =
    /"(processing_time_ms|upstream_latency_ms|retry_attempts|cache_hit|timestamp|request_id)":("[^"]*"|\w+)/g;
  const maskDrawn = (text: string) => text.replaceAll(DRAWN, "").replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "");
  const OTHERWISE = /\/history/;

  it("makes a world that gives the same answers [interfaces 12]", async () => {
    const { fixture, key, dropped } = await inferFixture(session);
    expect(dropped).toEqual([]);
    const api: Api = await startReference({ fixture: fixture as never });
    const asked = session.log.entries.filter(
      ({ request, response }: Har) => request.method === "GET" && response.status === 200,
    );
    expect(asked.length).toBeGreaterThan(25);
    for (const { request, response } of asked) {
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(api.url + pathname + search, { headers: { "api-key": key } });
      const text = await answer.text();
      expect(answer.status, pathname + search).toBe(200);
      if (OTHERWISE.test(pathname)) continue;
      expect(maskDrawn(text), pathname + search).toBe(maskDrawn(response.content.text));
    }
    const readTotal = (answered: Har) => JSON.parse(answered.content.text).pagination.total;
    const history = await fetch(`${api.url}/v1/assistants/asst_helper/history`, {
      headers: { "api-key": key },
    });
    const { response } = asked.find(({ request }: Har) => request.url.endsWith("/history"));
    expect(((await history.json()) as Har).pagination.total).toBe(readTotal(response));
    await api.close();
  });

  it.each([
    ["", "?month=2", { current: 850, previous: 400 }],
    ["?month=2", "", { current: 850, previous: 400 }],
    ["?month=3", "?month=2&year=2026", { current: 850, previous: 400 }],
    ["?year=2026", "?year=2025", { current: 850 }],
  ])(
    "has the spending of the months that the limits were read for: %s, then %s [4.17]",
    async (first, second, spent) => {
      const toEntry = (query: string) => {
        const current_usage = ["?month=2", "?month=2&year=2026", "?year=2025"].includes(query) ? 400 : 850;
        const organization_limits = { monthly_limit: 1000, current_usage };
        const body = { organization_limits, api_limits: null, api_key_limits: [] };
        return { path: `/v1/analytics/usage/limits/org_acme${query}`, body };
      };
      const { fixture } = await inferFixture(createArchive([toEntry(first), toEntry(second)]));
      expect(fixture["usage"]).toMatchObject({ org_acme: { spent } });
      expect(Object.keys((fixture as Har).usage.org_acme.spent).toSorted()).toEqual(Object.keys(spent));
    },
  );

  it("infers plans by the current organization, in which requests count [section 8, G07, G32]", async () => {
    const api = await startReference();
    const switchTo = (organization_id: string) =>
      api.call("ada", "PUT", "/v1/user/current-organization", { organization_id });
    await api.call("ada", "GET", "/v1/models");
    await api.call("ada", "GET", "/v1/organizations/org_initech/knowledge/connectors/jobs");
    await switchTo("org_initech");
    await api.call("ada", "GET", "/v1/models");
    await api.call("ada", "GET", "/v1/organizations/org_acme/knowledge/connectors/jobs");
    const { body: har } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal.har");
    await api.close();
    expect((await inferFixture(har)).fixture["organizations"]).toMatchObject([
      { id: "org_acme", plan: "premium" },
      { id: "org_initech", plan: "standard" },
    ]);
  });

  it("reads every answer that contains objects [interfaces 12]", () => {
    const ids = new Set(API.operations.map(({ id }) => id));
    expect(Object.keys(EXTRACTORS).filter((id) => !ids.has(id))).toEqual([]);
    // Subtitles and paragraphs repeat the sentences, and streams repeat the exports.
    const untold = API.operations
      .filter((one) => isReadOnly(one) && EXTRACTORS[one.id] === undefined)
      .map(({ id }) => id);
    expect(untold.toSorted()).toEqual([
      "meeting_sessions.stream_logs",
      "meeting_sessions.stream_status",
      "meeting_sessions.stream_transcripts",
      "transcriptions.export_srt",
      "transcriptions.export_vtt",
      "transcriptions.list_paragraphs",
    ]);
  });

  it("leaves out values that a fixture may not contain, and says so [interfaces 12]", async () => {
    const model = { key: "large", title: "Large", order: 1, is_active: true };
    const { fixture, dropped } = await inferFixture(
      createArchive([
        {
          path: "/v1/models",
          body: {
            models: [
              { ...model, provider: "openai" },
              { ...model, key: "no key!" },
              { ...model, key: "***" },
            ],
          },
        },
        {
          path: "/v1/user/current-organization",
          method: "PUT",
          body: { organization: { id: "org_a", name: "A", type: "club" } },
        },
        {
          path: "/webhooks",
          body: {
            data: [
              {
                webhook_id: "wh_1",
                url: "https://example.com/hook",
                events: ["user.created", "odd"],
                active: true,
              },
            ],
          },
        },
        { path: "/v1/organizations/org_a/stores/vs_1/files/file_1/status", body: { status: "completed" } },
        { path: "/v1/music/org_a/collections/mcoll_1/tracks", body: "not an object" },
      ]),
    );
    expect(fixture["models"]).toEqual([{ ...model }]);
    // The models were recorded before any answer named their organization.
    expect(fixture["organizations"]).toEqual([{ id: "org_recorded" }, { id: "org_a", name: "A" }]);
    expect(fixture["webhooks"]).toMatchObject([
      { id: "wh_1", url: "https://example.com/hook", active: false },
    ]);
    expect(fixture["vector_stores"]).toMatchObject([
      { id: "vs_1", files: [{ file_id: "file_1", status: "completed" }] },
    ]);
    expect(fixture["files"]).toMatchObject([{ id: "file_1" }]);
    expect(dropped).toEqual(
      expect.arrayContaining([
        "an answer of music_collections.list_tracks",
        "/models/0/provider",
        "/organizations/1/type",
      ]),
    );
  });

  it("can leave out more values than a function call may have arguments [interfaces 12]", async () => {
    const others = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`other_${i}`, i]));
    const models = Array.from({ length: 10_000 }, (_, i) => ({ key: `model-${i}`, ...others }));
    const { fixture, dropped } = await inferFixture(
      createArchive([{ path: "/v1/models", body: { models } }]),
    );
    expect(fixture["models"]).toHaveLength(10_000);
    expect(dropped).toHaveLength(200_000);
  }, 60_000);

  it("adds no list for an impossible offset [interfaces 12]", async () => {
    const body = {
      collection_id: "mcoll_1",
      items: [{ track_id: "mtrack_1", position: 0 }],
      limit: 1,
      offset: 2e9,
    };
    const { fixture } = await inferFixture(
      createArchive([{ path: "/v1/music/org_a/collections/mcoll_1/tracks", body }]),
    );
    expect(fixture["music_collections"]).toMatchObject([{ id: "mcoll_1", tracks: [] }]);
  });

  it("writes a file that start and check accept [interfaces 12]", async () => {
    const out = join(createTempFolder(), "my worlds", "seen.yaml");
    const file = writeArchive(session);
    const made = await runCommand(["fixture", "from-har", file, "--out", out]);
    const said = `understudy: created the folder ${dirname(out)}\n`;
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: said });
    expect(made.stdout).toMatch(/Wrote .+seen\.yaml: .*3 models, .*\n.*the key is ak_recorded0+\.$/m);
    expect(made.stdout).toContain(`--fixture '${out}' --clock`);
    expect((await runCommand(["fixture", "check", out])).code).toBe(0);
    const text = readFileSync(out, "utf8");
    expect(text).toContain("# Seen in traffic.har");
    expect(text).not.toContain("***");
    const again = await runCommand(["fixture", "from-har", file, "--out", out]);
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining("exists; add --force to replace it"),
    ]);
  });
});

describe("scenario from-har [interfaces 12]", () => {
  const inferScenario = (har: unknown) => inferScenarioFromHar(writeArchive(har), { contract, name: "seen" });

  it("has the percentiles and shares of the recording [interfaces 12]", async () => {
    const waits = Array.from({ length: 100 }, (_, i) => ({ path: "/v1/models", wait: i + 1 }));
    const limited = { error: { code: "RATE_LIMIT_EXCEEDED" } };
    const { rules } = await inferScenario(
      createArchive([
        ...waits.slice(0, 60),
        ...waits.slice(60, 80).map((one) => ({ ...one, status: 503 })),
        ...waits.slice(80).map((one) => ({ ...one, status: 429, body: limited })),
        {
          path: "/v1/threads/thread_1",
          method: "DELETE",
          wait: 7,
          status: 404,
          body: { error: { code: "thread_not_found" } },
        },
      ]),
    );
    expect(rules).toEqual([
      {
        id: "models-list-latency",
        match: { operation: "models.list" },
        effect: { delay: { p50: "50ms", p99: "99ms" } },
      },
      {
        id: "threads-delete-latency",
        match: { operation: "threads.delete" },
        effect: { delay: { p50: "7ms", p99: "7ms" } },
      },
      {
        id: "models-list-http-503",
        match: { operation: "models.list" },
        probability: 0.2,
        effect: { status: 503 },
      },
      // 20 of the 80 requests that the rule before it does not match.
      {
        id: "models-list-rate-limit-exceeded",
        match: { operation: "models.list" },
        probability: 0.25,
        effect: { error: "RATE_LIMIT_EXCEEDED" },
      },
      {
        id: "threads-delete-resource-not-found",
        match: { operation: "threads.delete" },
        probability: 1,
        effect: { error: "RESOURCE_NOT_FOUND" },
      },
    ]);
  });

  it("has the percentiles of a long recording [interfaces 12]", async () => {
    const many = Array.from({ length: 12_000 }, (_, i) => ({ path: "/v1/models", wait: (i % 100) + 1 }));
    const { rules } = await inferScenario(createArchive(many));
    const [{ effect }] = rules as [{ effect: { delay: { p50: string; p99: string } } }];
    expect(Math.abs(Number.parseInt(effect.delay.p50, 10) - 50)).toBeLessThanOrEqual(2);
    expect(Number.parseInt(effect.delay.p99, 10)).toBeGreaterThanOrEqual(96);
  });

  it("has rules for rare errors, and for statuses that HTTP does not have [interfaces 12]", async () => {
    const calls = Array.from({ length: 30_000 }, () => ({ path: "/v1/models", wait: 1 }));
    const odd = { path: "/v2/models", wait: 1, status: 999 };
    const har = createArchive([...calls, { path: "/v1/models", wait: 1, status: 503 }, odd]);
    const { rules } = await inferScenario(har);
    expect(rules.slice(2)).toEqual([
      {
        id: "models-list-http-503",
        match: { operation: "models.list" },
        probability: 0.00003333,
        effect: { status: 503 },
      },
      // Clients treat a status outside 100 to 599 as a server error (RFC 9110, 15).
      {
        id: "models-list-v2-http-599",
        match: { operation: "models.list_v2" },
        probability: 1,
        effect: { status: 599 },
      },
    ]);
    const out = join(createTempFolder(), "rare.yaml");
    await runCommand(["scenario", "from-har", writeArchive(har), "--out", out]);
    expect((await runCommand(["scenario", "check", out])).code).toBe(0);
  });

  it("writes a file that check accepts [interfaces 12]", async () => {
    const out = join(createTempFolder(), "seen-in-march.yaml");
    const made = await runCommand(["scenario", "from-har", writeArchive(session), "--out", out]);
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: "" });
    const checked = await runCommand(["scenario", "check", out]);
    expect({ code: checked.code, stdout: checked.stdout }).toMatchObject({ code: 0 });
    expect(readFileSync(out, "utf8")).toContain("name: seen-in-march");
  });
});

describe("an archive that cannot be used [interfaces 12]", () => {
  it.each(["fixture", "scenario"])(
    "is refused by %s from-har with the reason in one sentence [interfaces 12]",
    async (what) => {
      const cases: [Har, number, RegExp][] = [
        [JSON.stringify(session).slice(0, -40), 2, /is cut short or broken after \d+ entries/],
        ["[]", 2, /is not an HTTP Archive/],
        [
          createArchive([{ path: "/other" }]),
          1,
          /has no request of this API; its 1 entry belongs to other APIs, most of them of api\.example\.com/,
        ],
      ];
      for (const [har, wanted, message] of cases) {
        const { code, stdout, stderr } = await runCommand([what, "from-har", writeArchive(har)]);
        expect(stderr.trimEnd()).toMatch(message);
        expect(stderr.trimEnd().split("\n")).toHaveLength(1);
        expect([code, stdout]).toEqual([wanted, ""]);
      }
    },
  );
});
