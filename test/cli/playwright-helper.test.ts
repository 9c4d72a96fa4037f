import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it, vi } from "vitest";
import { readWorld } from "../support/read-world.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Suite {
  suites?: Suite[];
  specs: { title: string; tests: { results: Result[] }[] }[];
}

interface Result {
  status: string;
  errors: { message: string }[];
  attachments: { name: string; path: string; contentType: string }[];
}

afterAll(removeTempFolders);

it("understudy-sandbox/playwright takes options, fails tests whose faults were never triggered, and attaches reports [interfaces 13]", async () => {
  const folder = createTempFolder();
  const root = fileURLToPath(new URL("../support/playwright-helper", import.meta.url));
  const playwright = fileURLToPath(new URL("../../node_modules/@playwright/test/cli.js", import.meta.url));
  spawnSync(process.execPath, [playwright, "test"], {
    cwd: root,
    env: { ...process.env, VITEST: "", UNDERSTUDY_URL: "", REPORTS: folder, NO_COLOR: "1" },
  });
  const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as { suites: Suite[] };
  const listSpecs = (suites: Suite[]): Suite["specs"] =>
    suites.flatMap((suite) => [...suite.specs, ...listSpecs(suite.suites ?? [])]);
  const results = new Map(listSpecs(report.suites).map(({ title, tests }) => [title, tests[0]!.results[0]!]));
  expect([...results].map(([title, { status }]) => [title, status])).toEqual([
    ["begins as the configuration says", "passed"],
    ["fails an assertion", "failed"],
    ["leaves a request held", "failed"],
    ["arms a rule that never triggers", "failed"],
    ["deletes its sandbox", "passed"],
    ["begins as the options say", "passed"],
    ["never triggers its scenario", "failed"],
    ["is refused", "failed"],
  ]);
  const readMessage = (title: string) =>
    results
      .get(title)!
      .errors.map(({ message }) => message)
      .join("\n");
  expect(readMessage("fails an assertion")).toContain(
    "found 0; nearest: GET /v1/models -> 200 (status is 200, not 404)",
  );
  expect(readMessage("leaves a request held")).toContain(
    "still held at the end of the test: GET /v1/models (held_1",
  );
  expect(readMessage("arms a rule that never triggers")).toContain(
    'armed but never triggered: fault_1 {"operation":"threads.delete"}',
  );
  expect(readMessage("never triggers its scenario")).toContain(
    "armed but never triggered: models-list-rate-limited/",
  );
  expect(readMessage("is refused")).toContain(
    'understudy has no option "sead"; its options are fixture, seed, clock',
  );

  const { attachments } = results.get("fails an assertion")!;
  // Playwright adds an attachment of its own.
  expect(attachments.map(({ name }) => name).slice(0, 5)).toEqual([
    ...["understudy-journal.txt", "understudy-history.txt", "understudy.har", "understudy-bundle.json"],
    "understudy-sandbox.understudy",
  ]);
  const [journal, , har, bundle, world] = attachments.map(({ path }) => path);
  expect(readFileSync(journal!, "utf8")).toContain("GET /v1/models -> 200 (ok)");
  expect(JSON.parse(readFileSync(har!, "utf8")).log.entries).toHaveLength(1);
  expect((await runCommand(["replay", bundle!])).code).toBe(0);
  expect(await readWorld(world!)).toEqual(["/v1/models"]);
  expect(results.get("begins as the options say")!.attachments).toEqual([]);
  const junit = readFileSync(join(folder, "junit.xml"), "utf8");
  expect(junit).toMatch(/\[\[ATTACHMENT\|[^\]]*understudy-bundle[^\]]*\]\]/);
}, 180_000);
