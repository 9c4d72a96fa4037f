import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { hasRuntime } from "../../scripts/runtimes.mjs";

const run = promisify(execFile);

/** Skips the test if the machine lacks a runtime of scripts/runtimes.mjs. */
export function requireRuntime(test: TestContext, name: string): void {
  if (!hasRuntime(name)) test.skip(`${name} is not installed`);
}

/** Runs a program that uses Python's requests. Returns the JSON that it prints. */
export async function runRequests(test: TestContext, program: string, args: string[], cwd = tmpdir()) {
  requireRuntime(test, "python3 -c 'import requests'");
  return JSON.parse((await run("python3", ["-c", program, ...args], { cwd })).stdout);
}

/** Runs a PHP program. Returns the JSON that it prints. */
export async function runPhp(test: TestContext, program: string, args: string[], cwd = tmpdir()) {
  requireRuntime(test, "php with curl");
  return JSON.parse((await run("php", ["-r", program, "--", ...args], { cwd })).stdout);
}

/** Runs a Python program. Returns its output. */
export async function runPython(test: TestContext, program: string, ...args: string[]): Promise<string> {
  requireRuntime(test, "python3");
  return (await run("python3", ["-c", program, ...args])).stdout.trim();
}

/** Runs the body of a Java method, which may throw any exception. Returns its output. */
export async function runJava(test: TestContext, body: string, ...args: string[]): Promise<string> {
  requireRuntime(test, "java");
  const folder = await mkdtemp(join(tmpdir(), "java-"));
  const file = join(folder, "Client.java");
  const imports = ["java.io", "java.net", "java.net.http", "java.time", "java.util"];
  try {
    await writeFile(
      file,
      `${imports.map((name) => `import ${name}.*;\n`).join("")}
class Client { public static void main(String[] args) throws Exception {\n${body}\n} }`,
    );
    return (await run("java", ["-XX:TieredStopAtLevel=1", file, ...args])).stdout.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}
