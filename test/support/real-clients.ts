import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { hasRuntime } from "../../scripts/runtimes.mjs";

const run = promisify(execFile);

/** Skips the test where the machine lacks a runtime of scripts/runtimes.mjs. */
export function requireRuntime(test: TestContext, name: string): void {
  if (!hasRuntime(name)) test.skip(`${name} is not installed`);
}

/** The JSON that a program with Python's requests prints, run in a folder. */
export async function runRequests(test: TestContext, program: string, args: string[], cwd = tmpdir()) {
  requireRuntime(test, "python3 -c 'import requests'");
  return JSON.parse((await run("python3", ["-c", program, ...args], { cwd })).stdout);
}

/** The JSON that a PHP program prints, run in a folder. */
export async function runPhp(test: TestContext, program: string, args: string[], cwd = tmpdir()) {
  requireRuntime(test, "php with curl");
  return JSON.parse((await run("php", ["-r", program, "--", ...args], { cwd })).stdout);
}

/** The output of a Python program. */
export async function runPython(test: TestContext, program: string, ...args: string[]): Promise<string> {
  requireRuntime(test, "python3");
  return (await run("python3", ["-c", program, ...args])).stdout.trim();
}

/** The same for the body of a Java method that may throw anything. */
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
