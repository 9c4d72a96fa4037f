import { spawn } from "node:child_process";
import { hasRuntime } from "../../scripts/runtimes.mjs";

const PYTHON = "python3 -c 'import requests'";
const PHP = "php with curl";

export const hasPython = hasRuntime(PYTHON);
export const hasPhp = hasRuntime(PHP);

/** Runs a program of a real client and returns what it prints as JSON. */
function runClient(command: string, args: readonly string[], cwd: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(JSON.parse(stdout)) : reject(new Error(stderr))));
  });
}

export const runPython = (code: string, args: readonly string[], cwd: string) =>
  runClient("python3", ["-c", code, ...args], cwd);

export const runPhp = (code: string, args: readonly string[], cwd: string) =>
  runClient("php", ["-r", code, "--", ...args], cwd);
