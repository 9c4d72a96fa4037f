import { describe, expect, it } from "vitest";
import { junit } from "../../src/tools/reports/junit.ts";

/** The elements of junit-10.xsd (Jenkins' xUnit plugin) with their attributes and children. */
const SCHEMA: Readonly<Record<string, { attributes: readonly string[]; children: readonly string[] }>> = {
  testsuites: {
    attributes: ["name", "time", "tests", "failures", "errors", "disabled"],
    children: ["testsuite"],
  },
  testsuite: {
    attributes: ["name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id"],
    children: ["properties", "testcase", "system-out", "system-err"],
  },
  properties: { attributes: [], children: ["property"] },
  property: { attributes: ["name", "value"], children: [] },
  testcase: {
    attributes: ["name", "classname", "time", "assertions", "status"],
    children: ["skipped", "error", "failure", "system-out", "system-err"],
  },
  skipped: { attributes: ["message", "type"], children: [] },
  failure: { attributes: ["message", "type"], children: [] },
  error: { attributes: ["message", "type"], children: [] },
  "system-out": { attributes: [], children: [] },
};

/** Problems of a document that this program wrote, whose texts are escaped. */
function findProblems(xml: string): string[] {
  const problems: string[] = [];
  const open: string[] = [];
  for (const [, close, tag = "", attributes = "", end] of xml.matchAll(
    /<(\/?)([a-z-]+)((?: [^>]*?)?)(\/?)>/g,
  )) {
    if (close === "/") {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    if (parent !== undefined && !SCHEMA[parent]!.children.includes(tag)) problems.push(`${tag} in ${parent}`);
    for (const [, name = ""] of attributes.matchAll(/ ([\w-]+)="/g))
      if (!SCHEMA[tag]?.attributes.includes(name)) problems.push(`${name} of ${tag}`);
    if (end !== "/") open.push(tag);
  }
  return problems;
}

describe("JUnit reports in Jenkins", () => {
  it("every kind of test case and suite fits the schema of the xUnit plugin", () => {
    const one = { name: "case", classname: "suite", time_seconds: 0.5, system_out: "printed" };
    const problem = { message: "m", detail: "d" };
    const xml = junit({
      name: "all",
      suites: [
        {
          name: "one",
          properties: [{ name: "coverage", value: "7 percent" }],
          cases: [one, { ...one, failure: problem }, { ...one, error: problem }, { ...one, skipped: "why" }],
        },
      ],
    });
    expect(findProblems(xml)).toEqual([]);
    expect(findProblems(xml.replace("<skipped", "<properties"))).toEqual([
      "properties in testcase",
      "message of properties",
    ]);
  });
});
