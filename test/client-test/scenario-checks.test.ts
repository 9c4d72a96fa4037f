import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadScenarios } from "../../src/cli/document-files.ts";
import { SuiteSandboxes } from "../../src/client/suite/suite-sandboxes.ts";
import { SuiteServer } from "../../src/client/suite/suite-server.ts";
import { judgeStages } from "../../src/client/suite/suite-stages.ts";
import { CLIENT_CHECK_NAMES } from "../../src/engine/faults/rule-document.ts";
import type { RunEnd } from "../../src/tools/client-test/client-check.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import type { Flaws } from "./client.ts";
import {
  create,
  ignoreError,
  performTasks,
  readPages,
  serve,
  upload,
  type Work,
  waitForever,
} from "./client-tasks.ts";

afterAll(removeTempFolders);

/* interfaces 21: `expect: client` of a scenario reads the checks from a run under the rules of the scenario. */

/** Runs the client under a scenario whose last stage has these rules and expects this check. */
async function judge(id: string, rules: string, does: Work, flaws: Flaws, limitMs = 3000) {
  const file = join(createTempFolder(), "mine.yaml");
  const first = rules.startsWith("later ") ? "  - { name: first, until: { requests: 1 } }\n" : "";
  const text = `stages:\n${first}  - { name: last, rules: [${rules.replace("later ", "")}], expect: [{ client: [${id}] }] }\n`;
  writeFileSync(file, text);
  const [{ scenario }] = loadScenarios([file]) as [ReturnType<typeof loadScenarios>[number]];
  const server = await SuiteServer.start({ files: [file] });
  try {
    const sandbox = await server.open({ name: "suite-1" }, scenario);
    const signal = AbortSignal.timeout(limitMs);
    const end: RunEnd = await does(sandbox, flaws, signal).then(
      () => ({ how: "ok", detail: "" }),
      (error: Error) => ({ how: signal.aborted ? "timed out" : "failed", detail: error.message }),
    );
    const sandboxes = await SuiteSandboxes.find(sandbox, server, scenario);
    const stages = await judgeStages(sandboxes, scenario, { end, rules: await sandboxes.countHits() });
    return stages.at(-1)!;
  } finally {
    await server.close();
  }
}

const LISTED = "match: { operation: models.list }, effect: { status: 200, body:";

const FLAWED: readonly [id: string, rules: string, Work, sound: Flaws, flaws: Flaws][] = [
  [
    "survives-truncated",
    "{ match: { method: GET }, times: 1, effect: { wire: truncate } }",
    performTasks,
    {},
    { deafTo: "truncated" },
  ],
  [
    "survives-empty",
    "{ match: { method: GET }, times: 1, effect: { wire: empty } }",
    performTasks,
    {},
    { deafTo: "empty" },
  ],
  [
    "survives-wrong-type",
    "{ match: { method: GET }, times: 1, effect: { status: 200, headers: { Content-Type: text/html }, body: <html> } }",
    performTasks,
    {},
    { patientBody: true },
  ],
  [
    "tolerates-additions",
    `later { ${LISTED} { models: [{ id: a, added_later: 1 }] } } }`,
    performTasks,
    {},
    { strict: true },
  ],
  [
    "tolerates-new-values",
    `later { ${LISTED} { models: [{ id: a, provider: vendor_e }] } } }`,
    performTasks,
    {},
    { closed: true },
  ],
  [
    "resumes-uploads",
    "{ match: { method: PUT }, times: 1, phase: after, effect: { wire: reset } }",
    upload,
    {},
    { restartsUpload: true },
  ],
  [
    "no-retry-of-401",
    "{ match: { path: /v1/models }, effect: { error: AUTHENTICATION_REQUIRED! } }",
    performTasks,
    { usesToken: true },
    { usesToken: true, refreshesForEver: true },
  ],
];

