import { afterEach, describe, expect, it, vi } from "vitest";
import { type FakeReply, INFO, startFakeRedis } from "../../test/support/fake-redis.ts";
import { RedisConnection, type RedisFacts } from "./redis-connection.ts";
import { COMMIT, REDIS_SCRIPTS } from "./redis-scripts.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of open.splice(0).reverse()) await one.close();
});

async function openConnection(
  info: Record<string, string> = {},
  answer?: (words: string[]) => FakeReply,
): Promise<{
  redis: Awaited<ReturnType<typeof startFakeRedis>>;
  said: string[];
  connect: (url?: string) => Promise<RedisConnection>;
}> {
  const redis = await startFakeRedis();
  open.push(redis);
  redis.info = { ...INFO, ...info };
  redis.answer = answer;
  const said: string[] = [];
  const connect = async (url = redis.url) => {
    const connection = await RedisConnection.open(url, (warning) => said.push(warning));
    open.push(connection);
    return connection;
  };
  return { redis, said, connect };
}

/** Waits for the condition without timers: the clock is frozen, and only the socket changes the state. */
async function waitFor(holds: () => boolean): Promise<void> {
  for (const began = performance.now(); !holds(); ) {
    if (performance.now() - began > 10_000) throw new Error(`it has not come about: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const holdTime = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

describe("a connection to Redis", () => {
  it("loads its scripts, and does not warn if Redis loses nothing [interfaces 15]", async () => {
    const { redis, said, connect } = await openConnection();
    const connection = await connect();
    expect(redis.listArguments("SCRIPT")).toEqual(REDIS_SCRIPTS.map(({ text }) => ["LOAD", text]));
    expect([connection.run_id, connection.isUp, said]).toEqual(["run-1", true, []]);
    expect(await connection.send(["GET", "a"])).toBe("OK");
    redis.answer = ([name]) => (name === "LIST" ? ["a", 5, null] : undefined);
    expect(await connection.send(["LIST"])).toEqual(["a", 5, null]);
    expect(await connection.send(["GET", "a"], { as: "bytes" })).toEqual(Buffer.from("OK"));
  });

  it("warns once of settings that may lose data, with the right ones [interfaces 15]", async () => {
    const { redis, said, connect } = await openConnection({
      ...{ maxmemory_policy: "allkeys-lru", aof_enabled: "0", role: "slave" },
    });
    const { place } = await connect();
    expect(said).toEqual([
      `${place} evicts data when its memory is full: set maxmemory-policy to noeviction (it is allkeys-lru), or sandboxes will be lost.`,
      `${place} loses acknowledged writes when it ends: set appendonly to yes, or sandboxes will be lost.`,
      `${place} is a replica, which is read-only: use the address of its primary.`,
    ]);
    redis.drop();
    await waitFor(() => redis.connections === 2 && redis.listArguments("INFO").length === 2);
    expect(said).toHaveLength(3);
  });

  it("does not warn of settings that Redis does not show [interfaces 15]", async () => {
    const { redis, said, connect } = await openConnection();
    redis.info = { run_id: "run-1" };
    await connect();
    expect(said).toEqual([]);
  });

  it("is named by the address without user and password [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const { host } = new URL(redis.url);
    expect((await connect(`redis://someone:s3cret@${host}/`)).place).toBe(`redis://${host}`);
    expect((await connect(`redis://${host}/1`)).place).toBe(`redis://${host}/1`);
    expect(redis.listArguments("AUTH")).toEqual([["someone", "s3cret"]]);
  });

  it("reports in one sentence why a server cannot start [interfaces 15]", async () => {
    const explainRefusal = async (answer: (words: string[]) => FakeReply) => {
      const { redis, connect } = await openConnection({}, answer);
      const url = redis.url.replace("//", "//:wrong@");
      const error = await connect(url).catch((thrown: Error) => thrown);
      expect((error as Error).name).toBe("PersistenceError");
      return (error as Error).message.replace(new URL(redis.url).host, "HOST");
    };
    const to =
      (name: string, message: string) =>
      ([first]: string[]) =>
        first === name ? new Error(message) : undefined;
    const write = "write them as in redis://user:password@host:6379";
    for (const message of [
      ...["WRONGPASS invalid username-password pair", "NOAUTH Authentication required", "NOPERM no"],
      ...["ERR AUTH <password> called without any password", "ERR invalid password"],
    ]) {
      expect(await explainRefusal(to("AUTH", message))).toBe(
        `--store redis://HOST: Redis refuses the user or password (${message}); ${write}.`,
      );
    }
    expect(await explainRefusal(to("INFO", "ERR not now"))).toBe(
      "--store redis://HOST: Redis refuses (ERR not now).",
    );
    expect(await explainRefusal(to("INFO", "MISCONF NOAUTH"))).toBe(
      "--store redis://HOST: Redis refuses (MISCONF NOAUTH).",
    );
    const { redis, connect } = await openConnection();
    await redis.close();
    open.splice(open.indexOf(redis), 1);
    await expect(connect()).rejects.toThrow(
      `--store ${redis.url}: no Redis answers there (ECONNREFUSED); start it, or give the address of one that runs.`,
    );
  });

  it.each(["//", "//:secret@"])(
    "fails if Redis accepts it and is silent, at redis:%s [interfaces 15]",
    async (start) => {
      const { redis, connect } = await openConnection();
      redis.isSilent = true;
      const error = await connect(redis.url.replace("//", start)).catch((thrown: Error) => thrown);
      expect((error as Error).message).toBe(
        `--store ${redis.url}: it accepts connections, but does not reply.`,
      );
    },
  );

  it("is closed if it failed [interfaces 15]", async () => {
    const { redis, connect } = await openConnection({}, ([name]) =>
      name === "INFO" ? new Error("ERR no") : undefined,
    );
    const closed = vi.fn();
    await expect(connect()).rejects.toThrow("ERR no");
    await redis.close().then(closed);
    open.splice(open.indexOf(redis), 1);
    expect(closed).toHaveBeenCalled();
  });

  it.each([
    ["OOM command not allowed", "full", "has no memory left (OOM command not allowed)"],
    ["READONLY You can't write", "read-only", "refuses (READONLY You can't write)"],
    ["LOADING it is loading", "unreachable", "refuses (LOADING it is loading)"],
    ["BUSY a script", "unreachable", "refuses (BUSY a script)"],
    ["MASTERDOWN it is", "unreachable", "refuses (MASTERDOWN it is)"],
    ["TRYAGAIN later", "unreachable", "refuses (TRYAGAIN later)"],
    ["CLUSTERDOWN it is", "unreachable", "refuses (CLUSTERDOWN it is)"],
    ["WRONGTYPE Operation", "failed", "refuses (WRONGTYPE Operation)"],
    ["ERR no OOM, not READONLY, BUSY", "failed", "refuses (ERR no OOM, not READONLY, BUSY)"],
    ["ERR wrong script: 5ab, on @user_script:3.", "failed", "refuses (ERR wrong)"],
    ["ERR wrong &c @user_script: 3: -WRONG", "failed", "refuses (ERR wrong)"],
  ])("reports %s as %s [interfaces 15]", async (message, kind, words) => {
    const { connect } = await openConnection({}, ([name]) =>
      name === "SET" ? new Error(message) : undefined,
    );
    const connection = await connect();
    await expect(connection.send(["SET", "a", "b"])).rejects.toMatchObject({
      ...{ kind, message: `${connection.place} ${words}`, retry_after: 1 },
    });
    // The error refuses one command, and the connection stays open.
    expect(connection.isUp).toBe(true);
  });

  it("runs a script by its sum, and sends its text if Redis has forgotten it [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    const words = ["2", "lease", "rows", "more", "1"];
    expect(await connection.runScript(COMMIT, ["lease", "rows"], ["more", "1"])).toBe("OK");
    expect(redis.listArguments("EVALSHA")).toEqual([[COMMIT.sha, ...words]]);
    expect(redis.listArguments("EVAL")).toEqual([]);
    redis.answer = ([name]) =>
      name === "EVALSHA" ? new Error("NOSCRIPT No matching script. Please use EVAL.") : undefined;
    expect(await connection.runScript(COMMIT, ["lease", "rows"], ["more", "1"])).toBe("OK");
    expect(redis.listArguments("EVAL")).toEqual([[COMMIT.text, ...words]]);
    redis.answer = ([name]) => (name === "EVALSHA" ? new Error("ERR it has no NOSCRIPT") : undefined);
    await expect(connection.runScript(COMMIT, ["lease", "rows"], [])).rejects.toThrow("ERR it has");
    expect(redis.listArguments("EVAL")).toHaveLength(1);
  });

  it("refuses commands while disconnected, and reconnects by itself [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    const back: RedisFacts[] = [];
    connection.onReconnect = (facts) => back.push(facts);
    const silent = connection.send(["GET", "a"]);
    expect(await silent).toBe("OK");
    redis.isSilent = true;
    const cut = connection.send(["GET", "b"]).catch((error: Error) => error);
    await waitFor(() => redis.listArguments("GET").length === 2);
    redis.isSilent = false;
    redis.drop();
    expect(await cut).toMatchObject({ kind: "unreachable", retry_after: 1 });
    await waitFor(() => !connection.isUp);
    await expect(connection.send(["GET", "c"])).rejects.toMatchObject({
      ...{ kind: "unreachable", message: `${connection.place} cannot be reached: there is no connection` },
    });
    await waitFor(() => back.length === 1);
    expect([back, connection.isUp]).toEqual([[{ restarted: false }], true]);
    redis.info = { ...INFO, run_id: "run-2" };
    redis.drop();
    await waitFor(() => back.length === 2);
    expect([back[1], connection.run_id]).toEqual([{ restarted: true }, "run-2"]);
    redis.drop();
    await waitFor(() => back.length === 3);
    expect(back[2]).toEqual({ restarted: false });
  });

  it("is unreachable if Redis does not answer within two seconds, and is replaced [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    holdTime();
    redis.isSilent = true;
    const settled: unknown[] = [];
    const recordSettled = (what: unknown) => settled.push(what);
    connection.send(["GET", "a"]).then(recordSettled, recordSettled);
    vi.advanceTimersByTime(1999);
    await new Promise((resolve) => setImmediate(resolve));
    expect([settled, connection.isUp]).toEqual([[], true]);
    vi.advanceTimersByTime(1);
    await waitFor(() => settled.length > 0);
    expect(settled[0]).toMatchObject({
      ...{ kind: "unreachable", message: `${connection.place} cannot be reached: it does not answer` },
    });
    expect(connection.isUp).toBe(false);
    redis.isSilent = false;
    vi.advanceTimersByTime(50);
    await waitFor(() => connection.isUp);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says that Redis does not answer also to commands sent later, until it is replaced [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    holdTime();
    redis.isSilent = true;
    const send = (name: string) => connection.send(["GET", name]).catch((error: Error) => error.message);
    const first = send("a");
    vi.advanceTimersByTime(1000);
    const second = send("b");
    vi.advanceTimersByTime(1000);
    const messages = [await first, await second, await send("c")];
    expect(new Set(messages)).toEqual(new Set([`${connection.place} cannot be reached: it does not answer`]));
  });

  it("waits longer for larger requests [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    holdTime();
    redis.isSilent = true;
    const settled: unknown[] = [];
    connection.send(["SET", "x".repeat(10_000_000)]).catch((error) => settled.push(error));
    vi.advanceTimersByTime(2999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toEqual([]);
    vi.advanceTimersByTime(10);
    await waitFor(() => settled.length === 1);
  });

  it("reconnects less and less often while Redis is down, at least once a second [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    holdTime();
    redis.answer = ([name]) => (name === "INFO" ? new Error("LOADING") : undefined);
    redis.drop();
    await waitFor(() => !connection.isUp);
    for (const after of [50, 100, 200, 400, 800, 1000, 1000]) {
      const { connections } = redis;
      await waitFor(() => vi.getTimerCount() === 1);
      vi.advanceTimersByTime(after - 1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(redis.connections).toBe(connections);
      vi.advanceTimersByTime(1);
      await waitFor(() => redis.connections === connections + 1);
    }
    await waitFor(() => vi.getTimerCount() === 1);
    redis.answer = undefined;
    vi.advanceTimersByTime(1000);
    await waitFor(() => connection.isUp);
  });

  it("never reconnects once closed [interfaces 15]", async () => {
    const { redis, connect } = await openConnection();
    const connection = await connect();
    holdTime();
    redis.drop();
    await waitFor(() => !connection.isUp);
    connection.close();
    expect(vi.getTimerCount()).toBe(0);

    const other = await connect();
    const back = vi.fn();
    other.onReconnect = back;
    redis.drop();
    await waitFor(() => !other.isUp);
    redis.isSilent = true;
    const { connections } = redis;
    vi.advanceTimersByTime(50);
    await waitFor(() => redis.connections > connections && redis.listArguments("INFO").length === 3);
    other.close();
    redis.drop();
    await new Promise((resolve) => setImmediate(resolve));
    expect([other.isUp, back.mock.calls.length, vi.getTimerCount()]).toEqual([false, 0, 0]);
    other.close();
    await expect(other.send(["GET"])).rejects.toThrow("there is no connection");
  });
});
