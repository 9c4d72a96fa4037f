import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { hasRuntime } from "../../scripts/runtimes.mjs";

const run = promisify(execFile);

/** What the program prints. Its test is skipped where the language is missing. */
export async function runPython(test: TestContext, program: string, ...args: string[]): Promise<string> {
  if (!hasRuntime("python3")) test.skip("python3 is not installed");
  return (await run("python3", ["-c", program, ...args])).stdout.trim();
}

/** The same for the body of a Java method that may throw anything. */
export async function runJava(test: TestContext, body: string, ...args: string[]): Promise<string> {
  if (!hasRuntime("java")) test.skip("java is not installed");
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
