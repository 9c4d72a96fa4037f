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
import { createTempFolder, removeTempFolders, startServer } from "../support/run-understudy.ts";
import { chunk, probe } from "../support/upload-setup.ts";

const DAN = "ak_danMemberAcme00000000000000000000000000";

afterAll(removeTempFolders);

/** Makes threads, each acknowledged as durable, and kills the server within a second after the last. */
async function saveAndKill(count = 40): Promise<string> {
  const folder = join(createTempFolder(), "data");
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
    body: JSON.stringify({ id, title: "Quarterly figures" }),
  });
  expect(answer.status).toBe(201);
}

/** Starts the server and returns its messages and the number of threads found. */
async function startAgain(folder: string): Promise<{ says: string; found: number }> {
  const server = await startServer(["--persist", folder]);
  const listed = await fetch(`${server.ready.url}/_control/sandboxes/default/state/threads`);
  const { items } = (await listed.json()) as { items: { id: string }[] };
  await server.stop();
  const { stdout, stderr } = server.output();
  return { says: stdout + stderr, found: items.filter(({ id }: { id: string }) => /_n\d+$/.test(id)).length };
}

const truncate = (share: number) => (file: string) =>
  truncateSync(file, Math.floor(statSync(file).size * share));
const overwrite =
  (from: number, byte: (old: number) => number, length = 64) =>
  (file: string) => {
    const bytes = readFileSync(file);
    const start = Math.floor(bytes.length * from);
    for (let at = start; at < Math.min(bytes.length, start + length); at++) bytes[at] = byte(bytes[at]!);
    writeFileSync(file, bytes);
  };

