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
import { delimiter, join } from "node:path";
import { findBrowser } from "../../../scripts/browser.mjs";
import { freePort } from "../free-port.ts";
import { createTempFolder, type Finished } from "../run-understudy.ts";
import { ExampleCommands, TOOLS } from "./example-commands.ts";
import { getInstalledModules } from "./installed-modules.ts";
import { serveToolStubs, toLine, writeToolStubs } from "./tool-stubs.ts";

/** Ports in the pages; each is replaced by a free one. */
const DOCUMENTED_PORTS = ["4747", "4748", "4749", "3000", "5173", "5000"] as const;

/** An empty project with the package installed, in which a page's examples run unchanged. */
export interface ExampleProject {
  folder: string;
  /** Replaces the documented ports in a text by free ones. */
  replacePorts(text: string): string;
  /** Runs a script in a shell that stops at the first failure. The test's own timeout ends a script that hangs. */
  run(script: string, exits?: Readonly<Record<string, number>>): Promise<Finished>;
  /** Starts the server that a page expects to run. Resolves with its address. */
  startDefaultServer(): Promise<string>;
  /** The command lines that reached a stub. */
  readonly calls: readonly string[];
  /** Ends all processes that still run. */
  close(): Promise<void>;
}

/** Found only once, since the check starts the browser. */
let browser: Promise<string | undefined> | undefined;
export function getBrowser(): Promise<string | undefined> {
  browser ??= findBrowser();
  return browser;
}

export async function createExampleProject(): Promise<ExampleProject> {
  const folder = createTempFolder();
  const ports = new Map<string, string>();
  for (const port of DOCUMENTED_PORTS) ports.set(port, String(await freePort()));
  const socket = join(folder, ".stubs");
  fillProject(folder, socket);
  const replacePorts = (text: string) =>
    text.replace(new RegExp(`\\b(${DOCUMENTED_PORTS.join("|")})\\b`, "g"), (port) => ports.get(port)!);
  const [server, listen, record] = ["4747", "4748", "4749"].map((port) => ports.get(port)!);
  const browser = (await getBrowser()) ?? "";
  const commands = new ExampleCommands({
    folder,
    browser,
    ports: { server: server!, listen: listen!, record: record! },
  });
  const lines: string[] = [];
  const answering = await serveToolStubs(socket, (call) => {
    lines.push(toLine(call));
    return commands.toScript(call);
  });
  let group: number | undefined;
  return {
    folder,
    replacePorts,
    calls: lines,
    startDefaultServer: () => commands.background.startDefaultServer(Number(server)),
    run(script, exits = {}) {
      commands.exitCodes = exits;
      const PATH = [join(folder, ".tools"), process.env["PATH"]].join(delimiter);
      // Files, not pipes: they have the shell's output when it ends, even if background processes keep a pipe open.
      const [stdout, stderr] = [join(folder, ".stdout"), join(folder, ".stderr")];
      const streams = [openSync(stdout, "w"), openSync(stderr, "w")];
      const child = spawn("sh", ["-e", "-c", script], {
        cwd: folder,
        stdio: ["ignore", ...streams],
        detached: true,
        env: { ...makePlainEnvironment(), PATH },
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
        // The process group has ended.
      }
      await commands.background.close();
      await answering.close();
    },
  };
}

/** Returns the environment of a user's shell: variables of this test run would affect runners inside it. */
function makePlainEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...{ NO_COLOR: "1", UNDERSTUDY_TOKEN: "", UNDERSTUDY_URL: "" },
    // The examples need no pytest plugins, and loading this machine's plugins takes three times as long as pytest.
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
  };
  for (const name of Object.keys(env)) {
    if (/^(VITEST|TEST|npm_|NODE_ENV|FORCE_COLOR)/.test(name)) delete env[name];
  }
  return env;
}

function fillProject(folder: string, socket: string): void {
  writeFileSync(join(folder, "package.json"), '{ "name": "app", "private": true, "type": "module" }\n');
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  const installed = getInstalledModules();
  for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(modules, name));
  for (const place of [join(folder, ".tools"), join(modules, ".bin")]) writeToolStubs(place, TOOLS, socket);
}
