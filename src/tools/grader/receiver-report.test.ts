import { describe, expect, it } from "vitest";
import type { CheckReport, ReceiverReport } from "../../../types/control-api.ts";
import { writeJunit } from "../reports/junit.ts";
import { formatText, listReceiverCases, renderReceiverHtml } from "./receiver-report.ts";

const HOSTILE = `<script>alert(1)</script>"'&\u001b[2J`;

function createReport(check: Partial<CheckReport>): ReceiverReport {
  return {
    url: `http://127.0.0.1:3000/?${HOSTILE}`,
    probe: null,
    started_at: "2026-01-05T08:00:00.000Z",
    duration_ms: 1234,
    verdict: "fail",
    fail_on: "minor",
    manual_checks: [{ what: "Constant time", how: "Look for it." }],
    stopped: `It stopped ${HOSTILE}`,
    summary: { total: 1, passed: 0, failed: 1, not_observable: 0, error: 0 },
    checks: [
      {
        id: "signature-missing",
        title: "Refuses a delivery without a signature",
        severity: "critical",
        why: "Anyone could post.",
        outcome: "failed",
        detail: `answered 200: ${HOSTILE}`,
        advice: "Refuse with 401.",
        note: HOSTILE,
        duration_ms: 12,
        request: {
          method: "POST",
          url: "http://127.0.0.1:3000/",
          headers: [],
          body: HOSTILE,
          body_bytes: 40,
        },
        curl: `curl '${HOSTILE}'`,
        ...check,
      },
    ],
  };
}

describe("the receiver test's reports [interfaces 2]", () => {
  it("HTML shows verdict, outcome, reason, advice and request, all escaped [interfaces 2]", () => {
    const html = renderReceiverHtml(createReport({}));
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;");
    for (const text of [
      "FAIL",
      "failed",
      "critical",
      "Anyone could post.",
      "Refuse with 401.",
      "<pre>curl",
    ]) {
      expect(html).toContain(text);
    }
    expect(html.indexOf("FAIL")).toBeLessThan(html.indexOf("What to fix"));
    expect(html.indexOf("What to fix")).toBeLessThan(html.indexOf("Every check"));
  });

  it("HTML loads nothing from the network [interfaces 2]", () => {
    // A link within the page loads nothing.
    expect(renderReceiverHtml(createReport({}))).not.toMatch(/\bsrc=|\bhref=(?!"#)|@import|url\(/);
  });

  it.each([
    { outcome: "failed", element: "<failure" },
    { outcome: "error", element: "<error" },
    { outcome: "not-observable", element: "<skipped" },
  ] as const)("JUnit reports $outcome as $element [interfaces 2]", ({ outcome, element }) => {
    const xml = writeJunit(listReceiverCases(createReport({ outcome })));
    const found = ["<failure", "<error", "<skipped"].filter((one) => xml.includes(`${one} `));
    expect(found).toEqual([element]);
  });

  it("text has colours only on request, and never other control characters [interfaces 2]", () => {
    const plain = formatText(createReport({}));
    expect(plain.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    const coloured = formatText(createReport({}), { colour: true });
    expect(coloured).toContain("\u001b[31mFAIL");
    expect(coloured).not.toContain("\u001b[2J");
    const hidden = formatText(createReport({ detail: "\u001b[8mhidden" }), { colour: true });
    expect(hidden).toContain("\\u001b[8mhidden");
  });
});
