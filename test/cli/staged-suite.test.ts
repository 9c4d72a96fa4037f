import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createUnderstudy } from "../../src/client/index.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

afterAll(removeTempFolders);
vi.setConfig({ testTimeout: 60_000 });

/* interfaces 21: the verdict on each stage. */

const KEY = "ak_adaOwnerAcme000000000000000000000000000";

/** A client that retries reads, which have a time limit. Environment variables switch on its flaws. */
const CLIENT = `
import { setTimeout } from "node:timers/promises";
const { UNDERSTUDY_BASE_URL: base, HASTY, PATIENT, BLIND, STUBBORN, EAGER } = process.env;
let token;
async function exchange() {
  const answer = await fetch(base + "/v1/auth/token", { method: "POST", headers: { "api-key": "${KEY}" } });
  token = (await answer.json()).access_token;
}
async function send(method, path, body) {
  const headers = { ...(token ? { authorization: "Bearer " + token } : { "api-key": "${KEY}" }), ...(body && { "content-type": "application/json" }) };
  const limit = PATIENT || method !== "GET" ? {} : { signal: AbortSignal.timeout(3000) };
  return fetch(base + path, { method, headers, ...limit, ...(body && { body: JSON.stringify(body) }) });
}
async function read(path) {
  for (let retry = 0; ; retry += 1) {
    let wait = 50 * 2 ** retry;
    try {
      const answer = await send("GET", path);
      if (answer.ok) return answer.json();
      if (answer.status === 401 && token && retry === 0) {
        await exchange();
        if (EAGER) await exchange();
        continue;
      }
      if (answer.status !== 429 && answer.status < 500) throw Object.assign(new Error("HTTP " + answer.status), { final: true });
      if (!HASTY) wait = Math.max(wait, 1000 * (answer.headers.get("retry-after") ?? 0));
    } catch (error) {
      if (error.final) throw error;
    }
    if (retry === 5) throw new Error("gave up");
    await setTimeout(wait);
  }
}
async function readModels(times) {
  for (let n = 0; n < times; n += 1) {
    const { models } = await read("/v1/models");
    if (!models.every(({ id }) => id)) throw new Error("no models");
  }
}
const WORK = {
  reads: () => readModels(8),
  async budget() {
    const ask = { model: "atlas-large", inputs: [{ role: "user", content: "Hello" }] };
    for (let n = 0; n < 6; n += 1) {
      const answer = await send("POST", "/v1/model/response", ask);
      if (answer.status === 429 && !STUBBORN) return;
      if (answer.status !== 429 && answer.status !== 200) throw new Error(await answer.text());
    }
  },
  async token() {
    await exchange();
    await readModels(6);
  },
  async creates() {
    const webhook = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
    await readModels(2);
    try {
      await send("POST", "/webhooks", webhook);
    } catch {
      if (BLIND) await send("POST", "/webhooks", webhook);
      else await send("GET", "/webhooks");
    }
  },
};
await WORK[process.argv[2]]();
`;

interface Verdict {
  name: string;
  verdict: string;
  why: string[];
}

async function runSuite(
  scenario: string,
  work: string,
  flaw?: string,
  cwd = createTempFolder(),
  options: string[] = [],
) {
  writeFileSync(join(cwd, "client.mjs"), CLIENT);
  const command = [...(flaw ? ["env", `${flaw}=1`] : []), process.execPath, "client.mjs", work];
  const made = await runCommand(["suite", scenario, "--json", ...options, "--", ...command], { cwd });
  const [result] = JSON.parse(made.stdout).scenarios;
  const stages = result.stages as Verdict[];
  return {
    ...{ code: made.code, cwd, result, stages },
    verdicts: Object.fromEntries(stages.map(({ name, verdict }) => [name, verdict])),
  };
}

describe("a shipped scenario with stages", () => {
  it.each([
    ["outage-mid-run", "reads", "HASTY", "outage", "Retry-After was 1 s, and it waited"],
    ["slow-decay", "reads", "PATIENT", "silent", "it was still waiting for GET /v1/models"],
    ["budget-runs-out", "budget", "STUBBORN", "spent", "It stops asking"],
    ["token-expires-mid-run", "token", "EAGER", "expired", "2 refreshes for 1 request"],
    ["deployment", "reads", "HASTY", "restart", "Retry-After was 1 s, and it waited"],
    ["answer-lost-after-commit", "creates", "BLIND", "lost", "so the change was made twice"],
  ])(
    "passes a sound client and finds the flaw of another: %s [interfaces 21]",
    async (scenario, work, flaw, stage, says) => {
      const sound = await runSuite(scenario, work);
      expect(sound.result.failures).toEqual([]);
      expect([sound.code, Object.values(sound.verdicts)]).toEqual([0, sound.stages.map(() => "passed")]);
      // A client without a time limit never ends.
      const options = flaw === "PATIENT" ? ["--timeout", "12"] : [];
      const flawed = await runSuite(scenario, work, flaw, createTempFolder(), options);
      const found = flawed.stages.find(({ name }) => name === stage)!;
      expect([flawed.code, found.verdict]).toEqual([1, "failed"]);
      expect(found.why.join()).toContain(says);
      expect(flawed.result.failures.join()).toContain(`the stage ${stage} failed`);
    },
  );

  it("is listed and shown [interfaces 21]", async () => {
    const shown = await runCommand(["scenario", "show", "slow-decay"]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("- name: silent")]);
  });
});

