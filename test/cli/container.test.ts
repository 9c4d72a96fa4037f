import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  startServer,
} from "../support/run-understudy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCKERFILE = readFileSync(join(ROOT, "Dockerfile"), "utf8");
const COMPOSE = parse(readFileSync(join(ROOT, "docs/examples/docker/compose.yaml"), "utf8"));
const TOKEN = "a-token-of-the-team";
let running: RunningServer | undefined;

afterEach(() => running?.stop());
afterAll(removeTempFolders);

/** The words of an instruction in the last stage, which has the JSON form. */
function readInstruction(instruction: string): string[] {
  const stage = DOCKERFILE.slice(DOCKERFILE.lastIndexOf("\nFROM ")).replaceAll("\\\n", " ");
  const [, text] = new RegExp(`^${instruction}\\b[^[\\n]*(\\[.*\\])$`, "m").exec(stage) ?? [];
  return JSON.parse(text!);
}

/** The command of the image with a data folder of the test. */
function replaceFolder(command: readonly string[]): string[] {
  expect(command[0]).toBe("start");
  return command.slice(1).map((word) => (word === "/data" ? join(createTempFolder(), "data") : word));
}

describe("the container image, checked without Docker", () => {
  it("has a Dockerfile without findings of a linter [interfaces 13]", () => {
    expect(validate(DOCKERFILE).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual(
      [],
    );
    // npm does not create the folder.
    const [before, , packed] = DOCKERFILE.split(/( --pack-destination )(\S+)/);
    expect(before).toContain(`mkdir ${packed} && npm pack`);
    const stage = DOCKERFILE.slice(DOCKERFILE.lastIndexOf("\nFROM "));
    expect(stage).toMatch(/^FROM node:\d+-slim$/m);
    expect(stage.lastIndexOf("\nUSER node")).toBeGreaterThan(stage.lastIndexOf("\nRUN "));
  });

  it("starts a shared server by its command, and its health check tells whether the server runs [interfaces 13]", async () => {
    running = await startServer(replaceFolder(readInstruction("CMD")), { env: { UNDERSTUDY_TOKEN: TOKEN } });
    const [node, program, ...args] = readInstruction("HEALTHCHECK");
    expect([node, program]).toEqual(["node", readInstruction("ENTRYPOINT")[1]]);
    const isHealthy = (token: string) =>
      spawnSync(process.execPath, [join(ROOT, "bin/understudy.js"), ...args], {
        env: { ...process.env, UNDERSTUDY_TOKEN: token, UNDERSTUDY_URL: running!.ready.url },
      }).status;
    expect([isHealthy(TOKEN), isHealthy("a-token-of-somebody")]).toEqual([0, 1]);
    await running.stop();
    expect(isHealthy(TOKEN)).toBe(1);
  });

  it("has a compose file whose service is reached by its name [interfaces 13]", async () => {
    const { understudy, app } = COMPOSE.services;
    running = await startServer(replaceFolder(understudy.command), { env: { UNDERSTUDY_TOKEN: TOKEN } });
    const [, , , apiKey, url] = app.command as string[];
    const [name, value] = apiKey!.split(": ");
    const { port } = new URL(running.ready.url);
    const { status } = await fetch(url!.replace("understudy:4747", `127.0.0.1:${port}`), {
      headers: { [name!]: value! },
    });
    expect(status).toBe(200);
    expect(new URL(url!).hostname).toBe("understudy");
    expect(understudy.command[understudy.command.indexOf("--allow-host") + 1]).toBe("understudy");
  });

  it("has a Testcontainers recipe that waits for the health check, and whose client connects [interfaces 13]", async () => {
    running = await startServer(replaceFolder(readInstruction("CMD")), { env: { UNDERSTUDY_TOKEN: TOKEN } });
    const { hostname, port } = new URL(running.ready.url);
    const folder = createTempFolder();
    // This module replaces Docker: its container is the server above.
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "testcontainers"), { recursive: true });
    symlinkSync(ROOT, join(modules, "understudy-sandbox"));
    writeFileSync(
      join(modules, "testcontainers/index.mjs"),
      `export const Wait = { forHealthCheck: () => "health" };
export class GenericContainer {
  withEnvironment({ UNDERSTUDY_TOKEN }) { this.token = UNDERSTUDY_TOKEN; return this; }
  withExposedPorts(port) { this.port = port; return this; }
  withWaitStrategy(strategy) { this.strategy = strategy; return this; }
  async start() {
    if (this.token.length < 16 || this.strategy !== "health") throw new Error("it would not start, or not wait");
    return { getHost: () => ${JSON.stringify(hostname)}, getMappedPort: (port) => port === this.port && ${port}, stop: async () => {} };
  }
}
`,
    );
    writeFileSync(join(modules, "testcontainers/package.json"), '{"main":"index.mjs"}');
    const recipe = readFileSync(join(ROOT, "docs/examples/testcontainers/understudy.mjs"), "utf8");
    // The recipe generates a token. The test replaces it by the token of the server above.
    writeFileSync(
      join(folder, "understudy.mjs"),
      recipe.replace(/randomBytes\(16\)[^;]+/, JSON.stringify(TOKEN)),
    );
    writeFileSync(
      join(folder, "use.mjs"),
      'import { startUnderstudy } from "./understudy.mjs"; const { client, stop } = await startUnderstudy(); console.log((await client.health()).status); await stop();',
    );
    expect(spawnSync(process.execPath, ["use.mjs"], { cwd: folder, encoding: "utf8" })).toMatchObject({
      stdout: "ok\n",
      stderr: "",
    });
  });
});
