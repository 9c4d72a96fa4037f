import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, statSync, truncateSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "redis";
import { waitUntil } from "./eventually.ts";
import { freePort } from "./free-port.ts";

/** Whether Redis is installed (scripts/runtimes.mjs). */
export const hasRedis = spawnSync("redis-server", ["--version"], { stdio: "ignore" }).status === 0;
export const NO_REDIS = "redis-server is not installed";

/** A Redis of a test, on a free port, with its own folder. */
export class TestRedis {
  readonly port: number;
  readonly folder = mkdtempSync(join(tmpdir(), "understudy-redis-"));
  private readonly settings: readonly string[];
  private readonly password: string | undefined;
  private child: ChildProcess | undefined;

  private constructor(port: number, settings: readonly string[]) {
    this.port = port;
    this.settings = settings;
    const at = settings.indexOf("--requirepass");
    this.password = at < 0 ? undefined : settings[at + 1];
  }

  /** @param settings more options of redis-server, such as `--requirepass`, `secret` */
  static async start(...settings: string[]): Promise<TestRedis> {
    const redis = new TestRedis(await freePort(), settings);
    await redis.launch();
    return redis;
  }

  get url(): string {
    return `redis://${this.password === undefined ? "" : `:${this.password}@`}127.0.0.1:${this.port}`;
  }

  /** Starts Redis with the data in its folder and waits until it answers. */
  async launch(): Promise<void> {
    const where = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.folder];
    // Acknowledged writes are in files but not synced, since the tests simulate no power loss of the disk.
    const durability = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"];
    const child = spawn("redis-server", [...where, ...durability, ...this.settings], { stdio: "ignore" });
    this.child = child;
    await waitUntil(async () => {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      return this.command("PING").catch(() => undefined);
    });
  }

  /** Sends one command over a new connection. */
  // biome-ignore lint/suspicious/noExplicitAny: a reply is what the command's documentation says
  async command(...words: string[]): Promise<any> {
    const client = createClient({ url: this.url, RESP: 2, socket: { reconnectStrategy: false } });
    client.on("error", () => {});
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends the process; acknowledged data stays in its folder. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGCONT");
    child.kill(signal);
    await exited;
  }

  /** Removes the last writes from the file, as a power loss would. */
  dropLastWrite(): void {
    const place = join(this.folder, "appendonlydir");
    const name = readdirSync(place).find((file) => file.endsWith(".incr.aof"))!;
    truncateSync(join(place, name), Math.floor(statSync(join(place, name)).size * 0.6));
  }

  async remove(): Promise<void> {
    await this.stop();
    // A child process that rewrites the file (also when appendonly is switched on) may still run for a moment and
    // create a file while the folder is being removed.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
