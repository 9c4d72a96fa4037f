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

/** Undefined when it went well, else why not, on one line. */
export function run(command, args, seconds) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { encoding: "utf8", timeout: seconds * SECOND, env };
  const { status, error, stderr, stdout } = spawnSync(command, args, options);
  if (status === 0) return undefined;
  if (error?.code === "ETIMEDOUT") return `no end after ${seconds} s`;
  if (error) return error.message;
  const lines = `${stdout}\n${stderr}`
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const said = lines.findLast((line) => /^(E:|Error)/.test(line)) ?? lines.at(-1) ?? `exit code ${status}`;
  return said.slice(0, 300);
}

/** Undefined when they are installed, else why not. */
export function installFromDebian(packages) {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "apt-get needs root on a Debian-like system";
  const install = [...APT, "install", "--no-install-recommends", ...packages];
  if (run("apt-get", install, 300) === undefined) return undefined;
  // The lists of packages are old, or missing as in most container images.
  return run("apt-get", [...APT, "update"], 120) ?? run("apt-get", install, 300);
}
