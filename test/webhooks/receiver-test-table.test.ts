import { beforeAll, describe, expect, it, vi } from "vitest";
import { CHECKS } from "../../src/tools/grader/checks/index.ts";
import { formatText, listReceiverCases, renderReceiverHtml } from "../../src/tools/grader/receiver-report.ts";
import { writeJunit } from "../../src/tools/reports/junit.ts";
import type { ReceiverReport } from "../../types/control-api.ts";
import { startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { FLAWS, type Flaw } from "../support/receivers/flawed/flaws.ts";
import { SHORT_TIME_MS } from "../support/receivers/flawed/repetition-flaws.ts";
import {
  grade,
  listChecksWith,
  MANY_DELIVERIES,
  Pool,
  QUICK,
  SECRET,
} from "../support/receivers/grade-setup.ts";
import { NODE_RECEIVERS } from "../support/receivers/sound/node-receivers.ts";
import { isInstalled, PROCESS_RECEIVERS } from "../support/receivers/sound/process-receivers.ts";
import type { SoundReceiver } from "../support/receivers/sound/sound-receiver.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const pool = new Pool<ReceiverReport>(8);
const SOUND = [...NODE_RECEIVERS, ...PROCESS_RECEIVERS];
const INSTALLED = SOUND.filter(isInstalled);
const MISSING = SOUND.filter((receiver) => !INSTALLED.includes(receiver));

async function gradeFlawed({ steps, name, hangs }: Flaw): Promise<ReceiverReport> {
  const { url, probe, close } = await startReceiver(SECRET, steps);
  const memoryMs = name.includes("for a short time") ? SHORT_TIME_MS + 500 : 0;
  const memoryDeliveries = name.includes("fifty deliveries") ? MANY_DELIVERIES : QUICK.memoryDeliveries;
  try {
    return await grade(url, { probe, timeoutMs: hangs ? 1500 : 30_000, memoryMs, memoryDeliveries });
  } finally {
    await close();
  }
}

async function gradeSound(receiver: SoundReceiver): Promise<ReceiverReport> {
  const { url, probe, options, close } = await receiver.start(SECRET);
  try {
    const memoryDeliveries = receiver.name.includes("sample") ? MANY_DELIVERIES : QUICK.memoryDeliveries;
    return await grade(url, { probe, patienceMs: 3000, memoryDeliveries, ...options });
  } finally {
    await close();
  }
}

beforeAll(() => {
  for (const receiver of INSTALLED) pool.add(receiver.name, () => gradeSound(receiver));
  for (const flaw of FLAWS) pool.add(flaw.name, () => gradeFlawed(flaw));
});

function count(reports: readonly ReceiverReport[], verdict: ReceiverReport["verdict"]): number {
  return reports.filter((report) => report.verdict === verdict).length;
}

describe("a sound receiver passes every check", () => {
  for (const { name, notes = [] } of INSTALLED) {
    it(`${name} [6]`, async () => {
      const report = await pool.getResult(name);
      expect(report.checks.filter((check) => check.outcome !== "passed")).toEqual([]);
      expect(report.checks.filter((check) => check.note !== null).map(({ id }) => id)).toEqual(notes);
      expect(report.checks.map((check) => check.id)).toEqual(CHECKS.map((check) => check.id));
      expect(report).toMatchObject({ verdict: "pass", stopped: null });
    });
  }
  // A missing receiver is reported as skipped, so that it does not seem to pass.
  for (const { name, needs } of MISSING) {
    it(`${name} [6]`, ({ skip }) => skip(`there is no ${needs}`));
  }
});

describe("a flawed receiver", () => {
  for (const { name, fails, mayFail = [] } of FLAWS) {
    it(`that ${name} fails the check for it and no other [6]`, async () => {
      const report = await pool.getResult(name);
      const failed = listChecksWith(report, "failed");
      expect(failed.filter((id) => !mayFail.includes(id)).sort()).toEqual([...fails].sort());
      expect(listChecksWith(report, "error")).toEqual([]);
      expect(report.verdict).toBe("fail");
      expect(report.summary.failed).toBe(failed.length);
      // A report may be shared, so it must not contain the secret.
      for (const text of [
        renderReceiverHtml(report),
        writeJunit(listReceiverCases(report)),
        formatText(report),
        JSON.stringify(report),
      ]) {
        expect(text).not.toContain(SECRET);
      }
    });
  }

  it("is always found, and no sound one fails [6]", async () => {
    const flawed = await Promise.all(FLAWS.map(async ({ name }) => pool.getResult(name)));
    const sound = await Promise.all(INSTALLED.map(async ({ name }) => pool.getResult(name)));
    const table = [
      { receivers: "flawed", graded: flawed.length, failed: count(flawed, "fail") },
      { receivers: "sound", graded: sound.length, failed: count(sound, "fail") },
    ];
    for (const { name, needs } of MISSING) console.warn(`NOT RUN: ${name}, which needs ${needs}`);
    expect(table).toEqual([
      { receivers: "flawed", graded: FLAWS.length, failed: FLAWS.length },
      { receivers: "sound", graded: INSTALLED.length, failed: 0 },
    ]);
    expect(FLAWS.length).toBeGreaterThanOrEqual(40);
    expect(SOUND.length).toBeGreaterThanOrEqual(20);
  });

  it("exists for every check [6]", () => {
    const found = new Set(FLAWS.flatMap((flaw) => flaw.fails));
    const ids = CHECKS.map((check) => check.id);
    expect(ids.filter((id) => !found.has(id))).toEqual(["signature-upper-case"]);
  });
});
