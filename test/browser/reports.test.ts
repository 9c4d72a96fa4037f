import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { renderSuiteHtml } from "../../src/client/suite/suite-reports.ts";
import { gradeReceiver } from "../../src/tools/grader/grade-receiver.ts";
import { renderReceiverHtml } from "../../src/tools/grader/receiver-report.ts";
import { listManualChecks, OPTION_NAMES } from "../../src/tools/grader/report.ts";
import { renderCoverageHtml } from "../../src/tools/reports/coverage-html.ts";
import { renderVerifyHtml } from "../../src/tools/verify/report.ts";
import { findConsoleFiles } from "../support/browser/console.ts";
import { openPage, PATIENCE_MS, see, useChromium } from "../support/browser/with-chromium.ts";
import { startReference } from "../support/harness.ts";
import { startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { runCommand } from "../support/run-understudy.ts";

const chromium = useChromium();
const folder = mkdtempSync(join(tmpdir(), "understudy-reports-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "whsec_9b1d4f2c7a60e358";
/** Text that loads a file, runs a script or breaks the layout if it is not escaped. */
const HOSTILE = `<img src="http://127.0.0.1:9/x.png" onerror="document.title=1"><script>document.title=1</script>${"long".repeat(80)}`;

async function createReceiverReport(): Promise<string> {
  const receiver = await startReceiver(SECRET, {});
  try {
    const report = await gradeReceiver(receiver.url, {
      secret: "whsec_another",
      settleMs: 5,
      patienceMs: 50,
    });
    return renderReceiverHtml({
      ...report,
      stopped: HOSTILE,
      checks: report.checks.map((one) => ({ ...one, note: HOSTILE })),
    });
  } finally {
    await receiver.close();
  }
}

async function createSuiteReport(): Promise<string> {
  const api = await startReference();
  await api.call("dan", "POST", `/v1/${encodeURIComponent(HOSTILE)}`, { HOSTILE });
  const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
  await api.close();
  const run = {
    ...{ name: HOSTILE, file: HOSTILE, description: HOSTILE, sandbox: "x", signal: null, duration_ms: 1200 },
    ...{ exit_code: 1, requests: 1, output: HOSTILE, bundle: { HOSTILE } },
    journal: body.entries.map((entry: object) => ({ ...entry, test: HOSTILE })),
    rules: [{ id: HOSTILE, hits: 0 }],
    expectations: [{ what: HOSTILE, ok: false, found: 0 }],
    tests: [{ name: HOSTILE, sandbox: HOSTILE, outcome: "failed" as const }],
    stages: [
      {
        ...{ name: HOSTILE, verdict: "inconclusive" as const, why: [HOSTILE], requests: 1 },
        rules: [{ id: HOSTILE, hits: 0 }],
        expectations: [{ what: HOSTILE, ok: false, why: HOSTILE }],
      },
    ],
  };
  return renderSuiteHtml({
    ...{
      ok: false,
      total: 2,
      passed: 1,
      failed: 1,
      skipped: 0,
      duration_ms: 2400,
      command: ["node", HOSTILE],
      coverage: { percent: 0.2, covered: 1, total: 500 },
    },
    scenarios: [
      { ...run, name: "calm", outcome: "passed", failures: [], journal: [], bundle: undefined },
      { ...run, outcome: "failed", failures: [HOSTILE] },
    ],
  });
}

async function createCoverageReport(): Promise<string> {
  const api = await startReference();
  await api.call("dan", "GET", "/v1/models");
  const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/coverage");
  await api.close();
  return renderCoverageHtml(body, `Coverage of sandbox ${HOSTILE}`);
}

/** A report with a failed and an assumed check, of a target that is an Understudy. */
async function createVerifyReport(
  console = "http://127.0.0.1:4747/_console/s/default",
  request = "req_5e1f",
): Promise<string> {
  const check = {
    ...{ id: "a/b", section: "4.3", title: HOSTILE, duration_ms: 1, failures: [], differences: [] },
    ...{ not_observed: [], notes: [], requests: [] },
  };
  return renderVerifyHtml({
    ...{ target: "http://127.0.0.1:4747", organization_id: "org_acme", verdict: "fail", stopped: null },
    ...{ started_at: "2026-01-05T08:00:00.000Z", duration_ms: 1, requests: 1, write: true, recorded: null },
    console,
    summary: { total: 2, passed: 1, failed: 1, differs: 0, not_observable: 0 },
    assumptions: [{ id: "G08", topic: "Malformed values", confirmed: 580, differs: 1 }],
    changes: [{ done: HOSTILE, undone: false, detail: HOSTILE }],
    checks: [
      { ...check, family: "credentials", outcome: "passed" },
      {
        ...check,
        ...{ family: "headers", outcome: "failed", failures: [HOSTILE] },
        requests: [{ method: "GET", path: "/v1/models", status: 200, request_id: request }],
      },
    ],
  });
}

describe("an HTML report in a browser", { timeout: 4 * PATIENCE_MS }, () => {
  it.each([
    ["receiver-test", createReceiverReport, /^Fail: webhook receiver http/],
    ["suite", createSuiteReport, /^1 of 2 scenarios failed$/],
    ["coverage", createCoverageReport, /^Coverage of sandbox <img/],
    ["verify", createVerifyReport, /^Fail: contract of http/],
  ])("of %s loads nothing, runs nothing and fits a phone [interfaces 2]", async (name, make, title) => {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, await make());
    const { page, complaints } = await openPage(chromium());
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.setViewportSize({ width: 360, height: 740 });
    const url = pathToFileURL(file).href;
    await page.goto(url, { waitUntil: "networkidle" });
    expect(await page.title()).toMatch(title);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    // No column is cut off.
    const overflow = `[...document.querySelectorAll("[role=region]")].map((one) => one.scrollWidth - one.clientWidth)`;
    for (const hidden of (await page.evaluate(overflow)) as number[]) expect(hidden).toBe(0);
    expect(await page.locator("html[lang=en]").count()).toBe(1);
    expect(await page.locator("h1").count()).toBe(1);
    expect(await page.locator("footer").textContent()).toMatch(
      /^Understudy \d+\.\d+\.\d+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    );
    // Every internal link has a target.
    for (const link of await page.locator('a[href^="#"]').all()) {
      const target = (await link.getAttribute("href"))!.slice(1);
      expect(await page.locator(`[id="${target}"]`).count()).toBe(1);
    }
    const shown = page.locator('h2:text-is("To check in the code") + ul > li');
    const manual = name === "receiver-test" ? listManualChecks(OPTION_NAMES.library) : [];
    expect(await shown.locator("b").allTextContents()).toEqual(manual.map(({ what }) => `${what}.`));
    for (const item of await shown.all()) expect((await item.boundingBox())!.height).toBeGreaterThan(0);
    // Failures come first and link to the console.
    const outcomes = await page.locator("td .badge, .check .badge").allTextContents();
    const failed = outcomes.map((outcome) => outcome === "failed");
    expect(failed).toEqual(failed.toSorted((a, b) => Number(b) - Number(a)));
    if (name === "verify")
      expect(await page.evaluate("[...document.links].map(({ href }) => href)")).toEqual([
        "http://127.0.0.1:4747/_console/s/default/timeline?entry=req_5e1f",
      ]);
    expect(requests).toEqual([url]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("has links that open in the console [interfaces 2]", async () => {
    findConsoleFiles();
    const api = await startReference();
    const S = "/_control/sandboxes/default";
    const { headers } = await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const { body: receiver } = await api.call(undefined, "POST", `${S}/receivers`, { secret: SECRET });
    const graded = await gradeReceiver(receiver.url, {
      secret: SECRET,
      only: ["valid-accepted"],
      settleMs: 5,
    });
    const file = join(folder, "coverage-of-command.html");
    const { code } = await runCommand(["coverage", "--url", api.url, "--html", file]);
    expect(code).toBe(0);
    const requestId = headers.get("x-request-id")!;
    writeFileSync(join(folder, "sent.html"), renderReceiverHtml(graded));
    writeFileSync(
      join(folder, "verified.html"),
      await createVerifyReport(`${api.url}/_console/s/default`, requestId),
    );
    for (const [page, link, region] of [
      ["coverage-of-command.html", "threads.delete", "Outcomes of threads.delete"],
      ["sent.html", /^each request/, `Receiver ${receiver.id}`],
      ["verified.html", /models/, /^Entry \d+$/],
    ] as const) {
      const { page: report } = await openPage(chromium(), pathToFileURL(join(folder, page)).href);
      await report.getByRole("link", { name: link }).first().click();
      await see(report.getByRole("region", { name: region })).toBeVisible();
      await report.close();
    }
    await api.close();
  });
});
