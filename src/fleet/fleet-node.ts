import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../log.ts";
import { RETRY_AFTER_SECONDS } from "../persistence/redis-connection.ts";
import { type Lease, moved, type RedisStore } from "../persistence/redis-store.ts";
import { type ReviverParts, SandboxReviver } from "../persistence/sandbox-reviver.ts";
import type { SavingFailure } from "../persistence/saver.ts";
import { StoreRefusal } from "../persistence/store.ts";
import { SANDBOX_NAME } from "../sandbox/registry.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { TemporaryFolder } from "../storage/temporary-folder.ts";
import { DueSandboxes } from "./due-sandboxes.ts";
import { FleetRegister } from "./fleet-register.ts";
import { FleetSaver } from "./fleet-saver.ts";
import { HOP_HEADER } from "./hop-header.ts";
import { LEASE_MS, NodeSession, RENEW_MS, sessionKey } from "./node-session.ts";
import { Outages, RecentAnswers } from "./outages.ts";
import { isThere, PassOn, type Target } from "./pass-on.ts";
import { UploadChunks } from "./upload-chunks.ts";

/** So long a request waits for an owner that is just ending, before it is told to come again. */
const PATIENCE_MS = 1000;
const RETRY_MS = 40;
/** So long is believed who owns a sandbox; whoever does not any more says so. */
const BELIEVED_MS = 1000;
/** Clocks that differ by less are nobody's trouble. */
const MAX_DIFFERENCE_MS = 2000;
const MAX_BELIEVED = 100_000;

export interface FleetParts extends ReviverParts {
  store: RedisStore;
  version: string;
  /** The control token, which all nodes have. */
  token: string;
  log: Log;
  createDefault: () => Sandbox;
}

/** What becomes of a request that names a sandbox: served here, unknown, or answered by its owner. */
export type Placed = Sandbox | undefined | "answered";

interface Arrived {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A node of a fleet (interfaces 15): which sandboxes are its own, and what happens to requests for others. */
export class FleetNode {
  readonly session: NodeSession;
  readonly saver: FleetSaver;
  readonly passing: PassOn;
  readonly store: RedisStore;
  readonly register: FleetRegister;
  takenOver = 0;
  private readonly parts: FleetParts;
  private readonly due: DueSandboxes;
  private readonly chunks: UploadChunks;
  private readonly reviver: SandboxReviver;
  private readonly files = new TemporaryFolder();
  private readonly taking = new Map<string, Promise<Sandbox | undefined>>();
  private readonly believed = new Map<string, Lease & { until: number }>();
  private readonly outages: Outages;
  private isReachable: boolean | undefined;
  private readonly alive = new RecentAnswers();
  private timer: NodeJS.Timeout | undefined;
  /** After a restart of Redis, owners come back to what is theirs before anybody takes it. */
  private noTakingUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: FleetParts) {
    const { store, log, sandboxes, uploads } = parts;
    this.parts = parts;
    this.store = store;
    this.due = new DueSandboxes(store);
    this.chunks = new UploadChunks(store);
    this.register = new FleetRegister(store);
    this.reviver = new SandboxReviver(parts);
    this.outages = new Outages(log);
    this.passing = new PassOn(store.owner.url);
    this.session = new NodeSession(store, log, { onRegain: (lost) => this.regain(lost) });
    const { due, chunks, session } = this;
    this.saver = new FleetSaver({ store, sandboxes, uploads, log, due, chunks, session: () => session });
  }

  /** @throws PersistenceError */
  async begin(): Promise<void> {
    this.parts.uploads.keepIn(join(this.files.path, "uploads"));
    await this.session.begin();
    try {
      await this.register.enter(this.parts.version, this.parts.token);
    } catch (error) {
      await this.session.end();
      throw error;
    }
    await this.sayDifference();
    await this.place("default");
    this.timer = setInterval(() => void this.look().catch(() => {}), RENEW_MS);
    this.timer.unref();
  }

  /** Saves everything and gives it back, so that others go on with it at once. */
  async end(): Promise<void> {
    clearInterval(this.timer);
    this.passing.close();
    try {
      if (!(await this.saver.saveAll()))
        this.parts.log.error(`The last changes could not be saved: ${this.failure!.refusal.message}.`);
      await this.register.leave();
      await this.session.end();
    } catch (error) {
      // Nobody can be told; the session ends by itself.
      if (!(error instanceof StoreRefusal)) throw error;
    } finally {
      await this.store.close();
      this.files.remove();
    }
  }

  get failure(): SavingFailure | null {
    return this.saver.failure ?? null;
  }

  /**
   * The sandbox of that name, once this node owns it; another's request is passed on, a free one taken over.
   * Without an exchange, what is another's is `undefined`.
   * @throws StoreRefusal where nobody can serve it now
   */
  place(name: string, exchange?: Arrived): Placed | Promise<Placed> {
    const sandbox = this.saver.owned(name);
    if (sandbox !== undefined && this.session.isValid) return sandbox;
    return SANDBOX_NAME.test(name) ? this.find(name, exchange) : undefined;
  }

