import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type JunitCase, writeJunit } from "./junit.ts";

const HOSTILE = `a<b>&"c'\u0000\u0007\u001b[31m\ud800 \ufffe é 😀 ]]>\n\tline`;

/** Reads the document with a strict parser, so that what is not well-formed XML throws. */
function parseXml(xml: string): { tag: string; attributes: Record<string, string>; text: string }[] {
  const script = `
import json, sys, xml.etree.ElementTree as E
root = E.fromstring(sys.stdin.buffer.read())
print(json.dumps([{"tag": e.tag, "attributes": e.attrib, "text": e.text or ""} for e in root.iter()]))`;
  return JSON.parse(execFileSync("python3", ["-c", script], { input: xml }).toString());
}

function makeCase(extra: Partial<JunitCase> = {}): JunitCase {
  return { name: "case", classname: "suite", time_seconds: 0.25, ...extra };
}

describe("JUnit reports [2]", () => {
  it("count failures, errors and skipped cases per suite and in all [2]", () => {
    const xml = writeJunit({
      name: "all",
      suites: [
        {
          name: "one",
          cases: [
            makeCase(),
            makeCase({ failure: { message: "m", detail: "d" } }),
            makeCase({ skipped: "why" }),
          ],
        },
        { name: "two", cases: [makeCase({ error: { message: "m", detail: "d" } })] },
      ],
    });
    const elements = parseXml(xml);
    const counts = elements
      .filter(({ tag }) => tag.startsWith("testsuite"))
      .map(({ attributes }) => attributes);
    expect(counts).toEqual([
      { name: "all", tests: "4", failures: "1", errors: "1", time: "1.000" },
      { name: "one", tests: "3", failures: "1", errors: "0", skipped: "1", time: "0.750" },
      { name: "two", tests: "1", failures: "0", errors: "1", skipped: "0", time: "0.250" },
    ]);
    expect(elements.find(({ tag }) => tag === "skipped")!.attributes["message"]).toBe("why");
  });

  it("stay well-formed with any name, message and output [2]", () => {
    const failure = { message: HOSTILE, detail: HOSTILE };
    const cases = [makeCase({ name: HOSTILE, failure, system_out: HOSTILE })];
    const elements = parseXml(writeJunit({ name: HOSTILE, suites: [{ name: HOSTILE, cases }] }));
    const clean = `a<b>&"c'[31m  é 😀 ]]>\n\tline`;
    const findByTag = (tag: string) => elements.find((element) => element.tag === tag)!;
    expect(findByTag("testcase").attributes["name"]).toBe(clean);
    expect(findByTag("failure")).toEqual({ tag: "failure", attributes: { message: clean }, text: clean });
    expect(findByTag("system-out").text).toBe(clean);
  });
});
