import { createClient, DisconnectsClientError, ErrorReply, RESP_TYPES } from "redis";
import { REDIS_SCRIPTS, type RedisScript } from "./redis-scripts.ts";
import { PersistenceError, StoreRefusal } from "./store.ts";

export type Word = string | Buffer;
// biome-ignore lint/suspicious/noExplicitAny: a reply is what the command's documentation says
export type Reply = any;
type Client = ReturnType<typeof createRedisClient>;

/** A Redis without an answer for this long counts as unreachable; the connection is replaced. */
const ANSWER_TIMEOUT_MS = 2000;
/** Extra time for a large command, in bytes per millisecond. */
const BYTES_PER_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3000;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1000;
/** Sent to clients as `Retry-After` (interfaces.md 15). */
const RETRY_AFTER_SECONDS = 1;

/** A refusal after which the client may repeat the request. */
export function toFleetRefusal(kind: StoreRefusal["kind"], message: string, headers = {}): StoreRefusal {
  return new StoreRefusal(kind, message, RETRY_AFTER_SECONDS, headers);
}

const NO_CONNECTION = "there is no connection";
const NO_ANSWER = "it does not answer";

/** Facts about the Redis at the other end. */
export interface RedisFacts {
  /** Redis restarted since the last connection, and may have lost data. */
  restarted: boolean;
}

/**
 * One connection to a Redis, which reconnects by itself. Commands are refused while it is down: only the caller knows
 * whether repeating one is safe.
 */
export class RedisConnection {
  /** Called after each reconnect; other commands do not wait for what it begins. */
  onReconnect: (facts: RedisFacts) => void = () => {};
  /** The address for messages: without a password. */
  readonly place: string;
  private readonly url: string;
  private readonly warn: (warning: string) => void;
  private client: Client | undefined;
  /** Id of the Redis process, new after each of its starts. */
  run_id: string | undefined;
  private isClosed = false;
  /** Why commands are refused while there is no client. */
  private downReason = NO_CONNECTION;
  private retryTimer: NodeJS.Timeout | undefined;

  private constructor(url: string, warn: (warning: string) => void) {
    this.url = url;
    this.place = hidePassword(url);
    this.warn = warn;
  }

  /**
   * @param warn called with one sentence for each setting of Redis under which data may be lost
   * @throws PersistenceError if no Redis answers, or it refuses the password
   */
  static async open(url: string, warn: (warning: string) => void): Promise<RedisConnection> {
    const connection = new RedisConnection(url, warn);
    try {
      await connection.connect();
    } catch (error) {
      throw new PersistenceError(`--store ${connection.place}: ${explainFailure(error as Error)}.`);
    }
    return connection;
  }

  get isUp(): boolean {
    return this.client !== undefined;
  }