describe("a saved world that was damaged while the server was stopped", () => {
  it.each<[what: string, part: string, damage: (file: string) => void]>([
    ["log cut at 30 percent", "-wal", truncate(0.3)],
    ["log cut at 90 percent", "-wal", truncate(0.9)],
    ["emptied log", "-wal", (file) => truncateSync(file, 0)],
    ["missing log", "-wal", (file) => rmSync(file)],
    ["bits flipped in the log", "-wal", overwrite(0.5, (old) => old ^ 1)],
    ["bits flipped in the log's head", "-wal", overwrite(0, (old) => old ^ 1)],
    // More than a page, since a page may contain NUL bytes anyway.
    ["NUL bytes in the log", "-wal", overwrite(0.4, () => 0, 8192)],
    ["emptied database", "", (file) => truncateSync(file, 0)],
    ["missing database", "", (file) => rmSync(file)],
    ["database of NUL bytes", "", (file) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
  ])(
    "is reported at the start with what is lost, and its files are kept: %s [quality 2.7]",
    async (_what, part, damage) => {
      const folder = await saveAndKill();
      const database = join(folder, "understudy.db");
      expect(statSync(`${database}-wal`).size).toBeGreaterThan(0);
      damage(database + part);
      const { says, found } = await startAgain(folder);
      // If the log has every page, it replaces the damaged database, and nothing is lost.
      if (found === 40 && part === "") return expect(says).not.toContain("has lost");
      expect(found).toBeLessThan(40);
      expect(says).toMatch(/has lost the last \d+ of \d+ saves \(\d+ changes, the newest of 20\S+Z\)/);
      expect(readdirSync(folder).filter((name) => name.includes(".damaged"))).not.toEqual([]);
      expect((await startAgain(folder)).says).not.toContain("has lost");
    },
    60_000,
  );

  it("is loaded without a message if it was not damaged", async () => {
    const folder = await saveAndKill(5);
    expect(await startAgain(folder)).toEqual({ says: expect.not.stringMatching(/lost|damaged/), found: 5 });
  }, 60_000);
});

describe("a flipped bit in a saved world", () => {
  /** Saves a world with two threads and a half-finished upload. */
  async function saveWorld(place: string): Promise<{ upload: string }> {
    const server = await startServer(["--persist", place]);
    const { url } = server.ready;
    for (const id of ["thread_n1", "thread_n2"]) await create(url, id);
    const asked = await fetch(`${url}/v1/organizations/org_acme/files/upload-url`, {
      method: "POST",
      headers: { "api-key": DAN, "content-type": "application/json" },
      body: JSON.stringify({ filename: "notes.txt", file_size: 10, mime_type: "text/plain" }),
    });
    const { upload_url } = (await asked.json()) as { upload_url: string };
    expect((await chunk(upload_url, "01234", 0, 10)).status).toBe(308);
    await server.stop();
    return { upload: upload_url.slice(url.length) };
  }

  /** Flips a bit of the last occurrence of the text in the file. */
  function flip(file: string, text: string, offset = 0): void {
    const bytes = readFileSync(file);
    const at = bytes.lastIndexOf(text) + offset;
    expect(at).toBeGreaterThanOrEqual(offset);
    bytes[at]! ^= 1;
    writeFileSync(file, bytes);
  }

  /** Starts the server and returns its messages, the number of threads and the received bytes of the upload. */
  async function restart(place: string, upload: string) {
    const server = await startServer(["--persist", place]);
    const { url } = server.ready;
    const listed = await fetch(`${url}/_control/sandboxes/default/state/threads`);
    const { items } = (await listed.json()) as { items: { id: string; title: string }[] };
    const { range } = await probe(url + upload);
    await server.stop();
    const { stdout, stderr } = server.output();
    return { says: stdout + stderr, threads: items.filter(({ id }) => /_n\d$/.test(id)).length, range };
  }

  const places = ["worlds.json", "data"];
  const findFile = (place: string) => (place.endsWith(".json") ? place : join(place, "understudy.db"));

  it.each(places)(
    "in %s is reported, the file is kept, and no other value is lost",
    async (name) => {
      const place = join(createTempFolder(), name);
      const { upload } = await saveWorld(place);
      const file = findFile(place);
      const saved = readFileSync(file);
      flip(file, "Quarterly figures");
      const damaged = readFileSync(file);
      expect(damaged.equals(saved)).toBe(false);
      const found = await restart(place, upload);
      expect(found).toMatchObject({ threads: 2, range: "bytes=0-4" });
      expect(found.says).toMatch(
        /(not as it was saved|differ from their saved state): \S+ of sandbox default/,
      );
      const [, kept] = /was kept as ([^\s,"]+?)\.?[\s,"]/.exec(found.says)!;
      expect(readFileSync(kept!).equals(damaged)).toBe(true);
      expect((await restart(place, upload)).says).not.toMatch(/not as|damaged/);
    },
    60_000,
  );

  it.each(places)(
    "in an upload of %s is reported, the file is kept, and the client starts the upload again",
    async (name) => {
      const place = join(createTempFolder(), name);
      const { upload } = await saveWorld(place);
      const uploads = name.endsWith(".json") ? `${place}.uploads` : join(place, "uploads");
      const [blob] = readdirSync(uploads);
      flip(join(uploads, blob!), "01234", 2);
      const found = await restart(place, upload);
      expect(found).toMatchObject({ threads: 2, range: null });
      expect(found.says).toContain(`are damaged (kept as ${join(uploads, blob!)}.damaged)`);
      expect(await restart(place, upload)).toMatchObject({
        threads: 2,
        says: expect.not.stringContaining("damaged"),
      });
      expect(readFileSync(join(uploads, `${blob}.damaged`), "utf8")).not.toBe("01234");
    },
    60_000,
  );

  it("in understudy.db.saved is reported without a loss", async () => {
    const folder = join(createTempFolder(), "data");
    const { upload } = await saveWorld(folder);
    flip(`${join(folder, "understudy.db")}.saved`, '"saves":', 8);
    const found = await restart(folder, upload);
    expect(found).toMatchObject({ threads: 2, range: "bytes=0-4" });
    expect(found.says).toContain("understudy.db.saved is damaged, so it is unknown whether saves were lost");
    expect(found.says).not.toContain("has lost");
  }, 60_000);
});

const python = spawnSync("python3", ["-c", "import sqlite3"]).status === 0;

describe("understudy.db while the server runs", () => {
  it("can be read by another program, and a copy of it alone has everything that is older than a second [interfaces 2]", async ({
    skip,
  }) => {
    if (!python) return skip("Python is not installed");
    const folder = join(createTempFolder(), "data");
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
    const copy = join(createTempFolder(), "copy.db");
    await expect.poll(() => existsSync(`${database}-wal`) && statSync(`${database}-wal`).size).toBe(0);
    copyFileSync(database, copy);
    expect(await count(copy)).toBe("1");
    // The server continues, and still has the lock against a second server.
    await create(server.ready.url, "thread_n2");
    await expect(startServer(["--persist", folder])).rejects.toThrow();
    await server.stop();
  }, 60_000);
});
