import { expect, it } from "vitest";
import { type LostSession, NodeSession } from "../../src/fleet/node-session.ts";
import type { Log } from "../../src/hosts/node/log.ts";
import type { RedisFacts } from "../../src/persistence/redis-connection.ts";
import type { RedisStore } from "../../src/persistence/redis-store.ts";
import { waitUntilPasses } from "../support/eventually.ts";

/** A session whose Redis has one key, and a recovery that fails as often as `failures` says. */
async function startSession(failures: number) {
  const redis: { session: string | undefined } = { session: undefined };
  const store = {
    owner: { url: "http://127.0.0.1:1", session: "first" },
    connection: {
      onReconnect: (_facts: RedisFacts) => {},
      async send([, , session]: string[]) {
        if (redis.session !== undefined) return null;
        redis.session = session;
        return "OK";
      },
      runScript: async (_script: unknown, _keys: unknown, [session]: string[]) =>
        Number(redis.session === session),
    },
  };
  const recoveries: LostSession[] = [];
  const session = new NodeSession(store as unknown as RedisStore, {} as Log, async (lost) => {
    recoveries.push(lost);
    if (recoveries.length <= failures) throw new Error("the connection was lost");
  });
  await session.begin();
  return { redis, session, recoveries, reconnect: store.connection.onReconnect };
}

it.each([
  ["a lost session", true, false],
  ["a restart of Redis", false, true],
])(
  "owns nothing while a recovery from %s has failed, and repeats it [interfaces 15]",
  async (_, isLost, restarted) => {
    const { redis, session, recoveries, reconnect } = await startSession(1);
    if (isLost) redis.session = undefined;
    reconnect({ restarted });
    await waitUntilPasses(() => expect(recoveries).toEqual([{ lostSession: "first", restarted }]));
    expect(session.isValid).toBe(false);
    reconnect({ restarted: false });
    await waitUntilPasses(() => expect(session.isValid).toBe(true));
    expect(recoveries).toEqual([
      { lostSession: "first", restarted },
      { lostSession: "first", restarted },
    ]);
    await session.end();
  },
);
