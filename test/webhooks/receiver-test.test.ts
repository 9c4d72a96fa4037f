import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CHECKS } from "../../src/tools/grader/checks/index.ts";
import { type GradeReceiverOptions, ReceiverTestUsageError } from "../../src/tools/grader/report.ts";
import type { ReceiverReport } from "../../types/control-api.ts";
import { CORRECT_STEPS, startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { FLAWS } from "../support/receivers/flawed/flaws.ts";
import { grade as gradeAt, listChecksWith, SECRET } from "../support/receivers/grade-setup.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function startRunning(...args: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...args);
  cleanups.push(() => receiver.close());
  return receiver;
}

function grade({
  url,
  ...options
}: Partial<GradeReceiverOptions> & { url: string }): Promise<ReceiverReport> {
  return gradeAt(url, options);
}

function expectFullPass(report: ReceiverReport): void {
  expect(report.checks.filter((check) => check.outcome !== "passed" || check.note)).toEqual([]);
  expect(report.checks.map((check) => check.id)).toEqual(CHECKS.map((check) => check.id));
  expect(report).toMatchObject({ verdict: "pass", stopped: null });
}

const NEED_A_PROBE = [
  "valid-processed",
  "duplicate",
  "duplicate-at-once",
  "retry-after-5xx",
  "distinct-deliveries",
  "distinct-at-once",
  "forgery-before-original",
  "out-of-order",
  "timeout-after-commit",
  "whole-schedule",
  "long-memory",
  "late-effects",
];

describe("side effects in the receiver test", () => {
  it("are not observable without a probe, never passed [6.4]", async () => {
    const { url } = await startRunning(SECRET, { process: () => [200] });
    const report = await grade({ url });
    expect(listChecksWith(report, "not-observable")).toEqual(NEED_A_PROBE);
    expect(report.summary).toMatchObject({ failed: 0, error: 0, not_observable: NEED_A_PROBE.length });
    expect(report.verdict).toBe("pass");
  });

  it.each([
    { form: "a bare number", write: (ids: string[]) => `${ids.length}\n` },
    { form: "{count}", write: (ids: string[]) => JSON.stringify({ count: ids.length }) },
    { form: "an object with a list", write: (ids: string[]) => JSON.stringify({ items: ids }) },
    {
      form: "a list of deliveries",
      write: (ids: string[]) => JSON.stringify(ids.map((id) => ({ delivery_id: id }))),
    },
  ])("are read from a probe that answers $form [6.4]", async ({ write }) => {
    const good = await startRunning(SECRET);
    expectFullPass(await grade({ url: good.url, probe: await convertProbe(good.probe, write) }));
    const flaw = FLAWS.find(({ name }) => name === "ignores the delivery id")!;
    const flawed = await startRunning(SECRET, flaw.steps);
    const report = await grade({ url: flawed.url, probe: await convertProbe(flawed.probe, write) });
    expect(listChecksWith(report, "failed").sort()).toEqual([...flaw.fails].sort());
  });

  it.each([
    { answer: "<h1>hello</h1>", says: "not JSON" },
    { answer: '{"processed":"all"}', says: "neither a whole number" },
    { answer: "-1", says: "neither a whole number" },
    { answer: "[1,2]", says: "neither a whole number" },
  ])("a probe that answers $answer is an error, not a pass [6.4]", async ({ answer, says }) => {
    const { url, probe } = await startRunning(SECRET);
    const report = await grade({ url, probe: await convertProbe(probe, () => answer) });
    expect(listChecksWith(report, "error")).toEqual(["probe"]);
    expect(report.checks[0]).toMatchObject({ id: "probe", advice: expect.stringContaining("GET") });
    expect(report.checks[0]!.detail).toContain(says);
    // The other checks are graded by their answers, and no side effect counts as seen.
    expect(listChecksWith(report, "not-observable")).toEqual(NEED_A_PROBE);
    expect(listChecksWith(report, "failed")).toEqual([]);
    expect(report.verdict).toBe("fail");
  });

  it("are awaited if they come after the answer [6.4]", async () => {
    const { url, probe } = await startRunning(SECRET, {
      process({ memory }, { delivery_id: id }) {
        if (!memory.known.has(id)) {
          memory.known.add(id);
          setTimeout(() => memory.processed.push(id), 40);
        }
        return [202];
      },
    });
    expectFullPass(await grade({ url, probe, settleMs: 120, patienceMs: 3000 }));
  });

  it("are found if a receiver deduplicates by the unsigned header, which is noted [6.4]", async () => {
    const { url, probe } = await startRunning(SECRET, {
      process({ memory, request }) {
        const id = String(request.headers["x-service-delivery"]);
        if (!memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
        }
        return [200];
      },
    });
    const report = await grade({ url, probe });
    expect(report.verdict).toBe("pass");
    expect(report.checks.filter((check) => check.note).map((check) => check.id)).toEqual(["duplicate"]);
    const counted = await convertProbe(probe, (ids) => `${ids.length}`);
    const [, duplicate] = (await grade({ url, probe: counted, only: ["duplicate"] })).checks;
    expect(duplicate!.note).toContain("deduplicate by the body's delivery_id");
  });

  it("are found if a receiver answers 5xx first and deletes failed ids [6.4]", async () => {
    const { url, probe } = await startRunning(SECRET, {
      process({ memory }, { delivery_id: id }) {
        const attempt = Number(memory.scratch.get(id) ?? 0) + 1;
        memory.scratch.set(id, attempt);
        if (attempt === 1) return [503];
        if (!memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
        }
        return [200];
      },
    });
    const report = await grade({ url, probe });
    expect(report.checks.find((check) => check.id === "valid-accepted")!.outcome).toBe("failed");
    expect(report.checks.find((check) => check.id === "retry-after-5xx")!.outcome).toBe("passed");
  });

  it("are found if a receiver answers 2xx at the sixth attempt [6.4]", async () => {
    const { url, probe } = await startRunning(SECRET, {
      process(context, payload) {
        const { scratch, known } = context.memory;
        const attempt = Number(scratch.get(payload.delivery_id) ?? 0) + 1;
        scratch.set(payload.delivery_id, attempt);
        // The first delivery must succeed: otherwise the grader stops before this check.
        return attempt <= 5 && known.size > 0 ? [503] : CORRECT_STEPS.process(context, payload);
      },
    });
    const [, retry] = (await grade({ url, probe, only: ["retry-after-5xx"] })).checks;
    expect(retry).toMatchObject({ id: "retry-after-5xx", outcome: "passed" });
  });
});

