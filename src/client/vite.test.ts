import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, createServer } from "vite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import understudy, { type PluginOptions } from "./vite.ts";

let root: string;
const said: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "understudy-vite-"));
  said.length = 0;
  // Makes the plugin see that no page is served.
  vi.stubEnv("VITEST", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

async function served(options?: PluginOptions) {
  const customLogger = createLogger("silent");
  customLogger.info = (text) => said.push(text);
  const vite = await createServer({
    ...{ root, configFile: false, customLogger, plugins: [understudy(options)] },
    server: { port: 0, host: "127.0.0.1", ws: false },
  });
  await vite.listen();
  const { port } = vite.httpServer!.address() as { port: number };
  return { vite, page: `http://127.0.0.1:${port}` };
}

const printedUrl = () => /Understudy (http:\S+) serves \/v1, \/v2, \/webhooks/.exec(said.join("\n"))?.[1];

describe("understudy-sandbox/vite", () => {
  it("starts a server with the dev server, proxies to it, and ends it with it [interfaces 13]", async () => {
    const { vite, page } = await served({ seed: 7 });
    const server = printedUrl()!;
    try {
      const answer = await fetch(`${page}/v1/models`);
      expect([answer.status, answer.headers.get("x-sandbox-decision")]).toEqual([401, "auth"]);
      const state = await (await fetch(`${server}/_control/sandboxes/default`)).json();
      expect(state).toMatchObject({ seed: 7 });
      await vite.restart();
      const journal = await (await fetch(`${server}/_control/sandboxes/default/journal`)).json();
      expect(journal).toMatchObject({ total: 1 });
    } finally {
      await vite.close();
    }
    await expect(fetch(server)).rejects.toThrow();
  });

  it("takes the server of UNDERSTUDY_URL, and starts none where no page is served [interfaces 13]", async () => {
    const own = await served();
    vi.stubEnv("UNDERSTUDY_URL", printedUrl());
    said.length = 0;
    const plugin = understudy();
    const asked = plugin.apply as (config: object, env: object) => boolean;
    expect(asked({}, { command: "serve", mode: "development" })).toBe(true);
    expect(asked({}, { command: "build", mode: "production" })).toBe(false);
    expect(asked({}, { command: "serve", mode: "production", isPreview: true })).toBe(false);
    vi.stubEnv("VITEST", "true");
    expect(asked({}, { command: "serve", mode: "test" })).toBe(false);
    await own.vite.close();
  });

  it("refuses an option that does not exist, and says what is wrong with a value [interfaces 13]", async () => {
    expect(() => understudy({ fixtur: "reference" } as PluginOptions)).toThrow(
      /understudy has no option "fixtur"; its options are fixture, seed/,
    );
    await expect(served({ fixture: "refrence" as "reference" })).rejects.toThrow(/refrence/);
  });
});
