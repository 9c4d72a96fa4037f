import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { processAgain, verifyOver } from "../support/receivers/flawed/flaw.ts";
import {
  CORRECT_STEPS,
  type Context,
  getSentSignature,
  type Payload,
  type Steps,
  startReceiver,
} from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";

/** The time from the first attempt to the sixth: 7 h 21 min. */
const WHOLE_SCHEDULE_MS = 441 * 60_000;

async function gradeBy(check: string, steps: Partial<Steps>) {
  const { url, probe, close } = await startReceiver(SECRET, steps);
  try {
    const { checks } = await grade(url, { probe, only: [check] });
    return checks.find(({ id }) => id === check)!;
  } finally {
    await close();
  }
}

const readHeader = ({ request }: Context, name: string) => request.headers[name];
const verifyReplaced = (from: RegExp, to: string) => verifyOver((body) => body.toString().replace(from, to));
const refuseRequests = (refuses: (context: Context) => boolean): Partial<Steps> => ({
  screen: (context) => (refuses(context) ? [400] : null),
});
const refusePayloads = (refuses: (payload: Payload) => boolean): Partial<Steps> => ({
  consider: (_context, payload) => (refuses(payload) ? [422] : null),
});
const acceptMethod = (method: string): Partial<Steps> => ({
  takes: ({ request }) => request.method === "POST" || request.method === method,
});
const skipSignature = (where: (context: Context) => boolean): Partial<Steps> => ({
  isSigned: (context) => where(context) || CORRECT_STEPS.isSigned(context),
});

/** Stores an id as processed although its body was not received completely. */
const STORES_ID_TOO_EARLY: Partial<Steps> = {
  async readBody(context) {
    try {
      return await CORRECT_STEPS.readBody(context);
    } catch (broken) {
      context.memory.known.add(String(readHeader(context, "x-service-delivery")));
      throw broken;
    }
  },
};

/** Forgets the id if the client disconnects during the second answer, but does not undo the side effect. */
function forgetAbortedDelivery(): Partial<Steps> {
  const attempts = new Map<string, number>();
  return {
    async process(context, payload) {
      const { response, memory } = context;
      const { delivery_id: id } = payload;
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      if (!memory.known.has(id)) processAgain(context, payload);
      memory.known.add(id);
      if (attempts.get(id) !== 2) return [200];
      response.writeHead(200).write("o");
      const isLeft = await Promise.race([once(response, "close"), wait(2000, false)]);
      if (isLeft) memory.known.delete(id);
      response.end("k");
      return new Promise<never>(() => {});
    },
  };
}

describe("a part of a check", () => {
  it.each<[check: string, flaw: string, steps: Partial<Steps>]>([
    [
      "header-name-case",
      "knows no names in upper case",
      refuseRequests(({ request }) => request.rawHeaders.includes("X-SERVICE-EVENT")),
    ],
    [
      "extra-fields",
      "refuses fields of data that it does not know",
      refusePayloads(({ data }) => "labels" in data),
    ],
    ["method-post-only", "takes deliveries by PATCH", acceptMethod("PATCH")],
    ["method-post-only", "takes deliveries by DELETE", acceptMethod("DELETE")],
    ["body-unicode-escapes", "writes 1000.0 as 1000", verifyReplaced(/:1000\.0\b/, ":1000")],
    ["body-unicode-escapes", "writes 8e2 as 800", verifyReplaced(/:8e2\b/, ":800")],
    [
      "whole-schedule",
      "refuses what is as old as at the last attempt",
      refusePayloads(({ timestamp }) => Date.now() - Date.parse(timestamp) >= WHOLE_SCHEDULE_MS),
    ],
    ["whole-schedule", "remembers deliveries whose body broke off", STORES_ID_TOO_EARLY],
    ["timeout-after-commit", "forgets a delivery that is left within the answer", forgetAbortedDelivery()],
    ["unknown-event", "knows no test", refusePayloads(({ event }) => event === "webhook.test")],
    [
      "signature-every-form",
      "believes forms",
      skipSignature((context) => /form-urlencoded/.test(String(readHeader(context, "content-type")))),
    ],
    [
      "signature-every-form",
      "believes what has no type",
      skipSignature((context) => readHeader(context, "content-type") === undefined),
    ],
    [
      "signature-every-form",
      "believes what is old",
      skipSignature(({ body }) => /"timestamp":"2001/.test(`${body}`)),
    ],
    [
      "signature-upper-case",
      "fails at a digest in upper case",
      {
        isSigned(context) {
          if (/[A-F]/.test(getSentSignature(context) ?? "")) throw new RangeError("no hex digits");
          return CORRECT_STEPS.isSigned(context);
        },
      },
    ],
  ])("of %s fails a receiver that %s [6]", async (check, _flaw, steps) => {
    expect((await gradeBy(check, steps)).outcome).toBe("failed");
  });
});

/** Resets at most `times` reused connections. */
function resetConnections(times: number) {
  const seen = new WeakSet<object>();
  const counted = { resets: 0 };
  const steps: Partial<Steps> = {
    screen({ request }) {
      if (seen.has(request.socket) && counted.resets < times) {
        counted.resets += 1;
        request.socket.resetAndDestroy();
      }
      seen.add(request.socket);
      return null;
    },
  };
  return { counted, steps };
}

describe("the check connection-reuse", () => {
  it("tolerates a single broken connection [6]", async () => {
    const { outcome, detail } = await gradeBy("connection-reuse", resetConnections(1).steps);
    expect([outcome, detail]).toEqual([
      "passed",
      "6 deliveries were answered over a connection that was kept",
    ]);
  });

  it("does not reuse connections after two broke [6]", async () => {
    const { counted, steps } = resetConnections(Number.POSITIVE_INFINITY);
    const { url, probe, close } = await startReceiver(SECRET, steps);
    const only = ["connection-reuse", "duplicate", "long-memory"];
    const { checks } = await grade(url, { probe, only }).finally(close);
    expect(checks.map(({ outcome }) => outcome)).toEqual(["passed", "failed", "passed", "passed"]);
    expect(counted.resets).toBe(2);
  });
});
