import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { CHECKS } from "../../src/tools/grader/checks/index.ts";
import {
  type Answer,
  CORRECT_STEPS,
  type Context,
  type Steps,
  startReceiver,
} from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, listChecksWith, SECRET } from "../support/receivers/grade-setup.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function gradeBy(check: string, steps: Partial<Steps>) {
  const { url, probe, close } = await startReceiver(SECRET, steps);
  cleanups.push(close);
  const report = await grade(url, { probe, only: [check], memoryDeliveries: 7 });
  return { report, found: report.checks.find(({ id }) => id === check)! };
}

const LATER: [name: string, answer: Answer][] = [
  ["503", [503]],
  ["503 with Retry-After", [503, "", { "Retry-After": "60" }]],
];

const SLOW_DOWN: Answer = [429, "", { "Retry-After": "0.1" }];

/** A receiver that answers with `answer`, such as 503, to `times` requests from the nth on. */
function answerLater({
  from,
  times = Infinity,
  answer = [503],
}: {
  from: number;
  times?: number;
  answer?: Answer;
}) {
  let requests = 0;
  const steps: Partial<Steps> = {
    screen() {
      requests += 1;
      return requests >= from && requests < from + times ? answer : null;
    },
  };
  return steps;
}

const SENDING = CHECKS.filter(({ id, sendsNothing }) => !sendsNothing && id !== "valid-accepted").map(
  ({ id }) => id,
);
/** Checks that send nothing and only read earlier results. */
const READING = ["late-effects"];

describe("a 503 to every delivery", () => {
  it.each(SENDING.filter((id) => !READING.includes(id)))(
    "makes %s not observable [interfaces 2]",
    async (check) => {
      const { report, found } = await gradeBy(check, { takes: () => true, ...answerLater({ from: 2 }) });
      expect(found).toMatchObject({ outcome: "not-observable", detail: expect.stringContaining("503") });
      expect(report.verdict).toBe("fail");
      expect(report.stopped).toMatch(/answers 503 .*“/);
    },
  );

  it("does not stop the run if it ends in time [interfaces 2]", async () => {
    // Three deliveries: the check's own, one that tests whether the receiver accepts another, and one more.
    const { report, found } = await gradeBy("body-utf8", answerLater({ from: 2, times: 3 }));
    expect(found.outcome).toBe("not-observable");
    expect(report).toMatchObject({ verdict: "pass", stopped: null });
  });
});

describe("a 503 to one kind of delivery", () => {
  const refuseIf = (refuses: (context: Context) => boolean): Partial<Steps> => ({
    consider: (context) => (refuses(context) ? [503] : null),
  });
  it.each<[check: string, steps: Partial<Steps>]>([
    ["body-large", refuseIf(({ body }) => body.length > 200_000)],
    ["unknown-event", refuseIf(({ body }) => /planet\.discovered/.test(`${body}`))],
    ["signature-missing", { refuseSignature: () => [503] }],
    ["signature-upper-case", { refuseSignature: () => [503] }],
    ["malformed-json", { refuseJson: () => [503] }],
    ["method-post-only", { get: ({ request }) => (request.method === "GET" ? [503] : [405]) }],
    [
      "duplicate",
      {
        process: (context, payload) =>
          context.memory.known.has(payload.delivery_id) ? [503] : CORRECT_STEPS.process(context, payload),
      },
    ],
  ])("fails %s [interfaces 2]", async (check, steps) => {
    const { found } = await gradeBy(check, steps);
    expect(found).toMatchObject({ outcome: "failed", detail: expect.stringContaining("503") });
  });

  it("does not count as accepting a forgery [interfaces 2]", async () => {
    const { found } = await gradeBy("signature-behind-proxy", { refuseSignature: () => [503] });
    expect(found.outcome).toBe("passed");
  });
});

describe("a 503 to some deliveries", () => {
  it.each(LATER)(
    "does not count as a broken connection in connection-reuse for a %s [interfaces 2]",
    async (_name, answer) => {
      const { found } = await gradeBy("connection-reuse", {
        screen: answerEveryFourth(answer),
      });
      expect(found).toMatchObject({ outcome: "passed", detail: expect.stringMatching(/^2 deliveries/) });
    },
  );

  it.each([...LATER, ["429", [429]] satisfies (typeof LATER)[number]])(
    "makes connection-reuse not observable if the first answer is %s [interfaces 2]",
    async (_name, answer) => {
      const { found } = await gradeBy("connection-reuse", answerLater({ from: 2, times: 1, answer }));
      expect(found.outcome).toBe("not-observable");
      expect(found.detail).toMatch(/after 0 of 8 .*answered (503|429)/);
    },
  );

  it("makes forgery-before-original not observable if it answers the forgery [interfaces 2]", async () => {
    const { found } = await gradeBy("forgery-before-original", answerLater({ from: 2, times: 1 }));
    expect(found).toMatchObject({ outcome: "not-observable", detail: expect.stringContaining("forged") });
  });

  it("passes if only more than three concurrent deliveries get it [interfaces 2]", async () => {
    let busy = 0;
    const { url, probe, close } = await startReceiver(SECRET, {
      screen({ response }) {
        if (busy === 3) return [503, "no room"];
        busy += 1;
        response.on("close", () => {
          busy -= 1;
        });
        return null;
      },
      async readBody(context) {
        const body = await CORRECT_STEPS.readBody(context);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return body;
      },
    });
    cleanups.push(close);
    const report = await grade(url, { probe, patienceMs: 3000 });
    expect(report.checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(listChecksWith(report, "error")).toEqual([]);
    expect(listChecksWith(report, "not-observable").filter((id) => id !== "long-memory")).toEqual([]);
  });

  it("makes malformed-json not observable if the next answer is 429 [interfaces 2]", async () => {
    const { found } = await gradeBy("malformed-json", answerLater({ from: 3, answer: SLOW_DOWN }));
    expect(found).toMatchObject({ outcome: "not-observable", detail: expect.stringMatching(/400.*429/) });
  });

  it("fails after malformed JSON [interfaces 2]", async () => {
    const { found } = await gradeBy("malformed-json", answerLater({ from: 3, times: 1 }));
    expect(found).toMatchObject({ outcome: "failed", detail: expect.stringContaining("503") });
  });

  it("does not affect a probe's count, which includes the deliveries sent for comparison [interfaces 2]", async () => {
    const { url, probe, close } = await startReceiver(SECRET, { refuseSignature: () => [503] });
    const server = http.createServer(async (_request, response) => {
      const ids = (await (await fetch(probe)).json()) as string[];
      response.end(String(ids.length));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    cleanups.push(close, () => server.close());
    const counted = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { checks } = await grade(url, { probe: counted, only: ["signature-every-form"] });
    expect(checks.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ["passed", expect.anything()],
      ["passed", expect.anything()],
    ]);
  });

  it("gets no diagnosis if it is 429 [6.3]", async () => {
    let requests = 0;
    const { url, close } = await startReceiver(SECRET, {
      screen() {
        requests += 1;
        return requests > 5 ? [503] : [401];
      },
    });
    cleanups.push(close);
    await grade(url, { only: ["valid-accepted"] });
    // Some guesses are sent concurrently. With a diagnosis there would be up to 200 requests.
    expect(requests).toBeLessThan(20);
  });
});

/** Rejects every fourth request: often enough that the check might count two broken connections. */
function answerEveryFourth(answer: Answer): Steps["screen"] {
  let requests = 0;
  return () => {
    requests += 1;
    return requests % 4 === 0 ? answer : null;
  };
}
