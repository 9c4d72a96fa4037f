import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { blocks, ROOT } from "../support/docs/pages.ts";

const BIN = join(ROOT, "bin", "understudy.js");
const folder = mkdtempSync(join(tmpdir(), "understudy-docs-"));
const children = new Set<ReturnType<typeof spawn>>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** What a reader would paste, one after the other. */
const PASTED: Record<string, (shells: readonly string[]) => string> = {
  "README.md": (all) => all.find((code) => code.includes("curl"))!,
  "docs/getting-started.md": (all) => all.filter((code) => !code.includes("npm start")).join("\n"),
  "docs/sandboxes-and-time.md": ([first]) => first!,
  "docs/control-api.md": ([first]) => first!,
  "docs/webhooks.md": ([first]) => first!,
  "docs/scenarios.md": ([first]) => first!,
};

async function server(): Promise<{ url: string; stop: () => Promise<void> }> {
  const ready = join(folder, `ready-${children.size}.json`);
  const child = spawn(process.execPath, [BIN, "start", "--port", "0", "--quiet", "--ready-file", ready], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.add(child);
  await expect.poll(() => existsSync(ready), { timeout: 15_000, interval: 20 }).toBe(true);
  const { url } = JSON.parse(readFileSync(ready, "utf8")) as { url: string };
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { url, stop };
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.runIf(hasCurl)("pasted examples", () => {
  it.each(Object.keys(PASTED))("docs %s works when pasted", async (page) => {
    const shells = blocks(page).filter(({ kind }) => kind === "sh");
    const pasted = PASTED[page]!(shells.map(({ code }) => code));
    const { url, stop } = await server();
    try {
      const script = [
        "set -e",
        // Commands of the examples act on the usual port; here the server has a free one.
        `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} "$@" --url ${url}; }`,
        pasted.replaceAll("http://127.0.0.1:4747", url),
      ].join("\n");
      const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).not.toContain("urn:understudy:problem");
      expect(stdout).not.toContain('"INVALID_INPUT"');
      expect(stdout).not.toContain("There is no such endpoint");
    } finally {
      await stop();
    }
  });
});
