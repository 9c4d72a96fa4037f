import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { removeScratch, scratch, startServer } from "../support/run-understudy.ts";

afterAll(removeScratch);

/** Makes threads, each acknowledged as on disk, and kills the server within a second of the last. */
async function leaveWorld(count = 40): Promise<string> {
  const folder = join(scratch(), "data");
  const server = await startServer(["--persist", folder, "--durable"]);
  for (let i = 0; i < count; i++) await create(server.ready.url, `thread_n${i}`);
  server.child.kill("SIGKILL");
  await server.finished;
  return folder;
}

async function create(url: string, id: string): Promise<void> {
  const answer = await fetch(`${url}/_control/sandboxes/default/state/threads`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id }),
  });
  expect(answer.status).toBe(201);
}

/** What a start says of the folder, and how many of the threads it has. */
async function startAgain(folder: string): Promise<{ says: string; found: number }> {
  const server = await startServer(["--persist", folder]);
  const listed = await fetch(`${server.ready.url}/_control/sandboxes/default/state/threads`);
  const { items } = (await listed.json()) as { items: { id: string }[] };
  await server.stop();
  const { stdout, stderr } = server.output();
  return { says: stdout + stderr, found: items.filter(({ id }: { id: string }) => /_n\d+$/.test(id)).length };
}

const cut = (share: number) => (file: string) => truncateSync(file, Math.floor(statSync(file).size * share));
const overwrite = (from: number, byte: (old: number) => number) => (file: string) => {
  const bytes = readFileSync(file);
  const start = Math.floor(bytes.length * from);
  for (let at = start; at < Math.min(bytes.length, start + 64); at++) bytes[at] = byte(bytes[at]!);
  writeFileSync(file, bytes);
};

describe("a kept world that was damaged while the server was down", () => {
  it.each<[what: string, part: string, damage: (file: string) => void]>([
    ["log cut at 30 percent", "-wal", cut(0.3)],
    ["log cut at 90 percent", "-wal", cut(0.9)],
    ["emptied log", "-wal", (file) => truncateSync(file, 0)],
    ["missing log", "-wal", (file) => rmSync(file)],
    ["bits flipped in the log", "-wal", overwrite(0.5, (old) => old ^ 1)],
    ["bits flipped in the log's head", "-wal", overwrite(0, (old) => old ^ 1)],
    ["NUL bytes in the log", "-wal", overwrite(0.4, () => 0)],
    ["emptied database", "", (file) => truncateSync(file, 0)],
    ["missing database", "", (file) => rmSync(file)],
    ["database of NUL bytes", "", (file) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
  ])(
    "%s: the start says what is lost and keeps the damaged files [quality 2.7]",
    async (_what, part, damage) => {
      const folder = await leaveWorld();
      const database = join(folder, "understudy.db");
      expect(statSync(`${database}-wal`).size).toBeGreaterThan(0);
      damage(database + part);
      const { says, found } = await startAgain(folder);
      // A log that has every page replaces a database of NUL bytes, and then nothing is lost.
      if (found === 40 && part === "") return expect(says).not.toContain("has lost");
      expect(found).toBeLessThan(40);
      expect(says).toMatch(/has lost the last \d+ of \d+ saves \(\d+ changes, the newest of 20\S+Z\)/);
      expect(readdirSync(folder).filter((name) => name.includes(".damaged"))).not.toEqual([]);
      expect((await startAgain(folder)).says).not.toContain("has lost");
    },
    60_000,
  );

  it("an undamaged world is whole, and nothing is said", async () => {
    const folder = await leaveWorld(5);
    expect(await startAgain(folder)).toEqual({ says: expect.not.stringMatching(/lost|damaged/), found: 5 });
  }, 60_000);
});

const python = spawnSync("python3", ["-c", "import sqlite3"]).status === 0;

describe("understudy.db while the server runs", () => {
  it("is read by another program, and a copy of it alone has what is older than a second [interfaces 2]", async ({
    skip,
  }) => {
    if (!python) return skip("Python is not installed");
    const folder = join(scratch(), "data");
    const server = await startServer(["--persist", folder, "--durable"]);
    await create(server.ready.url, "thread_n1");
    const database = join(folder, "understudy.db");
    const count = async (file: string) => {
      const program = `import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(db.execute("SELECT count(*) FROM rows WHERE id = 'thread_n1'").fetchone()[0])`;
      const child = spawn("python3", ["-c", program, file], { stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          out += chunk;
        });
      await new Promise((resolve) => child.once("close", resolve));
      return out.trim();
    };
    expect(await count(database)).toBe("1");
    const copy = join(scratch(), "copy.db");
    await expect
      .poll(() => existsSync(`${database}-wal`) && statSync(`${database}-wal`).size, { timeout: 10_000 })
      .toBe(0);
    copyFileSync(database, copy);
    expect(await count(copy)).toBe("1");
    // It goes on, and another server is still kept out.
    await create(server.ready.url, "thread_n2");
    await expect(startServer(["--persist", folder])).rejects.toThrow();
    await server.stop();
  }, 60_000);
});
