import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Log } from "../hosts/node/log.ts";
import { TemporaryFolder } from "../hosts/node/storage/temporary-folder.ts";
import { RETRY_AFTER_SECONDS } from "../persistence/redis-connection.ts";
import type { Lease, RedisStore } from "../persistence/redis-store.ts";
import { type ReviverParts, SandboxReviver } from "../persistence/sandbox-reviver.ts";
import type { SavingFailure } from "../persistence/saver.ts";
import { StoreRefusal } from "../persistence/store.ts";
import { DueSandboxes } from "./due-sandboxes.ts";
import { FleetRegister } from "./fleet-register.ts";
import { FleetSaver } from "./fleet-saver.ts";
import { NodeSession, RENEW_MS } from "./node-session.ts";
import { isThere } from "./pass-on.ts";
import { type Arrived, type Placed, Placing } from "./placing.ts";
import { UploadChunks } from "./upload-chunks.ts";

/** So long a node that ends lets requests finish, before it gives their sandboxes back. */
const FINISH_MS = 250;
const POLL_MS = 5;
/** Then it goes on being reached until nobody has asked for so long. */
const QUIET_MS = 250;
const MAX_LINGER_MS = 1500;
/** So long after its start a node makes ready for what it may have to take over in a hurry. */
const WARM_UP_MS = 500;
/** After so many times the code for it is no longer new to the machine. */
const REHEARSALS = 5;
/** Clocks that differ by less are nobody's trouble. */
const MAX_DIFFERENCE_MS = 2000;

export interface FleetParts extends ReviverParts {
  store: RedisStore;
  version: string;
  /** The control token, which all nodes have. */
  token: string;
  log: Log;
  createDefault: () => Sandbox;
}

/** A node of a fleet (interfaces 15): which sandboxes are its own, and what happens to requests for others. */
export class FleetNode {
  readonly session: NodeSession;
  readonly saver: FleetSaver;
  readonly placing: Placing;
  readonly store: RedisStore;
  readonly register: FleetRegister;
  takenOver = 0;
  private readonly parts: FleetParts;
  private readonly due: DueSandboxes;
  private readonly chunks: UploadChunks;
  private readonly reviver: SandboxReviver;
  private readonly files = new TemporaryFolder();
  private readonly taking = new Map<string, Promise<Sandbox | undefined>>();
  private isReachable: boolean | undefined;
  private timer: NodeJS.Timeout | undefined;
  private warmingUp: NodeJS.Timeout | undefined;

  constructor(parts: FleetParts) {
    const { store, log, sandboxes, uploads } = parts;
    this.parts = parts;
    this.store = store;
    this.due = new DueSandboxes(store);
    this.chunks = new UploadChunks(store);
    this.register = new FleetRegister(store);
    this.reviver = new SandboxReviver(parts);
    this.session = new NodeSession(store, log, { onRegain: (lost) => this.regain(lost) });
    const { due, chunks, session, register } = this;
    const take = (name: string, seen: Lease) => this.take(name, seen);
    const makeDefault = () => this.makeDefault();
    this.placing = new Placing({ ...{ store, session, register, log }, take, makeDefault });
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
    await this.placing.beginAnew();
    await this.sayDifference();
    await this.place("default");
    this.timer = setInterval(() => void this.look().catch(() => {}), RENEW_MS);
    this.timer.unref();
    this.warmingUp = setTimeout(() => void this.warmUp().catch(() => {}), WARM_UP_MS);
    this.warmingUp.unref();
  }

  /**
   * When another node ends, its sandboxes come all at once: whoever asks for the first must not wait until validators
   * are compiled and the fixture's records made, which takes longer than all the rest. Done while nobody waits, in
   * pieces, with the sandbox that there always is.
   */
  private async warmUp(): Promise<void> {
    const { url } = this.session;
    // Has the control API loaded, which a node that only passes calls on has not needed yet.
    const asked = { authorization: `Bearer ${this.parts.token}` };
    await this.placing.passing.ask(`${url}/_control/metrics`, asked).catch(() => {});
    for (const _ of this.parts.judge.prepare()) await nextTurn();
    const rows = await this.store.load("default");
    for (let time = 0; time < REHEARSALS && !this.placing.isLeaving; time++) {
      await this.reviver.rehearse("default", rows);
      await nextTurn();
    }
  }

  /**
   * Takes nothing more, saves everything and gives it back, while others still reach this node: what is asked of it
   * meanwhile goes to the next owner.
   * @param unanswered how many requests this server has not begun to answer
   */
  async leave(unanswered: () => number): Promise<void> {
    const { placing, saver, register, session } = this;
    clearInterval(this.timer);
    clearTimeout(this.warmingUp);
    placing.isLeaving = true;
    const end = performance.now() + FINISH_MS;
    while (unanswered() > placing.searching && performance.now() < end) await pause(POLL_MS);
    try {
      if (!(await saver.saveAll()))
        this.parts.log.error(`The last changes could not be saved: ${this.failure!.refusal.message}.`);
      await register.leave();
      await session.end();
      if ((await register.live()).length > 0) await this.linger();
    } catch (error) {
      // Nobody can be told; the session ends by itself.
      if (!(error instanceof StoreRefusal)) throw error;
    }
  }

  /** Others may be about to ask this node still, and what is on its way when a connection closes is lost. */
  private async linger(): Promise<void> {
    const now = performance.now();
    const quietSince = () => Math.max(now, this.placing.lastSentAway);
    while (performance.now() < Math.min(quietSince() + QUIET_MS, now + MAX_LINGER_MS)) await pause(POLL_MS);
  }

  /** When the last request has been answered. */
  async end(): Promise<void> {
    this.placing.passing.close();
    await this.store.close();
    this.files.remove();
  }

  get failure(): SavingFailure | null {
    return this.saver.failure ?? null;
  }

  /** @throws StoreRefusal where nobody can serve it now */
  place(name: string, exchange?: Arrived): Placed | Promise<Placed> {
    const sandbox = this.saver.owned(name);
    if (sandbox !== undefined && this.session.isValid && !this.placing.isLeaving) return sandbox;
    return SANDBOX_NAME.test(name) ? this.placing.find(name, exchange) : undefined;
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
    await this.placing.beginAnew();
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
    const { placing } = this;
    for (const owner of placing.passing.owners()) {
      if (!(await placing.isLive(owner))) placing.passing.giveUp(owner.session);
    }
    for (const name of await this.due.list()) {
      // One that cannot be read must not keep the others from being taken.
      if (this.saver.owned(name) === undefined) await Promise.resolve(this.place(name)).catch(() => {});
    }
  }
}