describe("a sound receiver passes the receiver test", () => {
  it.each([302, 410])("if it answers %i to other methods than POST [3.3, 6.4]", async (status) => {
    const { url, probe } = await startRunning(SECRET, { get: () => [status, "", { Location: "/login" }] });
    expectFullPass(await grade({ url, probe }));
  });
});

describe("a delivery that is not answered in time", () => {
  it("fails its check, also on a kept connection, and is not sent again [6.4]", async () => {
    let hanging = 0;
    const { url } = await startRunning(SECRET, {
      process(context, payload) {
        if (hanging > 0 || !/[^\0-\x7f]/.test(context.body.toString()))
          return CORRECT_STEPS.process(context, payload);
        hanging += 1;
        return new Promise(() => {});
      },
    });
    const report = await grade({ url, only: ["body-utf8"], timeoutMs: 2000 });
    expect(listChecksWith(report, "failed")).toEqual(["body-utf8"]);
  });
});

/** Starts a probe that converts the answer of another probe. */
async function convertProbe(probe: string, write: (ids: string[]) => string): Promise<string> {
  const server = http.createServer(async (_request, response) => {
    const answer = await fetch(probe);
    response.end(write((await answer.json()) as string[]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("the receiver test ends early with the reason", () => {
  it("if the receiver is down [6]", async () => {
    const { url, close } = await startReceiver(SECRET);
    await close();
    const report = await grade({ url });
    expect(report.checks).toHaveLength(1);
    expect(report.checks[0]).toMatchObject({ id: "reachable", outcome: "error" });
    expect(report.stopped).toContain("ECONNREFUSED");
    expect(report.verdict).toBe("fail");
  });

  it("if the receiver's name cannot be resolved [6]", async () => {
    const { stopped } = await grade({ url: "http://no-such.invalid/hook" });
    expect(stopped).toMatch(/: the name no-such\.invalid cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)$/);
  });

  it("if nothing is accepted, and no check is graded [6]", async () => {
    const { url, probe } = await startRunning(SECRET, { isSigned: () => false });
    const report = await grade({ url, probe });
    expect(report.checks.find((check) => check.id === "signature-missing")!.outcome).toBe("not-observable");
    expect(report.stopped).toContain("doesn't accept a valid delivery");
  });

  it("after a 410 to a genuine delivery [3.3]", async () => {
    let deliveries = 0;
    const { url } = await startRunning(SECRET, {
      process: () => {
        deliveries += 1;
        return [410];
      },
    });
    const report = await grade({ url });
    expect(deliveries).toBe(1);
    expect(listChecksWith(report, "failed")).toEqual(["valid-accepted", "gone-stops-delivery"]);
    expect(report.stopped).toContain("410");
  });

  it("if the receiver goes down during the run, which fails it [6]", async () => {
    const flaw = FLAWS.find(({ name }) => name === "crashes on malformed JSON")!;
    const { url } = await startRunning(SECRET, flaw.steps);
    const report = await grade({ url });
    expect(report.stopped).toContain("malformed-json");
    expect(report.verdict).toBe("fail");
  });

  it.each([
    {
      trouble: "an endless answer",
      write: (socket: net.Socket) => void streamEndlessly(socket),
      status: 200,
    },
    {
      trouble: "bytes that are not HTTP",
      write: (socket: net.Socket) => void socket.end("hello\r\n\r\n"),
      status: 0,
    },
    {
      trouble: "a length that does not fit",
      write: (socket: net.Socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort"),
      status: 0,
    },
  ])("in time for $trouble [6.4]", async ({ write, status }) => {
    const server = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => write(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const report = await grade({ url: `http://127.0.0.1:${port}/`, timeoutMs: 2000 });
    const first = report.checks[0]!;
    expect(first.outcome).toBe(status === 200 ? "passed" : "failed");
    expect(report.verdict).toBe("fail");
  });

  it("if it is aborted, with the signal's reason [6]", async () => {
    const { url } = await startRunning(SECRET, { process: () => new Promise<never>(() => {}) });
    const controller = new AbortController();
    const grading = grade({ url, signal: controller.signal });
    setImmediate(() => controller.abort(new Error("enough")));
    await expect(grading).rejects.toThrow("enough");
  });

  it.each([
    { url: "not a url" },
    { url: "ftp://127.0.0.1/" },
    { url: "http://user:pass@127.0.0.1/" },
    { url: "http://127.0.0.1/", secret: "" },
    { url: "http://127.0.0.1/", probe: "processed" },
    { url: "http://127.0.0.1/", timeoutMs: 0 },
  ])("if it is used wrongly, which is not a failing receiver: %j [G23]", async (options) => {
    await expect(grade(options)).rejects.toThrow(ReceiverTestUsageError);
  });
});

function streamEndlessly(socket: net.Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
  const writeMore = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", writeMore);
  writeMore();
}
