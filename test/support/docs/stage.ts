import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { findBrowser } from "../../../scripts/browser.mjs";
import { type Finished, scratch } from "../run-understudy.ts";
import { installedModules } from "./installed.ts";
import { ROOT } from "./pages.ts";

/** The ports that pages write; each becomes a free one. */
const WRITTEN = ["4747", "4748", "4749", "3000", "5173", "5000"] as const;

/** Commands that scripts of package.json call without `npx`. */
const RUNNERS = ["understudy", "vitest", "playwright"];

/** An empty project with the package in it, in which a page's examples run as they stand there. */
export interface Stage {
  folder: string;
  /** Of a text, with free ports in place of those that it writes. */
  placed(text: string): string;
  /** In a shell that stops at the first failure; a second line of defence is the test's own limit. */
  run(script: string, exits?: Readonly<Record<string, number>>): Promise<Finished>;
  /** Ends what still runs. */
  close(): void;
}

/** Looked for once: it is started to see whether it is one. */
let browser: Promise<string | undefined> | undefined;
export function browserHere(): Promise<string | undefined> {
  browser ??= findBrowser();
  return browser;
}

export async function openStage(): Promise<Stage> {
  const folder = scratch();
  const ports = new Map<string, string>();
  for (const port of await freePorts(WRITTEN.length)) ports.set(WRITTEN[ports.size]!, port);
  furnish(folder);
  const placed = (text: string) =>
    text.replace(new RegExp(`\\b(${WRITTEN.join("|")})\\b`, "g"), (port) => ports.get(port)!);
  const CHROMIUM = (await browserHere()) ?? "";
  let group: number | undefined;
  return {
    folder,
    placed,
    run: (script, exits = {}) =>
      new Promise((resolve) => {
        const child = spawn("sh", ["-e", "-c", script], {
          cwd: folder,
          stdio: ["ignore", "pipe", "pipe"],
          detached: true,
          env: {
            ...plainEnvironment(),
            PATH: [join(folder, ".tools"), process.env["PATH"]].join(delimiter),
            STAGE: folder,
            ROOT,
            CHROMIUM,
            EXITS: JSON.stringify(exits),
            SERVER_PORT: ports.get("4747")!,
            LISTEN_PORT: ports.get("4748")!,
            RECORD_PORT: ports.get("4749")!,
          },
        });
        group = child.pid;
        let stdout = "";
        let stderr = "";
        child.stdout.on("data", (chunk) => {
          stdout += chunk;
        });
        child.stderr.on("data", (chunk) => {
          stderr += chunk;
        });
        child.once("exit", (code, signal) => resolve({ code, signal, stdout, stderr }));
      }),
    close() {
      const pids = join(folder, ".pids");
      const started = existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : [];
      for (const pid of [...started, ...(group === undefined ? [] : [-group])]) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended.
        }
      }
    },
  };
}

/** As a user's shell has it: variables of this very run would tell runners inside that they are part of it. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1", UNDERSTUDY_TOKEN: "", UNDERSTUDY_URL: "" };
  for (const name of Object.keys(env)) {
    if (/^(VITEST|TEST|npm_|NODE_ENV|UNDERSTUDY_JUDGE|FORCE_COLOR)/.test(name)) delete env[name];
  }
  return env;
}

function furnish(folder: string): void {
  writeFileSync(join(folder, "package.json"), '{ "name": "app", "private": true, "type": "module" }\n');
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  const installed = installedModules();
  for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(modules, name));
  for (const place of [join(folder, ".tools"), join(modules, ".bin")]) {
    mkdirSync(place);
    for (const tool of ["npx", "npm", "mvn", "docker", ...RUNNERS]) {
      const commands = join(ROOT, "test", "support", "docs", "commands.mjs");
      writeFileSync(join(place, tool), `#!/bin/sh\nexec "${process.execPath}" "${commands}" ${tool} "$@"\n`);
      chmodSync(join(place, tool), 0o755);
    }
  }
}

export async function freePorts(count: number): Promise<string[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => String((server.address() as { port: number }).port));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
