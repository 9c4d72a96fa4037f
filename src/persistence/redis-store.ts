import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { pluralize } from "../engine/contract/text.ts";
import { toPairs } from "../engine/maps.ts";
import { RedisConnection, type Reply, toFleetRefusal } from "./redis-connection.ts";
import { CLAIM, COMMIT, RECLAIM, RELEASE, RUN_AGE } from "./redis-scripts.ts";
import { PersistenceError, type Row, type RowChange, StoreRefusal } from "./store.ts";

/** The format of rows; a node refuses a newer one. */
const FORMAT = 2;
const PREFIX = "understudy:";
/** How long a commit is retried with the same id before it is refused (interfaces.md 15). */
const MAX_RETRY_MS = 2000;
const RETRY_MS = 50;
/** Number of fields in one answer, so that loading a large sandbox does not delay commits of others. */
const SCAN_COUNT = "1000";

/** The owner of the sandboxes that this store commits. */
interface StoreOwner {
  /** The id of the node's session in Redis, which expires; never reused. */
  session: string;
  url: string;
}

/** A sandbox of this node: its epoch, and the number of its last commit as Redis stores it, a text. */
interface OwnedSandbox {
  epoch: number;
  number: string;
}

/** The owner of a sandbox in the store; `session` is empty if it has none. */
export interface Lease {
  session: string;
  url: string;
  epoch: string;
}

/** Keys of one sandbox contain its name in braces, so that a cluster stores them together. */
export const toSandboxKey = (name: string, kind: string) => `${PREFIX}{${name}}:${kind}`;
export const toFleetKey = (kind: string) => PREFIX + kind;

/**
 * `--store redis://...`: each sandbox is one hash of rows, beside its lease. A commit is one script, which first checks
 * the epoch of the owner and the number of the last commit: commits of a former owner are refused, and a repeated
 * commit is applied once (docs/decisions/0010).
 */
export class RedisStore {
  readonly connection: RedisConnection;
  /** Sandboxes that this node owns. */
  readonly owned = new Map<string, OwnedSandbox>();
  /** Replaced after the node's session has expired. */
  owner: StoreOwner;
  /** Maximum number of sandboxes in the fleet. */
  limit = Number.POSITIVE_INFINITY;

  private constructor(connection: RedisConnection, owner: StoreOwner) {
    this.connection = connection;
    this.owner = owner;
  }

