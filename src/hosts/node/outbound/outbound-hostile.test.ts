import type http from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { waitUntilPasses } from "../../../../test/support/eventually.ts";
import {
  cleanUp,
  createSender,
  createPost as quickly,
  startHostileReceiver,
  startReceiver,
} from "../../../../test/support/outbound-setup.ts";
import {
  HOSTILE_BEHAVIOURS,
  type HostileBehaviour,
  startHostile,
} from "../../../../test/support/receivers/hostile.ts";
import { ALLOW_ALL } from "./address-policy.ts";
import { createOutbound, type Outbound } from "./outbound.ts";
import type { OutboundResult } from "./outbound-request.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TIMEOUT_MS = 1500;
const GRACE_MS = 500;
const LIMIT = 64 * 1024;

/** The longest delay of this process's event loop in milliseconds: a busy machine must not fail an attempt. */
const lag = monitorEventLoopDelay();
lag.enable();
const heldUp = () => lag.max / 1e6;

afterEach(cleanUp);

const posting = (url: string, timeoutMs: number) => quickly(url, { timeoutMs });

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

/** Only attempts that must time out have a short limit: on a busy machine, the others may need longer. */
const limitFor = (behaviour: HostileBehaviour) => (EXPECTED[behaviour] === "timeout" ? TIMEOUT_MS : 60_000);

describe("hostile receivers", () => {
  const behaviours = Object.keys(HOSTILE_BEHAVIOURS) as HostileBehaviour[];
  const timeouts = Object.values(EXPECTED).filter((end) => end === "timeout").length;
  const attempts = new Map<HostileBehaviour, { result: OutboundResult; connections: number }>();
  beforeAll(async () => {
    const outbound = createOutbound({ policy: ALLOW_ALL });
    const attempt = async (behaviour: HostileBehaviour) => {
      const target = await startHostile(behaviour);
      const result = await outbound.send(posting(target.url, limitFor(behaviour)));
      // A finished attempt holds no connection.
      await waitUntilPasses(() => expect([behaviour, target.open()]).toEqual([behaviour, 0]));
      attempts.set(behaviour, { result, connections: target.connections() });
      await target.close();
    };
    await Promise.all(behaviours.map(attempt));
    outbound.close();
  });

  it.each(behaviours)(
    "%s: gets one request, is ended in time, and at most 64 KB of it are kept [quality 2.12, G24]",
    (behaviour) => {
      const { result, connections } = attempts.get(behaviour)!;
      expect(result.error?.kind ?? result.response_code).toBe(EXPECTED[behaviour]);
      expect(result.response_code === 0).toBe(result.error !== undefined);
      expect(result.duration_ms).toBeLessThanOrEqual(limitFor(behaviour) + GRACE_MS + heldUp());
      expect(result.body.length).toBeLessThanOrEqual(LIMIT);
      expect(connections).toBe(1);
    },
  );

  it.each<[HostileBehaviour, string]>([
    ["close-without-a-byte", "the connection was closed without an answer"],
    ["close-mid-status", "the connection was closed without an answer"],
    ["reset-before-headers", "the connection was reset before an answer"],
  ])("%s: the reason is in plain words, not in Node's [G24]", (behaviour, reason) => {
    expect(attempts.get(behaviour)!.result.error?.message).toBe(reason);
  });

  /** Calls each hostile receiver five times at once. */
  const attack = (
    targets: { url: string }[],
    outbound: Outbound,
    timeoutMs: (behaviour: HostileBehaviour) => number,
  ) =>
    behaviours.flatMap((behaviour, place) =>
      Array.from({ length: 5 }, async () => {
        const result = await outbound.send(posting(targets[place]!.url, timeoutMs(behaviour)));
        return { behaviour, ...result };
      }),
    );

  it("healthy receivers answer while five of each hostile receiver are called [quality 2.12]", async () => {
    const healthy = await startReceiver((_request, response) => response.end("ok"));
    const outbound = createSender();
    // The silent receivers hold their attempts until the sender is closed.
    const attacked = attack(await Promise.all(behaviours.map(startHostileReceiver)), outbound, () => 600_000);
    for (let round = 0; round < 20; round += 1) {
      expect((await outbound.send(posting(healthy.url, 60_000))).response_code).toBe(200);
    }
    outbound.close();
    const kinds = (await Promise.all(attacked)).map((result) => result.error?.kind);
    expect(kinds).not.toContain("timeout");
    expect(kinds.filter((kind) => kind === "aborted").length).toBeGreaterThanOrEqual(5 * timeouts);
  });

  it("are ended in time, also five attempts at once of each [quality 2.12]", async () => {
    const results = await Promise.all(
      attack(await Promise.all(behaviours.map(startHostileReceiver)), createSender(), limitFor),
    );
    for (const { behaviour, duration_ms } of results) {
      expect(duration_ms, behaviour).toBeLessThanOrEqual(limitFor(behaviour) + GRACE_MS + heldUp());
    }
    expect(results.filter(({ error }) => error?.kind === "timeout").length).toBe(5 * timeouts);
  });

  it("delay no other request, also if two hundred requests to one origin hang [quality 2.12]", async () => {
    const answer: http.RequestListener = (request, response) => {
      if (request.url === "/hook") response.end("ok");
    };
    const [slow, other] = [await startReceiver(answer), await startReceiver(answer)];
    const outbound = createSender();
    let ended = 0;
    const hanging = Array.from({ length: 200 }, async () => {
      const result = await outbound.send(posting(`${slow.url}/hangs`, 600_000));
      ended += 1;
      return result;
    });
    for (const { url } of [slow, other, slow, other]) {
      expect((await outbound.send(posting(url, 60_000))).response_code).toBe(200);
    }
    expect(ended).toBe(0);
    outbound.close();
    const kinds = (await Promise.all(hanging)).map((result) => result.error?.kind);
    expect(new Set(kinds)).toEqual(new Set(["aborted"]));
  });

  it("a timeout reports the stage that the attempt reached [G24]", async () => {
    const outbound = createSender({ lookup: () => new Promise(() => {}) });
    const message = async (url: string) => (await outbound.send(posting(url, TIMEOUT_MS))).error?.message;
    const [unresolved, unsecured, silent, dribbled] = await Promise.all([
      message("http://hangs.example.test/"),
      ...(["tls-silence", "silence", "dribbled-body"] as const).map(async (behaviour) =>
        message((await startHostileReceiver(behaviour)).url),
      ),
    ]);
    expect(unresolved).toMatch(/^timed out after 1.5 s: the name was not resolved$/);
    expect(unsecured).toMatch(/TLS handshake did not finish/);
    expect(silent).toMatch(/^timed out after 1.5 s$/);
    expect(dribbled).toMatch(/body of the answer 200/);
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
