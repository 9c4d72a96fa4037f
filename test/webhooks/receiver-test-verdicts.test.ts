import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gradeReceiver } from "../../src/tools/grader/grade-receiver.ts";
import { formatText } from "../../src/tools/grader/receiver-report.ts";
import type { GradeReceiverOptions } from "../../src/tools/grader/report.ts";
import type { ReceiverReport } from "../../types/control-api.ts";
import { freePort } from "../support/free-port.ts";
import {
  CORRECT_STEPS,
  type Context,
  getSentSignature,
  type Payload,
  type Steps,
  startReceiver,
} from "../support/receivers/flawed/flawed-receiver.ts";
import { QUICK, SECRET } from "../support/receivers/grade-setup.ts";
import { startHostile } from "../support/receivers/hostile.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/receivers/test-certificate.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const startRunning = async (steps: Partial<Steps> = {}) => {
  const receiver = await startReceiver(SECRET, steps);
  cleanups.push(() => receiver.close());
  return receiver;
};

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts a probe that converts the list of ids of another probe. */
async function convertProbe(probe: string, write = (ids: string[]): unknown => ids.length): Promise<string> {
  const server = http.createServer(async (_request, response) => {
    const ids = (await (await fetch(probe)).json()) as string[];
    response.end(JSON.stringify(write(ids)));
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

const grade = ({ url, ...options }: Partial<GradeReceiverOptions> & { url: string }) =>
  gradeReceiver(url, { secret: SECRET, ...QUICK, patienceMs: 300, ...options });

const listFailures = ({ checks }: ReceiverReport) =>
  checks.filter(({ outcome }) => outcome !== "passed").map(({ id, detail }) => `${id}: ${detail}`);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes deliveries one after the other, each `delayMs` after its answer. */
function queueDeliveries(delayMs: number): Partial<Steps> {
  let last = Promise.resolve<unknown>(undefined);
  return {
    process({ memory }, { delivery_id: id }) {
      if (!memory.known.has(id)) {
        memory.known.add(id);
        last = last.then(() => pause(delayMs)).then(() => memory.processed.push(id));
      }
      return [202, "queued"];
    },
  };
}

/** Answers `status` to a copy of a delivery that is still being processed. */
function answerWhileBusy(status: number, workMs: number): Partial<Steps> {
  const working = new Set<string>();
  return {
    async process({ memory }: Context, { delivery_id: id }: Payload) {
      if (memory.known.has(id)) return [200, "ok"];
      if (working.has(id)) return [status, "in progress"];
      working.add(id);
      await pause(workMs);
      working.delete(id);
      memory.known.add(id);
      memory.processed.push(id);
      return [200, "ok"];
    },
  };
}

describe("a sound receiver does not fail", () => {
  it.each([{ form: "ids" }, { form: "a count" }])(
    "if it processes deliveries long after its answer, seen through $form [interfaces 2]",
    async ({ form }) => {
      const { url, probe } = await startRunning(queueDeliveries(20));
      const seen = form === "ids" ? probe : await convertProbe(probe);
      expect(listFailures(await grade({ url, probe: seen, settleMs: 120, patienceMs: 8000 }))).toEqual([]);
    },
  );

  it.each([409, 503])(
    "if it answers %i to a copy of a delivery in progress [interfaces 2]",
    async (status) => {
      const { url, probe } = await startRunning(answerWhileBusy(status, 40));
      expect(listFailures(await grade({ url, probe, patienceMs: 5000 }))).toEqual([]);
    },
  );

  it("if it answers 429 at first [interfaces 2]", async () => {
    let requests = 0;
    const { url, probe } = await startRunning({
      screen() {
        requests += 1;
        return requests % 10 === 0 ? [429, "slow down", { "Retry-After": "0.1" }] : null;
      },
    });
    expect(listFailures(await grade({ url, probe }))).toEqual([]);
  });

  it("if it answers 429 with a date, at which the delivery is sent again [interfaces 2]", async () => {
    let date: string | undefined;
    let refusals = 0;
    const { url } = await startRunning({
      screen() {
        date ??= new Date(Date.now() + 5000).toUTCString();
        if (Date.now() >= Date.parse(date)) return null;
        refusals += 1;
        return [429, "slow down", { "Retry-After": date }];
      },
    });
    expect(listFailures(await grade({ url, only: ["body-utf8"] }))).toEqual([]);
    expect(refusals).toBeLessThan(3);
  });

  it("if it answers 429 only to the forged delivery, which is not a refusal [interfaces 2]", async () => {
    const { url } = await startRunning({ refuseSignature: () => [429, "later", { "Retry-After": "0.1" }] });
    // The grader repeats each forgery until its patience ends.
    const found = listFailures(await grade({ url, only: ["signature-missing"] }));
    expect(found.find((text) => text.startsWith("signature-missing"))).toContain("429");
  });

  it("if deliveries from elsewhere are in a probe that lists ids [interfaces 2]", async () => {
    const { url, probe } = await startRunning();
    let n = 0;
    const busy = await convertProbe(probe, (ids) => [
      ...ids,
      ...Array.from({ length: ++n }, (_, i) => `del_${i}`),
    ]);
    const report = await grade({ url, probe: busy });
    expect(listFailures(report)).toEqual([]);
    expect(report.checks.filter(({ note }) => note !== null)).toEqual([]);
  });

  it.each([{ form: "ids" }, { form: "a count" }])(
    "if it ignores events after a user's creation, seen through $form [interfaces 2]",
    async ({ form }) => {
      const { url, probe } = await startRunning({
        process: (context, payload) =>
          payload.event === "user.created" ? CORRECT_STEPS.process(context, payload) : [200],
      });
      const seen = form === "ids" ? probe : await convertProbe(probe);
      expect(listFailures(await grade({ url, probe: seen, only: ["out-of-order"] }))).toEqual([]);
    },
  );

  it("if it repeats the refused signature [interfaces 2]", async () => {
    const { url } = await startRunning({
      refuseSignature: (context) => [401, `${getSentSignature(context)} is wrong`],
    });
    const sendRightDigests = ["signature-truncated", "signature-surrounded", "signature-wrong-encoding"];
    const only = [
      ...sendRightDigests,
      "signature-prefix",
      "signature-trailing-text",
      "signature-upper-case",
      "signature-not-disclosed",
    ];
    expect(listFailures(await grade({ url, only }))).toEqual([]);
  });

  it("if it is still starting, which is waited for [interfaces 2]", async () => {
    const port = await freePort();
    const grading = grade({ url: `http://127.0.0.1:${port}/`, patienceMs: 10_000 });
    const late = http.createServer((_request, response) => response.writeHead(404).end());
    late.listen(port, "127.0.0.1");
    cleanups.push(() => late.close());
    expect((await grading).checks[0]!.id).toBe("valid-accepted");
  });
});

describe("a finding says what to fix", () => {
  const getFirst = (report: ReceiverReport) => report.checks[0]!;

  it("a count that rises without a delivery is an error of the probe, never a finding [interfaces 2]", async () => {
    const { url, probe } = await startRunning();
    let n = 0;
    const report = await grade({ url, probe: await convertProbe(probe, (ids) => ids.length + ++n) });
    expect(getFirst(report)).toMatchObject({ id: "probe", outcome: "error" });
    expect(getFirst(report).detail).toContain("although nothing is sent");
    expect(report.summary).toMatchObject({ failed: 0, error: 1 });
  });

  it("a list that is too long is distinguished from broken JSON [interfaces 2]", async () => {
    const { url, probe } = await startRunning();
    const long = Array.from({ length: 60_000 }, (_, i) => `del_${i}_of_long_ago`);
    const report = await grade({ url, probe: await convertProbe(probe, (ids) => [...long, ...ids]) });
    expect(getFirst(report)).toMatchObject({ id: "probe", outcome: "error" });
    expect(getFirst(report).detail).toContain("longer than 1 MB");
  });

  it("missing side effects name how long they were waited for [interfaces 2]", async () => {
    const { url, probe } = await startRunning({ process: () => [200, "ok"] });
    const found = listFailures(await grade({ url, probe, only: ["valid-processed"] }));
    expect(found[0]).toMatch(/not at all instead of once, in \d+(\.\d)? s/);
  });

  it("a redirect names its target, and is not followed [G24]", async () => {
    let followed = 0;
    const server = http.createServer((request, response) => {
      if (request.url === "/hook/") followed += 1;
      response.writeHead(301, { Location: "/hook/" }).end();
    });
    const report = await grade({ url: `http://127.0.0.1:${await listen(server)}/hook` });
    expect(getFirst(report).detail).toContain("answered 301");
    expect(getFirst(report).detail).toContain("a redirect to /hook/");
    expect(followed).toBe(0);
  });

  it("a connection closed without an answer points to the receiver's log [interfaces 2]", async () => {
    const server = http.createServer((request) => request.socket.destroy());
    const report = await grade({ url: `http://127.0.0.1:${await listen(server)}/hook` });
    expect(getFirst(report).detail).toMatch(/closed the connection .* without an answer.*log/);
  });

  it("a self-signed certificate is refused, and can be trusted by a file [G24]", async () => {
    const server = https.createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (_request, response) => {
      response.end("ok");
    });
    const url = `https://127.0.0.1:${await listen(server)}/hook`;
    expect(getFirst(await grade({ url })).detail).toMatch(/self-signed certificate/);
    const caFile = path.join(mkdtempSync(path.join(tmpdir(), "receiver-test-")), "cert.pem");
    writeFileSync(caFile, TEST_CERTIFICATE);
    const trusted = getFirst(await grade({ url, caFile }));
    // The certificate is trusted now, but it is for another name than this address.
    expect(trusted.detail).toMatch(/IP: 127\.0\.0\.1 is not in the cert's list/);
    expect(trusted.curl).toContain(`--cacert '${caFile}'`);
  });

  it("checks that were not run take one line of the text [interfaces 2]", async () => {
    const { url } = await startRunning({ isSigned: () => false });
    const text = formatText(await grade({ url }));
    expect(text).toMatch(/\d+ checks were not run: connection-reuse, valid-processed/);
    expect(text.match(/Not run\./g)).toBeNull();
    expect(text.split("\n").length).toBeLessThan(25);
  });

  it.each([{ timeoutMs: 1e10 }, { timeoutMs: Number.NaN }, { patienceMs: -1 }])(
    "a duration no timer can keep is wrong usage: %j [interfaces 2]",
    async (options) => {
      await expect(grade({ url: "http://127.0.0.1:1/", ...options })).rejects.toThrow(/seconds/);
    },
  );
});

describe("the grader sends with the client of deliveries", () => {
  it.each([
    "informational-flood",
    "endless-chunk-extension",
    "endless-headers",
    "endless-blank-lines",
  ] as const)("%s ends long before the deadline [interfaces 2]", async (behaviour) => {
    const hostile = await startHostile(behaviour);
    cleanups.push(() => hostile.close());
    const report = await grade({ url: hostile.url, timeoutMs: 20_000 });
    expect(report.checks[0]).toMatchObject({ id: "valid-accepted", outcome: "failed" });
    expect(report.checks[0]!.detail).not.toContain("timed out");
  });
});