  /**
   * @param warn called with one sentence for each setting of Redis under which data may be lost
   * @throws PersistenceError if no Redis answers, or a newer version wrote its data
   */
  static async open(url: string, owner: StoreOwner, warn: (warning: string) => void): Promise<RedisStore> {
    const connection = await RedisConnection.open(url, warn);
    try {
      await requireKnownFormat(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    return new RedisStore(connection, owner);
  }

  /** Names of the fleet's sandboxes, in order of creation. */
  async list(): Promise<string[]> {
    return this.connection.send(["ZRANGE", toFleetKey("sandboxes"), "0", "-1"]);
  }

  async count(): Promise<number> {
    return this.connection.send(["ZCARD", toFleetKey("sandboxes")]);
  }

  async load(sandbox: string): Promise<Row[]> {
    // A scan may return a field twice.
    const texts = new Map<string, string>();
    let cursor = "0";
    do {
      const scan = ["HSCAN", toSandboxKey(sandbox, "rows"), cursor, "COUNT", SCAN_COUNT];
      const [next, words] = await this.connection.send(scan);
      cursor = next;
      for (const [field, text] of toPairs(words as string[])) texts.set(field, text);
    } while (cursor !== "0");
    return [...texts].map(([field, text]) => {
      const end = field.indexOf("\0");
      return { section: field.slice(0, end), id: field.slice(end + 1), text };
    });
  }

  /** Commits the changes of one sandbox; the caller sends one change set at a time. @throws StoreRefusal */
  async commit(name: string, pieces: AsyncIterable<readonly RowChange[]>): Promise<void> {
    const changes = new ChangeSet();
    for await (const piece of pieces) for (const change of piece) changes.add(change);
    const ownership = this.owned.get(name);
    const mode = ownership === undefined ? "new" : changes.mode;
    if (mode === "new" && changes.mode === "gone") return;
    if (mode === "new") await this.addToFleetList(name);
    const { session, url } = this.owner;
    const id = randomUUID();
    const number = String(Number(ownership?.number || 0) + 1);
    const scriptArguments = [
      mode,
      String(ownership?.epoch ?? 0),
      ownership?.number ?? "",
      number,
      id,
      session,
      url,
    ];
    const [status, epoch] = await this.retryWhileUnreachable(() =>
      this.connection.runScript(COMMIT, toSandboxKeys(name), [...scriptArguments, ...changes.words]),
    ).catch(async (error: StoreRefusal) => {
      const isRefused = mode === "new" && error.kind !== "unreachable";
      if (isRefused && (await this.findLease(name)) === undefined) await this.removeFromFleetList(name);
      throw error;
    });
    if (status !== "OK") throw REFUSALS[status as keyof typeof REFUSALS](name);
    if (mode !== "gone") this.owned.set(name, { epoch, number });
    else {
      this.owned.delete(name);
      await this.removeFromFleetList(name);
    }
  }

  /** Adds the sandbox to the fleet's list again, since Redis has lost data. */
  async restoreToFleetList(sandbox: string, created_at: number): Promise<void> {
    await this.connection.send(["ZADD", toFleetKey("sandboxes"), "NX", String(created_at), sandbox]);
  }

  /** Milliseconds since a node first saw the current run of Redis. The first run has lost no data; its age counts from 1970. */
  readRunAge(): Promise<number> {
    return this.connection.runScript(RUN_AGE, [toFleetKey("run")], [this.connection.run_id ?? ""]);
  }

  /** Undefined if there is no such sandbox. */
  async findLease(sandbox: string): Promise<Lease | undefined> {
    const [lease, exists] = await Promise.all([
      this.readLease(sandbox),
      this.connection.send(["EXISTS", toSandboxKey(sandbox, "rows")]),
    ]);
    return exists === 0 ? undefined : lease;
  }

  /** The lease of a sandbox that exists. */
  async readLease(sandbox: string): Promise<Lease> {
    const command = ["HMGET", toSandboxKey(sandbox, "lease"), "session", "url", "epoch"];
    const [session, url, epoch] = await this.connection.send(command);
    return { session: session ?? "", url: url ?? "", epoch: epoch ?? "0" };
  }

  /** Takes a sandbox over from the owner of this lease; false if another node was faster. */
  async claim(sandbox: string, lease: Pick<Lease, "session" | "epoch">): Promise<boolean> {
    const { session, url } = this.owner;
    const scriptArguments = [lease.epoch, lease.session, session, url];
    const reply = await this.connection.runScript(CLAIM, toSandboxKeys(sandbox), scriptArguments);
    const [status, epoch, number] = reply;
    if (status !== "OK") return false;
    this.owned.set(sandbox, { epoch, number });
    return true;
  }

  /** Gives up a sandbox that this node has claimed, so that another node may take it over. */
  async release(sandbox: string): Promise<void> {
    const epoch = String(this.owned.get(sandbox)?.epoch);
    this.owned.delete(sandbox);
    await this.connection.runScript(RELEASE, toSandboxKeys(sandbox), [epoch]);
  }

  /**
   * Reclaims a sandbox after this node's session was lost, unless another node has taken it over. @returns whether
   * Redis has the last commit, an older one, or another owner
   */
  async reclaim(
    sandbox: string,
    { lostSession, restarted }: { lostSession: string; restarted: boolean },
  ): Promise<"same" | "behind" | "fenced"> {
    const ownership = this.owned.get(sandbox);
    if (ownership === undefined) return "fenced";
    const { session, url } = this.owner;
    const scriptArguments = [String(ownership.epoch), lostSession, session, url, restarted ? "1" : "0"];
    const reply = await this.connection.runScript(RECLAIM, toSandboxKeys(sandbox), scriptArguments);
    const [status, epoch, number] = reply;
    if (status !== "OK") return "fenced";
    this.owned.set(sandbox, { epoch, number: ownership.number });
    return number === ownership.number ? "same" : "behind";
  }

  /** Adds the sandbox to the fleet's list, unless the limit is reached. @throws StoreRefusal */
  private async addToFleetList(name: string): Promise<void> {
    const addedCount = await this.retryWhileUnreachable(() =>
      this.connection.send(["ZADD", toFleetKey("sandboxes"), "NX", String(Date.now()), name]),
    );
    if (addedCount === 0 || this.limit === Number.POSITIVE_INFINITY) return;
    const count = await this.count();
    if (count <= this.limit) return;
    await this.removeFromFleetList(name);
    throw new StoreRefusal("limit", pluralize(this.limit, "sandbox", "sandboxes"));
  }

  async removeFromFleetList(name: string): Promise<void> {
    await this.retryWhileUnreachable(() => this.connection.send(["ZREM", toFleetKey("sandboxes"), name]));
  }

  /** Repeats a command for some time if Redis cannot be reached, so that requests survive a short outage. */
  private async retryWhileUnreachable(work: () => Promise<Reply>): Promise<Reply> {
    const end = performance.now() + MAX_RETRY_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if ((error as StoreRefusal).kind !== "unreachable" || performance.now() >= end) throw error;
      }
      await pause(RETRY_MS);
    }
  }
}

