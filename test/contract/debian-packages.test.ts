import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

/** Output of apt-get, and its exit code. */
type Answer = readonly [said: string, code: number];

const DONE: Answer = ["Reading package lists...", 0];
const UNKNOWN: Answer = ["Reading package lists...\nE: Unable to locate package sl", 100];
const DEB = "http://deb.debian.org/debian/pool/main/s/sl/sl_5.02-1_amd64.deb";
const NO_WAY = "Could not connect to 127.0.0.1:9 (127.0.0.1). - connect (111: Connection refused)";
const UNREACHED: Answer = [
  `Err:1 http://deb.debian.org sl\n  ${NO_WAY}\nE: Failed to fetch ${DEB}  ${NO_WAY}`,
  100,
];
const OLD: Answer = [
  `Err:1 http://deb.debian.org sl\n  404  Not Found\nE: Failed to fetch ${DEB}  404  Not Found`,
  100,
];
const LISTS = "http://deb.debian.org/debian/dists/bookworm/InRelease";
/** apt-get reports this as a success. */
const NO_LISTS: Answer = [`Err:1 ${LISTS}\n  ${NO_WAY}\nW: Failed to fetch ${LISTS}  ${NO_WAY}`, 0];
const SOME_LISTS: Answer = [`Hit:1 http://one.test InRelease\n${NO_LISTS[0].replace("Err:1", "Err:2")}`, 0];
const NOT_TRIED = "not tried, as apt-get reached none of its sources";

/** Installs packages with a fake apt-get. Returns the result of each and the calls of apt-get. */
function install(answers: readonly Answer[], packages: readonly string[]) {
  const folder = createTempFolder();
  for (const [index, [output, code]] of answers.entries())
    writeFileSync(join(folder, `${index + 1}`), `cat <<'END'\n${output}\nEND\nexit ${code}\n`);
  const program = join(folder, "apt-get");
  const verb = 'for word; do case $word in install|update) echo $word >> "$0.log";; esac; done';
  writeFileSync(program, `#!/bin/sh\n${verb}\n. "\${0%/*}/$(($(wc -l < "$0.log")))"\n`);
  chmodSync(program, 0o755);
  const script = `
    Object.defineProperty(process, "platform", { value: "linux" });
    process.getuid = () => 0;
    const { installFromDebian } = await import(${JSON.stringify(pathToFileURL("scripts/debian.mjs"))});
    const ends = ${JSON.stringify(packages)}.map((name) => installFromDebian([name]) ?? "installed");
    process.stdout.write(JSON.stringify(ends));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${folder}:/usr/bin:/bin` },
  });
  const log = `${program}.log`;
  expect(stderr).toBe("");
  return {
    ends: JSON.parse(stdout) as string[],
    asked: existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").join(" ") : "",
  };
}

describe("installing Debian packages for tests", () => {
  it("waits once for unreachable sources, and says so", () => {
    expect(install([UNREACHED], ["sl", "chromium"])).toEqual({
      ends: [`apt-get reached none of its sources (${DEB}  ${NO_WAY})`, NOT_TRIED],
      asked: "install",
    });
  });

  it("waits once also if there are no lists, which apt-get reports as a success", () => {
    expect(install([UNKNOWN, NO_LISTS], ["sl", "chromium"])).toEqual({
      ends: [`apt-get reached none of its sources (${LISTS}  ${NO_WAY})`, NOT_TRIED],
      asked: "install update",
    });
  });

  it("renews lists that are old or missing once, also if a source cannot be reached", () => {
    for (const first of [OLD, UNKNOWN])
      for (const lists of [DONE, SOME_LISTS])
        expect(install([first, lists, DONE, UNKNOWN], ["sl", "chromium"])).toEqual({
          ends: ["installed", "E: Unable to locate package sl"],
          asked: "install update install install",
        });
  });
});