  /** Sends one command. @throws StoreRefusal */
  async send(words: readonly Word[], options: { as?: "bytes" } = {}): Promise<Reply> {
    const { client } = this;
    if (client === undefined) throw this.toUnreachableRefusal(this.downReason);
    let bytes = 0;
    for (const word of words) bytes += word.length;
    const pending = (
      options.as === "bytes" ? client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) : client
    ).sendCommand(words as never);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          // First, because dropping the connection rejects the waiting commands too.
          reject(this.toUnreachableRefusal(NO_ANSWER));
          this.drop(client, NO_ANSWER);
        },
        ANSWER_TIMEOUT_MS + bytes / BYTES_PER_MS,
      );
    });
    try {
      return await Promise.race([pending, timeout]);
    } catch (error) {
      // Another command had no answer, and the connection was dropped with all that waited.
      if (error instanceof DisconnectsClientError) throw this.toUnreachableRefusal(this.downReason);
      throw this.toRefusal(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs one script, which has all of its effects or none. @throws StoreRefusal */
  async runScript(script: RedisScript, keys: readonly string[], args: readonly Word[]): Promise<Reply> {
    const keysAndArguments = [String(keys.length), ...keys, ...args];
    try {
      return await this.send(["EVALSHA", script.sha, ...keysAndArguments]);
    } catch (error) {
      // The script cache of Redis was emptied. `send` puts the text of Redis in parentheses.
      if (!/\(NOSCRIPT/.test((error as Error).message)) throw error;
      return this.send(["EVAL", script.text, ...keysAndArguments]);
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.retryTimer);
    const { client } = this;
    this.client = undefined;
    if (client?.isOpen) client.destroy();
  }

  private async connect(): Promise<void> {
    const client = createRedisClient(this.url);
    client.on("error", () => this.drop(client));
    client.on("end", () => this.drop(client));
    // A paused Redis accepts connections and answers nothing.
    client.on("connect", () => {
      AbortSignal.timeout(ANSWER_TIMEOUT_MS).onabort = () => {
        if (this.client !== client && client.isOpen) client.destroy();
      };
    });
    try {
      await client.connect();
      const facts = await this.prepareClient(client);
      if (this.isClosed) return void client.destroy();
      this.client = client;
      this.onReconnect(facts);
    } catch (error) {
      if (client.isOpen) client.destroy();
      throw error;
    }
  }

  private async prepareClient(client: Client): Promise<RedisFacts> {
    const info = parseInfo((await client.sendCommand(["INFO"])) as unknown as string);
    for (const { text } of REDIS_SCRIPTS) await client.sendCommand(["SCRIPT", "LOAD", text]);
    const before = this.run_id;
    this.run_id = info["run_id"];
    if (before === undefined) for (const warning of listWarnings(info, this.place)) this.warn(warning);
    return { restarted: before !== undefined && before !== this.run_id };
  }

  private drop(client: Client, reason = NO_CONNECTION): void {
    if (this.client !== client || this.isClosed) return;
    this.client = undefined;
    this.downReason = reason;
    if (client.isOpen) client.destroy();
    this.reconnect(MIN_RETRY_MS);
  }

  private reconnect(after: number): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => {
      this.connect().catch(() => {
        if (!this.isClosed) this.reconnect(Math.min(2 * after, MAX_RETRY_MS));
      });
    }, after);
    this.retryTimer.unref();
  }

  private toUnreachableRefusal(why: string): StoreRefusal {
    return toFleetRefusal("unreachable", `${this.place} cannot be reached: ${why}`);
  }

  private toRefusal(error: Error): StoreRefusal {
    if (error instanceof StoreRefusal) return error;
    const { message } = error;
    // The error of a script ends with its position in the script.
    const text = message.replace(/ (script: |&|@).*$/s, "");
    if (!(error instanceof ErrorReply)) return this.toUnreachableRefusal(text);
    const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? "failed";
    const words = kind === "full" ? `${this.place} has no memory left` : `${this.place} refuses`;
    return toFleetRefusal(kind, `${words} (${text})`);
  }
}

const KINDS = [
  [/^OOM/, "full"],
  [/^READONLY/, "read-only"],
  [/^(LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN)/, "unreachable"],
] as const;

function createRedisClient(url: string) {
  return createClient({
    url,
    // Replies as plain lists, whatever the server's version.
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
  });
}

function hidePassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** Why a server cannot start, and what to do. */
function explainFailure(error: Error & { code?: string }): string {
  const { message, code } = error;
  if (/^(NOAUTH|WRONGPASS|ERR AUTH|ERR invalid password|NOPERM)/.test(message))
    return `Redis refuses the user or password (${message}); write them as in redis://user:password@host:6379`;
  if (error instanceof ErrorReply) return `Redis refuses (${message})`;
  if (error instanceof DisconnectsClientError) return "it accepts connections, but does not reply";
  const text = code ?? (message === "" ? error.name : message);
  return `no Redis answers there (${text}); start it, or give the address of one that runs`;
}

function parseInfo(info: string): Record<string, string> {
  return Object.fromEntries(
    info.split("\r\n").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

function listWarnings(info: Record<string, string>, place: string): string[] {
  const warnings: string[] = [];
  const policy = info["maxmemory_policy"];
  if (policy !== undefined && policy !== "noeviction")
    warnings.push(
      `${place} evicts data when its memory is full: set maxmemory-policy to noeviction (it is ${policy}), or sandboxes will be lost.`,
    );
  if (info["aof_enabled"] === "0")
    warnings.push(
      `${place} loses acknowledged writes when it ends: set appendonly to yes, or sandboxes will be lost.`,
    );
  if (info["role"] === "slave")
    warnings.push(`${place} is a replica, which is read-only: use the address of its primary.`);
  return warnings;
}
