// Installs packages of Debian that the tests need.

import { spawnSync } from "node:child_process";

const APT_OPTIONS = [
  ...["-q", "-y"],
  ...["-o", "DPkg::Lock::Timeout=60"],
  ...["-o", "Acquire::Retries=2"],
  ...["-o", "Acquire::http::Timeout=20"],
];
const INSTALL_SECONDS = 300;
const UPDATE_SECONDS = 120;

/** Whether apt-get has reached none of its sources in this process; then it is not tried again. */
let isOffline = false;
/** Whether this process has updated the lists of packages. */
let isUpdated = false;

/** Why the command failed, on one line; undefined if it succeeded. */
export function run(command, args, seconds) {
  return runForOutput(command, args, seconds).failure;
}

function runForOutput(command, args, seconds) {
  // In English, since the output of apt-get is read below.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { encoding: "utf8", timeout: seconds * 1000, env };
  const { status, error, stderr, stdout } = spawnSync(command, args, options);
  const output = `${stdout}\n${stderr}`;
  if (status === 0) return { output };
  if (error?.code === "ETIMEDOUT") return { output, timedOut: true, failure: `no end after ${seconds} s` };
  if (error) return { output, failure: error.message };
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.findLast((line) => /^(E:|Error)/.test(line)) ?? lines.at(-1) ?? `exit code ${status}`;
  return { output, failure: line.slice(0, 300) };
}

/** Why the packages could not be installed; undefined if they are. */
export function installFromDebian(packages) {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "apt-get needs root on a Debian-like system";
  if (isOffline) return "not tried, as apt-get reached none of its sources";
  const install = ["install", "--no-install-recommends", ...packages];
  const failure = runApt(install, INSTALL_SECONDS);
  if (failure === undefined || isOffline || isUpdated) return failure;
  // The lists of packages may be old, or missing as in most container images.
  isUpdated = true;
  return runApt(["update"], UPDATE_SECONDS) ?? runApt(install, INSTALL_SECONDS);
}

function runApt(args, seconds) {
  const { output, timedOut, failure } = runForOutput("apt-get", [...APT_OPTIONS, ...args], seconds);
  // A source that answers counts as reached, even if it no longer has the file.
  const isAnswered = /^(Hit|Get):|^ +\d{3} {2}/m.test(output);
  isOffline = !isAnswered && (timedOut === true || /^Err:/m.test(output));
  if (!isOffline) return failure;
  // `update` succeeds with a warning even then.
  const why = /^[EW]: Failed to fetch (.*)/m.exec(output)?.[1] ?? failure ?? "none answered";
  return `apt-get reached none of its sources (${why.slice(0, 300)})`;
}
