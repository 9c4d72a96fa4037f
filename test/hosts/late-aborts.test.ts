import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type LocalSandbox } from "../../src/client/engine.ts";
import { understudyRoutes } from "../../src/client/fetch.ts";
import { toResponse } from "../../src/hosts/fetch/fetch-answer.ts";
import { KEYS } from "../support/harness.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Collects garbage, as a process that is short of memory does before a client's timeout. */
async function collectUnreferenced(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await pause(5);
    collectGarbage();
  }
}

const headers = { "api-key": KEYS.dan };
const MODELS = "/v1/models";
let sandbox: LocalSandbox;
beforeEach(async () => {
  sandbox = await createSandbox({ seed: 7 });
});
afterEach(() => sandbox.close());

type Call = (path: string, signal: AbortSignal) => Promise<Response>;
const CALLS: Record<string, Call> = {
  "a path": (path, signal) => sandbox.fetch(path, { headers, signal }),
  "a request": (path, signal) => sandbox.fetch(new Request(`http://api.test${path}`, { headers, signal })),
  "a request and options": (path, signal) =>
    sandbox.fetch(new Request(`http://api.test${path}`, { headers }), { signal }),
};

/** Returns the error of pending work whose caller aborts late, or "none". */
async function abortLate(caller: AbortController, work: Promise<unknown>): Promise<unknown> {
  const ended = work.then(
    () => "answered",
    (error: Error) => error.message,
  );
  await collectUnreferenced();
  caller.abort(new Error("enough"));
  return Promise.race([ended, pause(2000, "none")]);
}

describe.each(Object.keys(CALLS))("a late abort of %s", (name) => {
  it.each([{ wire: "hang" }, { delay: "10m" }, { hold: { timeout: "10m" } }] as const)(
    "does not end an answer that waits: %j [interfaces 17]",
    async (effect) => {
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: effect as never });
      const caller = new AbortController();
      expect(await abortLate(caller, CALLS[name]!(MODELS, caller.signal))).toBe("enough");
    },
  );

  it("does not end a stream [interfaces 17]", async () => {
    const caller = new AbortController();
    const path = "/v1/meeting-buddy/sessions/mbsess_live/transcripts/stream";
    const response = await CALLS[name]!(path, caller.signal);
    expect(await abortLate(caller, response.text())).toBe("enough");
  });
});

it("a late abort does not end an answer of a route handler [interfaces 17]", async () => {
  // Routes with the same options share a sandbox in the process, and this rule must not affect other test files.
  const { GET } = understudyRoutes({ control: true, seed: 7 });
  const url = "http://app.test";
  const rule = { match: { operation: "models.list" }, effect: { wire: "hang" } };
  const sent = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(rule),
  };
  expect((await GET(new Request(`${url}/_control/sandboxes/default/faults`, sent))).status).toBe(201);
  const caller = new AbortController();
  const answer = GET(new Request(url + MODELS, { headers, signal: caller.signal }));
  expect(await abortLate(caller, answer)).toBe("enough");
});

it.each(["cancels", "aborts"])(
  "a reader that %s ends a stream that waits to be read [interfaces 17]",
  async (how) => {
    let hasEnded = false;
    async function* stream() {
      try {
        for (let piece = 0; ; piece++) yield `piece ${piece}\n`;
      } finally {
        hasEnded = true;
      }
    }
    const answer = { status: 200, headers: [], body: undefined, stream };
    const caller = new AbortController();
    const request = new Request("http://api.test/", { signal: caller.signal });
    const reader = toResponse(answer, request).body!.getReader();
    await reader.read();
    if (how === "aborts") caller.abort();
    else await reader.cancel();
    await expect.poll(() => hasEnded).toBe(true);
  },
);