  private async find(name: string, exchange: Arrived | undefined): Promise<Placed> {
    const end = performance.now() + PATIENCE_MS;
    for (let turn = 0; ; turn++) {
      if (!this.session.isValid) throw this.session.refusal(name);
      const believed = turn === 0 ? this.believedOwner(name) : undefined;
      const lease = believed ?? (await this.store.leaseOf(name));
      if (lease === undefined) {
        if (name !== "default") return undefined;
        await this.makeDefault();
        continue;
      }
      if (believed === undefined && (lease.session === this.session.id || !(await this.isLive(lease)))) {
        const sandbox = await this.take(name, lease);
        if (sandbox !== undefined) return sandbox;
      } else if (exchange === undefined) return undefined;
      else if (exchange.request.headers[HOP_HEADER] !== undefined) throw moved(name);
      else if (this.outages.mayTry(lease)) {
        this.believe(name, lease);
        const outcome = await this.passing.pass(exchange.request, exchange.response, lease);
        if (outcome === "answered") {
          this.outages.end(lease);
          return "answered";
        }
        this.believed.delete(name);
        if (outcome === "lost") throw moved(name);
        this.outages.note(lease);
      } else if (this.outages.isLong(lease)) throw notReached(name, lease);
      if (performance.now() >= end) throw this.outages.isLong(lease) ? notReached(name, lease) : moved(name);
      if (turn > 0) await pause(RETRY_MS);
    }
  }

  /** Whether the session that a lease names still is one; one that has ended never comes back. */
  private async isLive({ url, session }: Target): Promise<boolean> {
    if (session === "") return false;
    if (performance.now() < this.noTakingUntil) return true;
    return this.alive.ask(
      session,
      async () => (await this.store.connection.ask(["GET", sessionKey(url)])) === session,
    );
  }

  private believedOwner(name: string): Lease | undefined {
    const believed = this.believed.get(name);
    if (believed === undefined || performance.now() < believed.until) return believed;
    this.believed.delete(name);
    return undefined;
  }

  private believe(name: string, lease: Lease): void {
    if (this.believed.size >= MAX_BELIEVED) this.believed.clear();
    this.believed.set(name, { ...lease, until: performance.now() + BELIEVED_MS });
  }

  /** Undefined where another was quicker. */
  private take(name: string, seen: Lease): Promise<Sandbox | undefined> {
    let taking = this.taking.get(name);
    if (taking === undefined) {
      taking = this.saver
        .inTurn(name, () => this.takeNow(name, seen))
        .finally(() => this.taking.delete(name));
      this.taking.set(name, taking);
    }
    return taking;
  }

  private async takeNow(name: string, seen: Lease): Promise<Sandbox | undefined> {
    const { store } = this;
    const known = this.saver.owned(name);
    if (known !== undefined && this.session.isValid) return known;
    if (!(await store.claim(name, seen))) return undefined;
    const rows = await store.load(name);
    const folder = join(this.files.path, `${name}-${store.held.get(name)?.epoch}`);
    try {
      await this.chunks.load(name, rows, folder);
      const image = await this.reviver.bringBack(name, rows, folder);
      this.saver.adopt(image);
      this.takenOver += 1;
      return image.sandbox;
    } catch (error) {
      store.held.delete(name);
      if (error instanceof StoreRefusal) throw error;
      const { message } = error as Error;
      this.parts.log.error(`Sandbox ${name} could not be taken over: ${message}. Redis still has it.`);
      throw new StoreRefusal(
        "failed",
        `sandbox ${name} cannot be read by this node (${message})`,
        RETRY_AFTER_SECONDS,
      );
    }
  }

  private async makeDefault(): Promise<void> {
    const sandbox = this.parts.createDefault();
    try {
      await this.saver.enlist(sandbox);
    } catch (error) {
      const { sandboxes } = this.parts;
      if (sandboxes.get("default") === sandbox) sandboxes.delete("default");
      if ((error as StoreRefusal).kind !== "taken") throw error;
    }
  }

  private async regain(lost: { former: string; restarted: boolean }): Promise<void> {
    if (lost.restarted) this.noTakingUntil = performance.now() + LEASE_MS;
    this.believed.clear();
    await this.saver.regain(lost);
  }

  /** Leases are kept on the monotonic clock and on that of Redis; what is due and what is shown, on the machine's. */
  private async sayDifference(): Promise<void> {
    const [seconds, micros] = await this.store.connection.ask(["TIME"]);
    const ahead = Date.now() - (Number(seconds) * 1000 + Number(micros) / 1000);
    if (Math.abs(ahead) < MAX_DIFFERENCE_MS) return;
    this.parts.log.warn(
      `The clock of this machine is ${Math.abs(ahead / 1000).toFixed(1)} s ${ahead > 0 ? "ahead of" : "behind"} that of the Redis: what is due in sandboxes that it takes over comes so much ${ahead > 0 ? "earlier" : "later"}. Set both by NTP.`,
    );
  }

  /** Once, when this node listens. */
  private async sayUnreachable(): Promise<void> {
    if (this.isReachable === undefined) this.isReachable = await isThere(this.session.url);
    else return;
    if (!this.isReachable)
      this.parts.log.warn(
        `This node does not answer at its own --node-url ${this.session.url}; the other nodes must reach it there.`,
      );
  }

  /** What is due and nobody's becomes this node's; what waits for an owner that is gone waits no longer. */
  private async look(): Promise<void> {
    await this.sayUnreachable();
    if (!this.session.isValid) return;
    for (const owner of this.passing.owners()) {
      if (!(await this.isLive(owner))) this.passing.giveUp(owner.session);
    }
    for (const name of await this.due.list()) {
      // One that cannot be read must not keep the others from being taken.
      if (this.saver.owned(name) === undefined) await Promise.resolve(this.place(name)).catch(() => {});
    }
  }
}

function notReached(name: string, { url }: Lease): StoreRefusal {
  const message = `sandbox ${name} is owned by the node ${url}, which cannot be reached from here`;
  return new StoreRefusal("moved", message, RETRY_AFTER_SECONDS);
}
