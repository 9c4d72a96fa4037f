// What the tests need and the machine lacks, from the distribution's packages.

import { spawnSync } from "node:child_process";

const SECOND = 1000;
const APT = [
  "-q",
  "-y",
  "-o",
  "DPkg::Lock::Timeout=60",
  "-o",
  "Acquire::Retries=2",
  "-o",
  "Acquire::http::Timeout=20",
];

/** For this process: unreachable sources are not tried again, and fresh lists are not updated again. */
let reachesNone = false;
let updated = false;

/** Undefined when it went well, else why not, on one line. */
export function run(command, args, seconds) {
  return outcome(command, args, seconds).failure;
}

function outcome(command, args, seconds) {
  // What apt-get says is read below.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { encoding: "utf8", timeout: seconds * SECOND, env };
  const { status, error, stderr, stdout } = spawnSync(command, args, options);
  const said = `${stdout}\n${stderr}`;
  if (status === 0) return { said };
  if (error?.code === "ETIMEDOUT") return { said, late: true, failure: `no end after ${seconds} s` };
  if (error) return { said, failure: error.message };
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.findLast((line) => /^(E:|Error)/.test(line)) ?? lines.at(-1) ?? `exit code ${status}`;
  return { said, failure: line.slice(0, 300) };
}

/** Undefined when they are installed, else why not. */
export function installFromDebian(packages) {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "apt-get needs root on a Debian-like system";
  if (reachesNone) return "not tried, as apt-get reached none of its sources";
  const install = ["install", "--no-install-recommends", ...packages];
  const failure = apt(install, 300);
  if (failure === undefined || reachesNone || updated) return failure;
  // The lists of packages are old, or missing as in most container images.
  updated = true;
  return apt(["update"], 120) ?? apt(install, 300);
}

function apt(args, seconds) {
  const { said, late, failure } = outcome("apt-get", [...APT, ...args], seconds);
  // A source that answers counts as reached, even if it no longer has the file.
  const answered = /^(Hit|Get):|^ +\d{3} {2}/m.test(said);
  reachesNone = !answered && (late === true || /^Err:/m.test(said));
  if (!reachesNone) return failure;
  // An update makes a warning of it, and a success.
  const why = /^[EW]: Failed to fetch (.*)/m.exec(said)?.[1] ?? failure ?? "none answered";
  return `apt-get reached none of its sources (${why.slice(0, 300)})`;
}
