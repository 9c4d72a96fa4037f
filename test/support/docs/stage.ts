import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { findBrowser } from "../../../scripts/browser.mjs";
import { type Finished, scratch } from "../run-understudy.ts";
import { Commands, TOOLS } from "./commands.ts";
import { installedModules } from "./installed.ts";
import { answerStandIns, lineOf, putStandIns } from "./stand-in.ts";

/** The ports that pages write; each becomes a free one. */
const WRITTEN = ["4747", "4748", "4749", "3000", "5173", "5000"] as const;

/** An empty project with the package in it, in which a page's examples run as they stand there. */
export interface Stage {
  folder: string;
  /** Of a text, with free ports in place of those that it writes. */
  placed(text: string): string;
  /** In a shell that stops at the first failure; a second line of defence is the test's own limit. */
  run(script: string, exits?: Readonly<Record<string, number>>): Promise<Finished>;
  /** Starts the server that a page takes for granted; resolves with its address. */
  takeServerForGranted(): Promise<string>;
  /** The command lines for which the stage has stand-ins, as they were asked for. */
  readonly asked: readonly string[];
  /** Ends what still runs. */
  close(): Promise<void>;
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
  const socket = join(folder, ".stage");
  furnish(folder, socket);
  const placed = (text: string) =>
    text.replace(new RegExp(`\\b(${WRITTEN.join("|")})\\b`, "g"), (port) => ports.get(port)!);
  const [server, listen, record] = ["4747", "4748", "4749"].map((port) => ports.get(port)!);
  const browser = (await browserHere()) ?? "";
  const commands = new Commands({
    folder,
    browser,
    ports: { server: server!, listen: listen!, record: record! },
  });
  const lines: string[] = [];
  const answering = await answerStandIns(socket, (asked) => {
    lines.push(lineOf(asked));
    return commands.become(asked);
  });
  let group: number | undefined;
  return {
    folder,
    placed,
    asked: lines,
    takeServerForGranted: () => commands.background.takeForGranted(Number(server)),
    run(script, exits = {}) {
      commands.exits = exits;
      const PATH = [join(folder, ".tools"), process.env["PATH"]].join(delimiter);
      // Files rather than pipes: at the shell's end they hold what it has printed, whoever goes on behind it.
      const [stdout, stderr] = [join(folder, ".stdout"), join(folder, ".stderr")];
      const streams = [openSync(stdout, "w"), openSync(stderr, "w")];
      const child = spawn("sh", ["-e", "-c", script], {
        cwd: folder,
        stdio: ["ignore", ...streams],
        detached: true,
        env: { ...plainEnvironment(), PATH },
      });
      for (const stream of streams) closeSync(stream);
      group = child.pid;
      return new Promise((resolve) => {
        child.once("exit", (code, signal) => {
          const [said, complained] = [stdout, stderr].map((file) => readFileSync(file, "utf8"));
          resolve({ code, signal, stdout: said!, stderr: complained! });
        });
      });
    },
    async close() {
      try {
        if (group !== undefined) process.kill(-group, "SIGKILL");
      } catch {
        // It has ended.
      }
      await commands.background.close();
      await answering.close();
    },
  };
}

/** As a user's shell has it: variables of this very run would tell runners inside that they are part of it. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...{ NO_COLOR: "1", UNDERSTUDY_TOKEN: "", UNDERSTUDY_URL: "" },
    // The examples ask for none of this machine's plugins, which take three times as long to load as pytest.
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
  };
  for (const name of Object.keys(env)) {
    if (/^(VITEST|TEST|npm_|NODE_ENV|FORCE_COLOR)/.test(name)) delete env[name];
  }
  return env;
}

function furnish(folder: string, socket: string): void {
  writeFileSync(join(folder, "package.json"), '{ "name": "app", "private": true, "type": "module" }\n');
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  const installed = installedModules();
  for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(modules, name));
  for (const place of [join(folder, ".tools"), join(modules, ".bin")]) putStandIns(place, TOOLS, socket);
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
