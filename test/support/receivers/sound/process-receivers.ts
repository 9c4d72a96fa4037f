import { execFile, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasRuntime } from "../../../../scripts/runtimes.mjs";
import { waitUntil } from "../../eventually.ts";
import { freePort } from "../../free-port.ts";
import type { Running, SoundReceiver } from "./sound-receiver.ts";

const getPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const getPagePath = (name: string) => getPath(`../../../../docs/receivers/${name}`);
const makeScratchFolder = () => mkdtempSync(join(tmpdir(), "sound-receiver-"));

interface Program {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** Starts a program and waits for the line with its address. */
async function startProgram(secret: string, { command, args, env = {} }: Program): Promise<Running> {
  const child = spawn(command, args, {
    env: { ...process.env, PORT: "0", WEBHOOK_SECRET: secret, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text) => {
    errors += text;
  });
  const exited = new Promise((resolve) => child.once("close", resolve));
  const line = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ${args} ended with ${code}: ${errors}`)));
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  const url = line.replace("listening on ", "");
  return {
    url,
    probe: new URL("/processed", url).href,
    async close() {
      child.kill("SIGKILL");
      await exited;
      if (/Traceback|Error\b/.test(errors)) throw new Error(errors);
    },
  };
}

/** Creates a receiver that is a program; some are compiled first. */
const defineProgram = (
  name: string,
  needs: string,
  make: () => Program | Promise<Program>,
  notes: string[] = [],
): SoundReceiver => ({
  name,
  needs,
  notes,
  start: async (secret) => startProgram(secret, await make()),
});

/** PHP's server prints no address to wait for and does not accept port 0. */
const php: SoundReceiver = {
  name: "PHP on its built-in server",
  needs: "php",
  async start(secret) {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const child = spawn(
      "php",
      ["-d", "post_max_size=2M", "-S", `127.0.0.1:${port}`, getPath("php/receiver.php")],
      {
        env: {
          ...process.env,
          WEBHOOK_SECRET: secret,
          WEBHOOK_STORE: join(makeScratchFolder(), "deliveries"),
          PHP_CLI_SERVER_WORKERS: "4",
        },
        stdio: "ignore",
        // Its workers end only if the whole process group is killed.
        detached: true,
      },
    );
    const exited = new Promise((resolve) => child.once("close", resolve));
    const close = async () => {
      process.kill(-child.pid!, "SIGKILL");
      await exited;
    };
    const isUp = () =>
      fetch(`${base}/processed`).then(
        () => true,
        () => false,
      );
    await waitUntil(isUp).catch(async (error) => {
      await close();
      throw error;
    });
    return { url: `${base}/webhook`, probe: `${base}/processed`, close };
  },
};

/** Compiles asynchronously, since other receivers are graded meanwhile and have deadlines. */
async function goProgram(): Promise<Program> {
  const binary = join(makeScratchFolder(), "receiver");
  const env = { ...process.env, GOFLAGS: "-buildvcs=false", GO111MODULE: "off", CGO_ENABLED: "0" };
  await promisify(execFile)("go", ["build", "-o", binary, getPath("go/main.go")], { env });
  return { command: binary, args: [] };
}

const HEX_DECODED = ["signature-upper-case"];

export const PROCESS_RECEIVERS: SoundReceiver[] = [
  defineProgram("the Node sample as a separate process", "node", () => ({
    command: process.execPath,
    args: [getPagePath("node/receiver.mjs")],
  })),
  defineProgram("the Python sample as a separate process", "python3", () => ({
    command: "python3",
    args: [getPagePath("python/receiver.py")],
  })),
  defineProgram("Python, WSGI and SQLite", "python3", () => ({
    command: "python3",
    args: [getPath("python/wsgi.py")],
  })),
  defineProgram("Perl on a socket", "perl", () => ({ command: "perl", args: [getPath("perl/receiver.pl")] })),
  defineProgram("Java, the JDK's own server", "java", () => ({
    command: "java",
    args: ["-XX:TieredStopAtLevel=1", getPath("java/Receiver.java")],
  })),
  defineProgram("Ruby on WEBrick", "ruby -r webrick", () => ({
    command: "ruby",
    args: [getPath("ruby/receiver.rb")],
  })),
  defineProgram("Go, net/http", "go", goProgram, HEX_DECODED),
  php,
  defineProgram(
    "Flask",
    "python3 -c 'import flask'",
    () => ({ command: "python3", args: [getPath("python/flask_app.py")] }),
    HEX_DECODED,
  ),
  defineProgram("a strict Pydantic model of section 6.2", "python3 -c 'import pydantic'", () => ({
    command: "python3",
    args: [getPath("python/pydantic_model.py")],
  })),
];

/** Returns whether the programs that a receiver needs are installed. */
export function isInstalled({ needs }: SoundReceiver): boolean {
  return needs === undefined || hasRuntime(needs);
}
