import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";

const FOLDER = join(import.meta.dirname, "recordings");
const contract = new Contract(RESOURCES);

/**
 * By folder of README.md: the number of checked entries, and the reasons why others are not checked, or only in part.
 */
const RECORDINGS: Readonly<Record<string, [checked: number, reasons?: Record<string, number>]>> = {
  "axios-har-tracker": [21],
  "chrome-har": [21, { "with the headers of a redirect": 1, "with the body cut short": 20 }],
  "chrome-har-capturer": [21, { "from a browser's cache": 1 }],
  "chrome-har-without-bodies": [21, { "with the headers of a redirect": 1, "with the body left out": 20 }],
  "firefox-bidi": [22, { "from a browser's cache": 1, "with the body left out": 21 }],
  "json-caching-proxy": [17],
  mitmproxy: [18, { "with the body cut short": 1 }],
  "mitmproxy-chromium": [22],
  "mitmproxy-h2": [8],
  "node-fetch-har": [21],
  "playwright-attach": [21, { "from a browser's cache": 1 }],
  "playwright-embed": [21, { "from a browser's cache": 1 }],
  "playwright-h2-brotli": [22],
  "playwright-har": [21, { "with the body left out": 1 }],
  "playwright-minimal": [21, { "from a browser's cache": 1 }],
  "playwright-omit": [21, { "from a browser's cache": 1, "with the body left out": 20 }],
  "playwright-zip": [22, { "from a browser's cache": 1 }],
  pollyjs: [22],
  "puppeteer-har": [21, { "with the body left out": 1 }],
  "understudy-journal": [60, { "with masked values": 6 }],
  "understudy-record": [23, { "with masked values": 2 }],
};

const verify = (name: string) =>
  verifyRecorded({ contract, file: join(FOLDER, name, "traffic.har"), target: undefined });

describe("a recording of a correct server", () => {
  it.each(Object.entries(RECORDINGS))("by %s passes", async (name, [checked, reasons]) => {
    const report = await verify(name);
    const open = report.checks.flatMap(({ failures, differences }) => [...failures, ...differences]);
    expect([report.verdict, open]).toEqual(["pass", []]);
    const { not_checked, partly_checked, ...counts } = report.recorded!;
    const { "a browser's preflight": _, ...others } = not_checked;
    expect(counts.checked).toBe(checked);
    expect({ ...others, ...partly_checked }).toEqual(reasons ?? {});
    expect(report.summary.passed).toBeGreaterThan(20);
  });

  it("is listed with the program that wrote it", () => {
    const readme = readFileSync(join(FOLDER, "README.md"), "utf8");
    const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(RECORDINGS).toSorted());
    for (const { name } of folders) expect(readme).toContain(`| \`${name}\` |`);
  });
});
