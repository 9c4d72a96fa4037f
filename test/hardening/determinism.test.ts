import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordTranscript, type Target, type TranscriptLine } from "../support/determinism/transcript.ts";
import { waitUntil } from "../support/eventually.ts";
import { EPOCH } from "../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const BIN = new URL("../../bin/understudy.js", import.meta.url).pathname;

let folder: string;
const running: ChildProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-determinism-"));
});
afterAll(() => {
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process as a user does, and resolves with its port. */
async function start(name: string, { seed = 7, TZ = "UTC" } = {}): Promise<number> {
  const ready = join(folder, `${name}.json`);
  const options = ["--port", "0", "--seed", String(seed), "--clock", `frozen@${EPOCH}`, "--quiet"];
  const child = spawn(process.execPath, [BIN, "start", ...options, "--no-watch", "--ready-file", ready], {
    cwd: folder,
    env: { ...process.env, TZ },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push(child);
  let errors = "";
  child.stderr!.on("data", (chunk) => {
    errors += chunk;
  });
  await waitUntil(() => existsSync(ready) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`the server did not start: ${errors}`);
  return Number(new URL(JSON.parse(readFileSync(ready, "utf8")).url).port);
}

async function createTarget(port: number, name: string): Promise<Target> {
  const { status } = await fetch(`http://127.0.0.1:${port}/_control/sandboxes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, clock: { mode: "frozen", now: EPOCH } }),
  });
  expect(status).toBe(201);
  return { port, sandbox: name };
}

function expectSame(one: TranscriptLine[], other: TranscriptLine[]): void {
  for (const [i, line] of one.entries()) expect(other[i], `request ${i}: ${line.request}`).toEqual(line);
}

describe("the same fixture, seed and frozen clock [interfaces 5]", () => {
  let reference: TranscriptLine[];
  let port: number;
  beforeAll(async () => {
    port = await start("first");
    reference = await recordTranscript({ port, sandbox: "default" });
  });

  it("answer 200 mixed requests: reads, writes, refusals, state and clock [interfaces 5]", () => {
    expect(reference).toHaveLength(200);
    const statuses = new Set(reference.map(({ status }) => status));
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 202, 204, 400, 401, 403, 404, 422]));
    expect(statuses.has(500), JSON.stringify(reference.find(({ status }) => status === 500))).toBe(false);
  });

  it("give the same bytes in two processes and time zones [interfaces 5]", async () => {
    const other = await start("second", { TZ: "Pacific/Kiritimati" });
    expectSame(reference, await recordTranscript({ port: other, sandbox: "default" }));
  });

  it("give the same answers in sandboxes of other names, and after a reset [interfaces 5]", async () => {
    const [one, two] = [await createTarget(port, "twin-one"), await createTarget(port, "twin-two")];
    const first = await recordTranscript(one);
    expectSame(first, await recordTranscript(two));
    await fetch(`http://127.0.0.1:${port}/_control/sandboxes/twin-one/reset`, { method: "POST" });
    expectSame(first, await recordTranscript(one));
  });

  it("give other ids and texts for another seed [interfaces 5]", async () => {
    const other = await start("third", { seed: 8 });
    const lines = await recordTranscript({ port: other, sandbox: "default" });
    const different = reference.filter(({ body }, i) => body !== lines[i]!.body);
    expect(different.length).toBeGreaterThan(50);
  });
});