describe("the verdict on a stage", () => {
  const STAGES = `
stages:
  - name: first
    until: { requests: 2 }
    expect:
      - match: { operation: models.list }
        count: 2
      - sequence: [{ operation: models.list }, { operation: models.list }]
  - name: second
    rules: [{ id: never, match: { operation: threads.delete }, effect: { status: 503 } }]
    until: { requests: 20 }
    expect:
      - match: { status: 4xx }
  - name: third
    rules: [{ id: later, effect: { status: 503 } }]
`;
  const write = (text: string) => {
    const cwd = createTempFolder();
    writeFileSync(join(cwd, "mine.yaml"), text);
    return cwd;
  };

  it("is inconclusive if the stage was not reached, has not ended, or a rule never triggered [interfaces 21]", async () => {
    const reports = ["--report", "junit=a.xml,html=a.html"];
    const { code, cwd, verdicts, stages } = await runSuite(
      "mine.yaml",
      "reads",
      undefined,
      write(STAGES),
      reports,
    );
    expect([code, verdicts]).toEqual([1, { first: "passed", second: "inconclusive", third: "inconclusive" }]);
    expect(stages[1]!.why).toEqual([
      "the stage did not end: 6 of 20 requests came",
      "the rule never was never triggered",
      expect.stringContaining("expected at least 1 of"),
    ]);
    expect(stages[2]!.why).toEqual(["the run never reached this stage"]);
    const junit = readFileSync(join(cwd, "a.xml"), "utf8");
    expect(junit).toMatch(/<testcase [^>]*name="mine\/first"[^>]*\/>/);
    expect(junit).toMatch(
      /<testcase [^>]*name="mine\/third"[^>]*>\s*<skipped message="inconclusive: the run never reached this stage"/,
    );
    const page = readFileSync(join(cwd, "a.html"), "utf8");
    expect(page).toContain("inconclusive: third, 0 requests; the run never reached this stage");
    expect(page).toContain("Stages, 1 of 3 passed");
    const { stdout } = await runCommand(
      ["suite", "mine.yaml", "--", process.execPath, "client.mjs", "reads"],
      { cwd },
    );
    expect(stdout).toMatch(
      /FAIL +mine .*\nok +first +0\/0 +2\/2 +2 *\n\? +second +0\/1 +0\/1 +6 *\n\? +third/,
    );
  });

  it("is failed if the only matching requests are in another stage, or in another order [interfaces 21]", async () => {
    const { verdicts, stages } = await runSuite(
      "mine.yaml",
      "reads",
      undefined,
      write(`
stages:
  - name: one
    until: { requests: 1 }
    expect: [{ match: { operation: models.list }, count: 2 }]
  - name: two
    expect: [{ sequence: [{ operation: models.list }, { operation: webhooks.list }] }]
`),
    );
    expect(verdicts).toEqual({ one: "failed", two: "failed" });
    expect(stages[1]!.why.join()).toContain("step 2 of 2 is missing");
  });

  it("expects callers, strict sequences and deliveries as the journal's verification does [interfaces 21]", async () => {
    const { result, verdicts } = await runSuite(
      "mine.yaml",
      "creates",
      undefined,
      write(`
stages:
  - name: all
    expect:
      - { match: { operation: webhooks.create, principal: usr_ada } }
      - { match: { operation: webhooks.create, principal: usr_dan }, count: 0 }
      - { sequence: [{ operation: models.list }, { operation: models.list }, { operation: webhooks.create }], strict: true }
expect:
  - { match: { event: user.created }, count: 0 }
  - { match: { attempt: 1 } }
  - { sequence: [{ operation: models.list }, { operation: webhooks.create }], strict: true }
  - { sequence: [{ operation: models.list }, { method: POST }, { operation: models.list }], strict: true }
`),
    );
    expect(verdicts).toEqual({ all: "passed" });
    expect(result.expectations.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false, true, false]);
  });

  it("is inconclusive about pauses if the clock is frozen [interfaces 21]", async () => {
    const cwd = createTempFolder();
    const { verdicts, stages } = await runSuite("outage-mid-run", "reads", "HASTY", cwd, [
      "--clock",
      "frozen",
    ]);
    expect(verdicts["outage"]).toBe("inconclusive");
    expect(stages[1]!.why.join()).toContain("clock does not run as the client's does");
  });

  it("is given on a running server that has the scenario [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const at = ["--url", server.url];
    const { verdicts, code } = await runSuite("outage-mid-run", "reads", undefined, createTempFolder(), at);
    expect([code, verdicts]).toEqual([0, { calm: "passed", outage: "passed", recovery: "passed" }]);
    const hasty = await runSuite("outage-mid-run", "reads", "HASTY", createTempFolder(), at);
    expect([hasty.code, hasty.verdicts["outage"]]).toEqual([1, "failed"]);
    // A scenario without stages is armed rule by rule.
    const plain = `
rules: [{ id: down, match: { method: GET }, times: 1, effect: { status: 503, headers: { Retry-After: 1 } } }]
expect: [{ client: [honours-retry-after] }]
`;
    const sound = await runSuite("mine.yaml", "reads", undefined, write(plain), at);
    expect([sound.code, sound.result.failures]).toEqual([0, []]);
    const flawed = await runSuite("mine.yaml", "reads", "HASTY", write(plain), at);
    expect(flawed.result.failures.join()).toContain("Retry-After was 1 s, and it waited");
    await server.close();
  });

  it("is inconclusive on a running server that lacks the scenario, or has another text [interfaces 21]", async () => {
    const server = await createUnderstudy();
    for (const [file, text] of [
      ["mine.yaml", STAGES],
      ["outage-mid-run.yaml", STAGES],
    ] as const) {
      const cwd = createTempFolder();
      writeFileSync(join(cwd, file), text);
      const refused = await runCommand(["suite", file, "--url", server.url, "--", "true"], { cwd });
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining(
          `${file.slice(0, -5)} has stages, and the server at ${server.url} does not have this scenario`,
        ),
      ]);
    }
    await server.close();
  });
});
