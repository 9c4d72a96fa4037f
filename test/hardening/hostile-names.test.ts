import { describe, expect, it } from "vitest";
import { renderSuiteHtml } from "../../src/client/suite/suite-reports.ts";
import type { SuiteResult } from "../../src/client/suite/suite-result.ts";
import { renderReceiverHtml } from "../../src/tools/grader/receiver-report.ts";
import type { CoverageMatrix } from "../../src/tools/reports/coverage.ts";
import { renderCoverageHtml } from "../../src/tools/reports/coverage-html.ts";
import { renderVerifyHtml, type VerifyReport } from "../../src/tools/verify/report.ts";
import type { ReceiverReport } from "../../types/control-api.ts";

/** Text that ends HTML text, attributes in either quotes, comments and style sheets, if it is not escaped. */
const HOSTILE = `</style></pre>--><script>alert(1)</script><img src=x onerror="alert(1)">" onclick='x' "><b>&amp;</b>`;
const CALM = HOSTILE.replace(/[<>"'&]/g, "x");

/** Fields that decide which parts a report has. Their values never come from a user. */
const FIXED_FIELDS = new Set(["verdict", "outcome", "severity", "family", "started_at"]);

/** Replaces every string and name that a user may have chosen by `text`. */
function withText(value: unknown, text: string): unknown {
  if (typeof value === "string") return text;
  if (Array.isArray(value)) return value.map((one) => withText(one, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, FIXED_FIELDS.has(name) ? one : withText(one, text)]),
  );
}

/** The elements of the page in order, with the names of their attributes. */
function listElements(page: string): string[] {
  const [, body = ""] = page.split("<body>");
  return [...body.matchAll(/<(\/?\w+)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*>|</g)].map(([tag, name, attributes]) =>
    name === undefined
      ? tag
      : [name, ...[...attributes!.matchAll(/([\w-]+)(?:="[^"]*")?/g)].map(([, n]) => n)].join(" "),
  );
}

const suite: SuiteResult = {
  ...{ ok: false, total: 1, passed: 0, failed: 1, skipped: 0, duration_ms: 1, command: ["a", "b"] },
  coverage: { percent: 0.2, covered: 1, total: 500 },
  scenarios: [
    {
      ...{ name: "a", file: "a", description: "a", sandbox: "a", outcome: "failed", failures: ["a"] },
      ...{ exit_code: null, signal: "a", duration_ms: 1, requests: 1, output: "a", bundle: { a: "a" } },
      rules: [{ id: "a", hits: 0 }],
      expectations: [{ what: "a", ok: false, found: 0, why: "a" }],
      tests: [{ name: "a", sandbox: "a", outcome: "failed" }],
      stages: [
        {
          name: "a",
          verdict: "failed",
          why: ["a"],
          requests: 1,
          rules: [],
          expectations: [{ what: "a", ok: false }],
        },
      ],
      journal: [
        {
          ...{
            test: "a",
            id: "a",
            at: "a",
            operation: "a",
            method: "a",
            path: "a",
            status: 404,
            code: "a",
            duration_ms: 1,
            seq: 1,
            sequence: 1,
            kind: "request",
            delivery: null,
          },
          ...{ principal: "a", api_key: "a", decision: "a", reasons: ["a"], warnings: ["a"], history: "a" },
          request: { query: "a", headers: [{ name: "a", value: "a" }], body: { a: "a" } },
          response: { headers: [], body: "a" },
        },
      ],
    },
  ],
};

const coverage: CoverageMatrix = {
  ...{ percent: 50, covered: 1, total: 2 },
  operations: [
    {
      ...{ operation: "a", section: "a", method: "GET", path: "a", percent: 50 },
      outcomes: [
        { status: 200, code: null, hits: 3 },
        { status: 404, code: "RESOURCE_NOT_FOUND", hits: 0 },
      ],
      other: [{ outcome: "a", hits: 1 }],
    },
  ],
};

const receiver: ReceiverReport = {
  ...{
    url: "a",
    probe: "a",
    started_at: "2026-01-05T08:00:00.000Z",
    duration_ms: 1,
    verdict: "fail",
    fail_on: "minor",
    stopped: "a",
  },
  summary: { total: 1, passed: 0, failed: 1, not_observable: 0, error: 0 },
  manual_checks: [{ what: "a", how: "a" }],
  checks: [
    {
      ...{ id: "a", title: "a", severity: "major", why: "a", outcome: "failed", detail: "a", advice: "a" },
      ...{ note: "a", duration_ms: 1, curl: "a" },
      request: { method: "a", url: "a", headers: [["a", "a"]], body: "a", body_bytes: 1 },
    },
  ],
};

const verification: VerifyReport = {
  ...{
    target: "a",
    started_at: "2026-01-05T08:00:00.000Z",
    verdict: "fail",
    fail_on: "minor",
    stopped: "a",
    organization_id: "a",
  },
  ...{ duration_ms: 1, requests: 1, write: true },
  summary: { total: 1, passed: 0, failed: 1, differs: 0, not_observable: 0 },
  console: "a",
  recorded: null,
  assumptions: [{ id: "a", topic: "a", confirmed: 0, differs: 1 }],
  changes: [{ done: "a", undone: false, detail: "a" }],
  checks: [
    {
      ...{ id: "a", section: "a", title: "a", family: "headers", outcome: "failed", duration_ms: 1 },
      ...{
        failures: ["a"],
        differences: [{ assumption: "a", detail: "a" }],
        not_observed: ["a"],
        notes: ["a"],
      },
      requests: [{ method: "a", path: "a", status: 200, request_id: "a" }],
    },
  ],
};

describe("a hostile name", () => {
  it.each([
    ["suite", suite, renderSuiteHtml],
    [
      "coverage",
      coverage,
      (matrix: CoverageMatrix) => renderCoverageHtml(matrix, matrix.operations[0]!.path),
    ],
    ["receiver-test", receiver, renderReceiverHtml],
    ["verify", verification, renderVerifyHtml],
  ] as [string, object, (report: never) => string][])(
    "adds no elements or attributes to the page of %s [interfaces 2]",
    (_name, report, page) => {
      const hostile = page(withText(report, HOSTILE) as never);
      expect(listElements(hostile)).toEqual(listElements(page(withText(report, CALM) as never)));
      expect(hostile).toContain("&lt;script&gt;");
      expect(hostile).not.toMatch(/<(?:script|img)\b/);
    },
  );
});