const REFUSALS = {
  TAKEN: (name: string) => new StoreRefusal("taken", name),
  FENCED: (name: string) => toMovedRefusal(name),
  BEHIND: (name: string) => toFleetRefusal("behind", `the store has lost a part of sandbox ${name}`),
  LOST: (name: string) => toFleetRefusal("unreachable", `the store has lost the owner of sandbox ${name}`),
};

/** Another node owns the sandbox, or none does for a moment. */
export function toMovedRefusal(name: string, headers: Record<string, string> = {}): StoreRefusal {
  return toFleetRefusal("moved", `another node of the fleet owns sandbox ${name} now`, headers);
}

/** The changes of one sandbox, as arguments of the script `COMMIT`: three words each, and a mode. */
class ChangeSet {
  words: string[] = [];
  private isCleared = false;

  /** `more` changes the sandbox, `whole` replaces it, `gone` removes it. */
  get mode(): "more" | "whole" | "gone" {
    if (!this.isCleared) return "more";
    return this.words.length === 0 ? "gone" : "whole";
  }

  add(change: RowChange): void {
    if (!("clearPrefix" in change)) {
      const field = `${change.section}\0${change.id}`;
      if (change.text === null) this.words.push("r", field, "");
      else this.words.push("p", field, change.text);
    } else if (change.clearPrefix === "") {
      // All rows of the sandbox.
      this.words = [];
      this.isCleared = true;
    } else this.words.push("c", change.clearPrefix, "");
  }
}

function toSandboxKeys(sandbox: string): string[] {
  return [toSandboxKey(sandbox, "lease"), toSandboxKey(sandbox, "rows")];
}

/** @throws PersistenceError */
async function requireKnownFormat(connection: RedisConnection): Promise<void> {
  const key = toFleetKey("format");
  await connection.send(["SET", key, String(FORMAT), "NX"]).catch((error: StoreRefusal) => {
    throw new PersistenceError(`--store ${connection.place}: ${error.message}.`);
  });
  const storedFormat = Number(await connection.send(["GET", key]));
  if (storedFormat > FORMAT)
    throw new PersistenceError(
      `--store ${connection.place} was written by a newer Understudy (format ${storedFormat}, this one knows ${FORMAT}); update this node, or use another database of that Redis, as in ${connection.place.replace(/\/\d+$/, "")}/1.`,
    );
}
