import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { useChromium } from "../support/browser/with-chromium.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const chromium = useChromium();
let api: Api;
/** A page's traffic, recorded into a ZIP by Playwright. */
let zip: string;
beforeAll(async () => {
  api = await startReference();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

const PATHS = [
  "/v1/models",
  "/v1/assistants/asst_helper/history",
  "/v1/assistants/asst_gone/history",
  "/webhooks",
];

async function record(): Promise<string> {
  const path = join(createTempFolder(), "traffic.har.zip");
  const context = await chromium().newContext({
    recordHar: { path },
    extraHTTPHeaders: { "api-key": KEYS.ada },
  });
  const page = await context.newPage();
  for (const one of PATHS) {
    const response = await page.goto(api.url + one);
    // Wait for the body: Chromium drops it at the next navigation, before Playwright reads it.
    await response!.body();
  }
  await context.close();
  return path;
}

describe("a recording in a ZIP, as Playwright writes it", () => {
  it("is checked with its bodies, and leaves nothing behind", async () => {
    zip = await record();
    // Other test files run at the same time and have such folders too.
    const temporary = createTempFolder();
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, stdout } = await runCommand(["verify", "--har", zip]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/4 of 4 .*checked/)]);
    expect(stdout).not.toMatch(/left out|cut short/);
    expect(readdirSync(temporary)).toEqual([]);
    const fixture = join(createTempFolder(), "made.yaml");
    const made = await runCommand(["fixture", "from-har", zip, "--out", fixture]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(readFileSync(fixture, "utf8")).toContain("comet-mini");
  });

  it("gets the same verdicts if Python repacked it, deflated or stored", async () => {
    zip ??= await record();
    const { stdout } = await runCommand(["verify", "--har", zip]);
    for (const how of ["ZIP_DEFLATED", "ZIP_STORED"]) {
      const again = join(createTempFolder(), "again.ZIP");
      const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w", zipfile.${how}) as new:
    new.comment = b"packed anew"
    for name in old.namelist(): new.writestr(name, old.read(name))`;
      execFileSync("python3", ["-c", program, zip, again]);
      const checked = await runCommand(["verify", "--har", again]);
      expect(omitTime(checked.stdout.replaceAll(again, zip))).toBe(omitTime(stdout));
    }
  });

  it.each([
    ["as Firefox names it", "api.example.com_Archive [26-11-28 10-10-10].har"],
    ["in a folder, beside a file of macOS", "recordings/traffic.har"],
    ["in another spelling", "ÜBUNG.HAR"],
  ])("is found in a ZIP %s", async (_title, name) => {
    const file = join(createTempFolder(), "named.zip");
    const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as new:
    new.writestr("recordings/", "")
    new.writestr("__MACOSX/recordings/._traffic.har", "not an archive")
    new.writestr(sys.argv[2], sys.argv[3])`;
    const har = { log: { version: "1.2", creator: { name: "other" }, entries: [] } };
    execFileSync("python3", ["-c", program, file, name, JSON.stringify(har)]);
    const { code, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${file} has no entries, so there is nothing to check`),
    ]);
  });

  it.each<[what: string, change: (bytes: Buffer) => Buffer, says: RegExp]>([
    ["cut short", (bytes) => bytes.subarray(0, bytes.length / 2), /it is cut short/],
    ["empty", () => Buffer.alloc(0), /it is cut short/],
    ["not a ZIP", () => Buffer.from('{"log":{}}'), /it is cut short/],
    ["without a .har", (bytes) => replaceAll(bytes, "har.har", "har.txt"), /it has no \.har file/],
    ["encrypted", (bytes) => setFlag(bytes), /it is encrypted/],
    ["damaged", (bytes) => bytes.fill(0xff, 60, 90), /cannot be unpacked/],
  ])("is refused with advice to unpack it if it is %s", async (_what, change, says) => {
    zip ??= await record();
    const file = join(createTempFolder(), "bad.zip");
    writeFileSync(file, change(Buffer.from(readFileSync(zip))));
    const { code, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(stderr).toContain("unpack it yourself, and give the .har file in it");
  });

  it("is refused if it is one of several in a ZIP", async () => {
    const file = join(createTempFolder(), "several.zip");
    const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as new:
    for name in ["a.har", "b/b.har"]: new.writestr(name, "{}")`;
    execFileSync("python3", ["-c", program, file]);
    const { code, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/it has 2 \.har files\); unpack it yourself, and give the \.har file/),
    ]);
  });

  it("is refused with the name of a damaged recording in it, and leaves nothing behind", async () => {
    const file = join(createTempFolder(), "bad.har.zip");
    const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as new: new.writestr("har.har", "{no")`;
    execFileSync("python3", ["-c", program, file]);
    const { code, stderr } = await runCommand(["verify", "--har", file]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/har\.har is not an HTTP Archive/)]);
  });
});

const omitTime = (text: string) => text.replace(/[\d.]+ s\)/, "");

const replaceAll = (bytes: Buffer, from: string, to: string) =>
  Buffer.from(bytes.toString("latin1").replaceAll(from, to), "latin1");

/** Marks the first file in the central directory as encrypted. */
function setFlag(bytes: Buffer): Buffer {
  bytes[bytes.indexOf("PK\u0001\u0002", 0, "latin1") + 8]! |= 1;
  return bytes;
}