describe("a check that a scenario expects", () => {
  it.each(FLAWED)(
    "passes a sound client, and fails a client with the flaw: %s [interfaces 21]",
    async (id, rules, does, sound, flaws) => {
      const good = await judge(id, rules, does, sound, 15_000);
      expect([good.verdict, good.why]).toEqual(["passed", []]);
      const bad = await judge(id, rules, does, flaws);
      expect([bad.verdict, bad.why.join()]).toEqual(["failed", expect.stringContaining(`${id}: `)]);
    },
    60_000,
  );

  const RETRIED_THEN_REFUSED = "{ match: { method: GET }, sequence: [503, INSUFFICIENT_PERMISSIONS!] }";
  const NOT_DONE = "{ match: { method: POST }, times: 1, effect: { status: 503 } }";
  const SAYS_WHEN =
    "{ match: { method: GET }, times: 3, effect: { status: 503, headers: { Retry-After: 0 } } }";
  const TWO =
    "{ match: { method: GET }, times: 1, effect: { wire: truncate } }, { match: { method: POST }, effect: { error: INSUFFICIENT_PERMISSIONS! } }";
  const SAME = `later { ${LISTED} { models: [{ id: a }] } } }`;
  const NEWER = `later { ${LISTED} { models: [{ id: a, added_later: 1 }] } } }, { match: { method: POST }, effect: { error: INSUFFICIENT_PERMISSIONS! } }`;

  const performInSmallJournal =
    (journal_limit: number): Work =>
    async (sandbox, flaws, signal) => {
      await sandbox.configure({ journal_limit });
      return performTasks(sandbox, flaws, signal);
    };

  it.each([
    ["no-retry-of-403", "another status was retried", RETRIED_THEN_REFUSED, performTasks, {}, "passed"],
    ["no-blind-repeat", "the first POST was never made", NOT_DONE, create, {}, "inconclusive"],
    [
      "growing-pauses",
      "Retry-After says how long to wait",
      SAYS_WHEN,
      performTasks,
      { pause: () => 200 },
      "inconclusive",
    ],
    [
      "reads-all-pages",
      "a page came late",
      "{ match: { query: { offset: 2 } }, effect: { delay: 5ms } }",
      readPages,
      {},
      "passed",
    ],
    [
      "survives-truncated",
      "something else stopped it",
      TWO,
      ignoreError,
      { retries: () => false },
      "inconclusive",
    ],
    ["tolerates-additions", "something else stopped it", NEWER, performTasks, {}, "inconclusive"],
    ["tolerates-additions", "nothing was added", SAME, performTasks, {}, "inconclusive"],
    ["bounded-retries", "it never ends", "{ times: 2, effect: { status: 503 } }", serve, {}, "passed"],
    [
      "bounded-retries",
      "the journal has evicted its first requests",
      "{ effect: { status: 503 } }",
      performInSmallJournal(2),
      {},
      "inconclusive",
    ],
    [
      "gives-up-on-silence",
      "it had an error, and never ends",
      "{ times: 1, effect: { wire: reset } }",
      waitForever,
      {},
      "inconclusive",
    ],
  ] satisfies [string, string, string, Work, Flaws, string][])(
    "of %s does not fail a sound client although %s [interfaces 21]",
    async (id, _, rules, does, flaws, verdict) => {
      const limitMs = does === serve || does === waitForever ? 3000 : 15_000;
      const found = await judge(id, rules, does, flaws, limitMs);
      expect([found.verdict, found.why.join()]).toEqual([verdict, expect.any(String)]);
    },
    60_000,
  );

  it("fails a client that never stops, although the journal has evicted its first requests [interfaces 21]", async () => {
    const rules = "{ match: { path: /v1/models }, effect: { error: AUTHENTICATION_REQUIRED! } }";
    const flaws = { usesToken: true, refreshesForEver: true };
    const found = await judge("no-retry-of-401", rules, performInSmallJournal(10), flaws);
    expect([found.verdict, found.why.join()]).toEqual([
      "failed",
      expect.stringContaining("no-retry-of-401: "),
    ]);
  }, 60_000);

  it("is refused with the reason in a scenario that cannot have it [interfaces 21]", async () => {
    const cwd = createTempFolder();
    const expectations = CLIENT_CHECK_NAMES.map((id) => `  - client: [${id}]\n`).join("");
    writeFileSync(join(cwd, "all.yaml"), `rules: [{ effect: { status: 503 } }]\nexpect:\n${expectations}`);
    const { code, stdout } = await runCommand(["scenario", "check", "all.yaml"], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain(
      "a scenario cannot expect no-credentials-elsewhere: it needs a second server to which the client is redirected, and a scenario has none; use `understudy client-test`",
    );
    expect(stdout.match(/a scenario cannot expect/g)).toHaveLength(1);
  });
});
