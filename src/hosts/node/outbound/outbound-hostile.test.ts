import type http from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import {
  hostile,
  posting as quickly,
  receiver,
  sender,
  undoAll,
} from "../../../../test/support/outbound-setup.ts";
import {
  HOSTILE_BEHAVIOURS,
  type HostileBehaviour,
  startHostile,
} from "../../../../test/support/receivers/hostile.ts";
import { createAddressPolicy } from "./address-policy.ts";
import { createOutbound } from "./outbound.ts";
import type { OutboundRequest, OutboundResult } from "./outbound-request.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TIMEOUT_MS = 1500;
const GRACE_MS = 500;
const LIMIT = 64 * 1024;

/** The longest delay of this process's event loop, in milliseconds: a busy machine must not fail an attempt. */
const lag = monitorEventLoopDelay();
lag.enable();
const heldUp = () => lag.max / 1e6;

afterEach(undoAll);

const posting = (url: string, changes: Partial<OutboundRequest> = {}) =>
  quickly(url, { timeoutMs: TIMEOUT_MS, ...changes });

/** The expected outcome of an attempt at each hostile receiver: the status, or the kind of failure. */
const EXPECTED: Record<HostileBehaviour, number | string> = {
  "reset-before-headers": "reset",
  "reset-after-headers": "incomplete",
  "close-without-a-byte": "reset",
  "close-mid-status": "reset",
  silence: "timeout",
  "dribbled-headers": "timeout",
  "dribbled-status": "timeout",
  "dribbled-body": "timeout",
  "dribbled-chunks": "timeout",
  "dribbled-trailers": "timeout",
  "informational-flood": "protocol",
  "informational-dribble": "timeout",
  "switching-flood": 101,
  "endless-headers": "protocol",
  "endless-status-line": "protocol",
  "endless-body": 200,
  "endless-chunks": 200,
  "endless-chunk-extension": "protocol",
  "endless-chunk-size": 200,
  "endless-blank-lines": "protocol",
  "wordy-interim-answers": "protocol",
  "endless-trailers": "protocol",
  "endless-error": 503,
  "gzip-bomb": 200,
  "content-length-too-long": "incomplete",
  "content-length-too-short": 200,
  "content-length-nonsense": "protocol",
  "content-length-twice": "protocol",
  "not-http": "protocol",
  "switching-protocols": 101,
  "tls-garbage": "tls",
  "tls-silence": "timeout",
  "tls-reset": "tls",
};

describe("hostile receivers", () => {
  const behaviours = Object.keys(HOSTILE_BEHAVIOURS) as HostileBehaviour[];
  const attempts = new Map<HostileBehaviour, { result: OutboundResult; connections: number }>();
  beforeAll(async () => {
    const outbound = createOutbound({ policy: createAddressPolicy({ mode: "local" }) });
    const attempt = async (behaviour: HostileBehaviour) => {
      const target = await startHostile(behaviour);
      const result = await outbound.send(posting(target.url));
      // An attempt that has ended holds no connection any more.
      await eventually(() => expect([behaviour, target.open()]).toEqual([behaviour, 0]));
      attempts.set(behaviour, { result, connections: target.connections() });
      await target.close();
    };
    await Promise.all(behaviours.map(attempt));
    outbound.close();
  });

  it.each(behaviours)(
    "%s: one request, ended in time, at most 64 KB kept [quality 2.12, G24]",
    (behaviour) => {
      const { result, connections } = attempts.get(behaviour)!;
      expect(result.error?.kind ?? result.response_code).toBe(EXPECTED[behaviour]);
      expect(result.response_code === 0).toBe(result.error !== undefined);
      expect(result.duration_ms).toBeLessThanOrEqual(TIMEOUT_MS + GRACE_MS + heldUp());
      expect(result.body.length).toBeLessThanOrEqual(LIMIT);
      expect(connections).toBe(1);
    },
  );

  it("healthy receivers answer first while five of each hostile receiver are called [quality 2.12]", async () => {
    const healthy = await receiver((_request, response) => response.end("ok"));
    const outbound = sender();
    const hostileReceivers = await Promise.all(behaviours.map(hostile));
    const twenty = async () => {
      for (let round = 0; round < 20; round += 1) {
        expect((await outbound.send(posting(healthy.url, { timeoutMs: 60_000 }))).response_code).toBe(200);
      }
    };
    // Thirty times as long as this machine needs for twenty undisturbed attempts.
    const began = performance.now();
    await twenty();
    const timeoutMs = Math.round(Math.max(1500, 30 * (performance.now() - began)));
    let timeouts = 0;
    const attacked = hostileReceivers.flatMap((target) =>
      Array.from({ length: 5 }, async () => {
        const result = await outbound.send(posting(target.url, { timeoutMs }));
        if (result.error?.kind === "timeout") timeouts += 1;
        return result;
      }),
    );
    await twenty();
    // Twenty attempts in a row end before the first silent receiver times out.
    expect(timeouts).toBe(0);
    for (const { duration_ms } of await Promise.all(attacked)) {
      expect(duration_ms).toBeLessThanOrEqual(timeoutMs + GRACE_MS + heldUp());
    }
    expect(timeouts).toBe(5 * Object.values(EXPECTED).filter((end) => end === "timeout").length);
  });

  it("two hundred hanging requests to one origin delay no other request [quality 2.12]", async () => {
    const answer: http.RequestListener = (request, response) => {
      if (request.url === "/hook") response.end("ok");
    };
    const [slow, other] = [await receiver(answer), await receiver(answer)];
    const outbound = sender();
    let ended = 0;
    const hanging = Array.from({ length: 200 }, async () => {
      const result = await outbound.send(posting(`${slow.url}/hangs`, { timeoutMs: 6000 }));
      ended += 1;
      return result;
    });
    for (const { url } of [slow, other, slow, other]) {
      expect((await outbound.send(posting(url, { timeoutMs: 60_000 }))).response_code).toBe(200);
    }
    expect(ended).toBe(0);
    const kinds = (await Promise.all(hanging)).map((result) => result.error?.kind);
    expect(new Set(kinds)).toEqual(new Set(["timeout"]));
  });

  it("a timeout reports the stage that the attempt reached [G24]", async () => {
    const outbound = sender({ lookup: () => new Promise(() => {}) });
    const message = async (url: string) =>
      (await outbound.send(posting(url, { timeoutMs: 300 }))).error?.message;
    expect(await message("http://hangs.example.test/")).toMatch(
      /^timed out after 0.3 s: the name was not resolved$/,
    );
    expect(await message((await hostile("tls-silence")).url)).toMatch(/TLS handshake did not finish/);
    expect(await message((await hostile("silence")).url)).toMatch(/^timed out after 0.3 s$/);
    expect(await message((await hostile("dribbled-body")).url)).toMatch(/body of the answer 200/);
  });

  it("a flood of interim answers, chunks or bytes is read only up to a limit for each [6.4]", () => {
    expect(attempts.get("informational-flood")!.result.error?.message).toMatch(
      /more than 100 interim answers/,
    );
    expect(attempts.get("endless-chunks")!.result).toMatchObject({
      truncated: true,
      body: Buffer.alloc(500, "."),
    });
    for (const behaviour of ["endless-blank-lines", "wordy-interim-answers"] as const) {
      expect(attempts.get(behaviour)!.result.error?.message).toMatch(/too much before its status/);
    }
    expect(attempts.get("endless-chunk-size")!.result).toMatchObject({
      truncated: true,
      body: Buffer.alloc(0),
    });
  });
});
