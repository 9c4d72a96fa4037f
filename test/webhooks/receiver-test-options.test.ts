import { afterEach, describe, expect, it } from "vitest";
import { gradeReceiver, ReceiverTestUsageError } from "../../src/client/index.ts";
import { CHECKS } from "../../src/tools/grader/checks/index.ts";
import { formatText, listReceiverCases, renderReceiverHtml } from "../../src/tools/grader/receiver-report.ts";
import { writeJunit } from "../../src/tools/reports/junit.ts";
import { type Payload, type Steps, startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const startRunning = async (steps: Partial<Steps> = {}) => {
  const receiver = await startReceiver(SECRET, steps);
  cleanups.push(() => receiver.close());
  return receiver;
};

const readIds = ({ checks }: { checks: { id: string }[] }) => checks.map(({ id }) => id);

describe("options of receiver-test, and gradeReceiver in the library", () => {
  it("gradeReceiver(url, {secret}) grades without a command line [interfaces 14]", async () => {
    const { url, probe } = await startRunning();
    const report = await gradeReceiver(url, { secret: SECRET, probe, only: ["duplicate"], settleMs: 15 });
    expect(report).toMatchObject({ url, probe, verdict: "pass", fail_on: "minor", stopped: null });
    expect(readIds(report)).toEqual(["valid-accepted", "duplicate"]);
  });

  it("only and skip choose checks; valid-accepted always runs [interfaces 14]", async () => {
    const { url } = await startRunning();
    expect(readIds(await grade(url, { only: ["body-large", "signature-empty"] }))).toEqual([
      "valid-accepted",
      "signature-empty",
      "body-large",
    ]);
    const skip = ["body-large", "long-memory"];
    const all = CHECKS.map(({ id }) => id);
    expect(readIds(await grade(url, { skip }))).toEqual(all.filter((id) => !skip.includes(id)));
  });

  it.each([
    { only: ["body-larg"], says: 'did you mean "body-large"' },
    { skip: ["valid-accepted"], says: "can't be left out" },
    { failOn: "mayor" as never, says: 'did you mean "major"' },
    { data: { user: "usr_1" }, says: 'no field of an event\'s data "user"' },
    { event: "user.creatd", says: 'did you mean "user.created"' },
    { requireProbe: true, says: "a probe is required" },
    { memoryMs: -1, says: "the memory must be" },
    { memoryDeliveries: 1.5, says: "whole number" },
  ])("$says is wrong usage [interfaces 14]", async ({ says, ...options }) => {
    const grading = grade("http://127.0.0.1:9/", options);
    await expect(grading).rejects.toThrow(ReceiverTestUsageError);
    await expect(grading).rejects.toThrow(says);
  });

  it("failOn decides which failures fail the receiver, and every report says so [interfaces 14]", async () => {
    const { url } = await startRunning({ get: () => [500] });
    const only = ["method-post-only"];
    expect((await grade(url, { only })).verdict).toBe("fail");
    const lenient = await grade(url, { only, failOn: "major" });
    expect(lenient).toMatchObject({ verdict: "pass", fail_on: "major", summary: { failed: 1 } });
    expect(formatText(lenient)).toContain("Failures below major don't fail the receiver.");
    expect(renderReceiverHtml(lenient)).toContain("Failures below major");
    expect(writeJunit(listReceiverCases(lenient))).not.toContain("<failure");
    const grave = await startRunning({ consider: () => [503] });
    expect((await grade(grave.url, { failOn: "critical", patienceMs: 0 })).verdict).toBe("fail");
  });

  it("data puts values into every event that has the field [interfaces 14]", async () => {
    const users = new Set<unknown>();
    const { url } = await startRunning({
      consider(_context, { data }: Payload) {
        if ("user_id" in data) users.add(data["user_id"]);
        return data["user_id"] === undefined || data["user_id"] === "usr_known"
          ? null
          : [422, "no such user"];
      },
    });
    const report = await grade(url, { data: { user_id: "usr_known", email: "known@example.com" } });
    expect(report.checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect([...users]).toEqual(["usr_known"]);
    expect((await grade(url)).checks[0]!.advice).toContain("data: {");
  });

  it("event replaces user.created for a receiver that ignores it [interfaces 14]", async () => {
    const { url, probe } = await startRunning({
      process({ memory }, { delivery_id: id, event }) {
        if (event === "invoice.paid" && !memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
        }
        return [200];
      },
    });
    const report = await grade(url, { probe, event: "invoice.paid" });
    expect(report.checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  });
});
