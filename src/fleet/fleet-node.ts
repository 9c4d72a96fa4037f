import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Connection, SandboxLookup } from "../hosts/node/hooks.ts";
import type { Log } from "../hosts/node/log.ts";
import { TemporaryFolder } from "../hosts/node/storage/folders.ts";
import type { UploadStore } from "../hosts/node/storage/upload-store.ts";
import { toFleetRefusal } from "../persistence/redis-connection.ts";
import type { Lease, RedisStore } from "../persistence/redis-store.ts";
import { type RestorerParts, SandboxRestorer } from "../persistence/sandbox-restorer.ts";
import { StoreRefusal } from "../persistence/store.ts";
import { DueSandboxes } from "./due-sandboxes.ts";
import { FleetRegister } from "./fleet-register.ts";
import { FleetSaver } from "./fleet-saver.ts";
import { type LostSession, NodeSession, RENEW_MS } from "./node-session.ts";
import { OwnerRouter } from "./owner-router.ts";
import { hideHop, isReachableAt } from "./proxy.ts";
import { UploadChunks } from "./upload-chunks.ts";

/** The time for open requests to finish, before a node that shuts down releases their sandboxes. */
const FINISH_MS = 250;
const CHECK_MS = 5;
/** A node that has released its sandboxes stays reachable until no request has come for this time. */
const QUIET_MS = 250;
const MAX_LINGER_MS = 1500;
/** Time from the start to the warm-up. */
const WARM_UP_MS = 500;
/** After this many rounds, V8 has compiled the code. */
const WARM_UP_ROUNDS = 5;
/** Maximum harmless difference between the clocks of two machines. */
const MAX_DIFFERENCE_MS = 2000;

export interface FleetParts extends RestorerParts {
  uploads: UploadStore;
  store: RedisStore;
  version: string;
  /** The control token, which all nodes have. */
  token: string;
  log: Log;
  createDefault: () => Sandbox;
}

/** A node of a fleet (interfaces.md 15): the sandboxes that it owns, and the requests for others. */
export class FleetNode {
  readonly session: NodeSession;
  readonly saver: FleetSaver;
  readonly router: OwnerRouter;
  readonly store: RedisStore;
  readonly register: FleetRegister;
  takeoverCount = 0;
  private readonly parts: FleetParts;
  private readonly dueSandboxes: DueSandboxes;
  private readonly chunks: UploadChunks;
  private readonly restorer: SandboxRestorer;
  private readonly files = new TemporaryFolder();
  private isReachable: boolean | undefined;
  private timer: NodeJS.Timeout | undefined;
  private warmingUp: NodeJS.Timeout | undefined;

  constructor(parts: FleetParts) {
    const { store, log, sandboxes, uploads } = parts;
    this.parts = parts;
    this.store = store;
    this.dueSandboxes = new DueSandboxes(store);
    this.chunks = new UploadChunks(store);
    this.register = new FleetRegister(store);
    this.restorer = new SandboxRestorer(parts);
    this.session = new NodeSession(store, log, (lost) => this.recover(lost));
    const { dueSandboxes, chunks, session, register } = this;
    const takeOver = (name: string, lease: Lease) =>
      this.saver.mutex.run(name, () => this.claim(name, lease));
    const makeDefault = () => this.makeDefault();
    this.router = new OwnerRouter({ store, session, register, log, takeOver, makeDefault });
    this.saver = new FleetSaver({ store, sandboxes, uploads, log, dueSandboxes, chunks, session });
  }

  /** @throws PersistenceError, for example if the other nodes have another control token */
  async begin(): Promise<void> {
    this.parts.uploads.storeIn(join(this.files.path, "uploads"));
    await this.session.begin();
    try {
      await this.register.register(this.parts.version, this.parts.token);
    } catch (error) {
      await this.session.end();
      throw error;
    }
    await this.router.dropCachedOwners();
    await this.warnOfClockDifference();
    // Creates the sandbox, or takes it over, if no other node owns it.
    await this.route("default");
    this.timer = setInterval(() => void this.poll().catch(() => {}), RENEW_MS);
    this.timer.unref();
    this.warmingUp = setTimeout(() => void this.warmUp().catch(() => {}), WARM_UP_MS);
    this.warmingUp.unref();
  }

  /**
   * If another node ends, all its sandboxes arrive at once. Compiles validators and creates the fixture's records in
   * advance, with the `default` sandbox, so that the first request for them does not wait for that.
   */
  private async warmUp(): Promise<void> {
    const { url } = this.session;
    // Loads the control API, which a node that only forwards calls has not loaded yet.
    const headers = { authorization: `Bearer ${this.parts.token}` };
    await this.router.proxy.fetchJson(`${url}/_control/metrics`, headers).catch(() => {});
    for (const _ of this.parts.validator.prepare()) await nextTurn();
    const rows = await this.store.load("default");
    for (let round = 0; round < WARM_UP_ROUNDS && !this.router.isLeaving; round++) {
      await this.restorer.warmUp("default", rows);
      await nextTurn();
    }
  }

  /**
   * Saves all sandboxes and releases them, while the other nodes still reach this one: requests that arrive meanwhile
   * are forwarded to the next owner.
   * @param countUnanswered returns how many requests this server has not begun to answer
   */
  async leave(countUnanswered: () => number): Promise<void> {
    const { router, saver, register, session } = this;
    clearInterval(this.timer);
    clearTimeout(this.warmingUp);
    router.isLeaving = true;
    const end = performance.now() + FINISH_MS;
    // `searchCount`: requests that still look for their owner, or that another node handles, are not waited for.
    while (countUnanswered() > router.searchCount && performance.now() < end) await pause(CHECK_MS);
    try {
      if (!(await saver.saveAll()))
        this.parts.log.error(`The last changes could not be saved: ${this.saver.failure!.refusal.message}.`);
      await register.leave();
      await session.end();
      if ((await register.listLiveNodes()).length > 0) await this.waitUntilQuiet();
    } catch (error) {
      // Without Redis the session ends by itself.
      if (!(error instanceof StoreRefusal)) throw error;
    }
  }

  /** Other nodes may still send requests here, which would be lost if the connection closed now. */
  private async waitUntilQuiet(): Promise<void> {
    const began = performance.now();
    const getQuietStart = () => Math.max(began, this.router.lastRequestAt);
    while (performance.now() < Math.min(getQuietStart() + QUIET_MS, began + MAX_LINGER_MS))
      await pause(CHECK_MS);
  }

  /** Call this after the last answer. */
  async end(): Promise<void> {
    this.router.proxy.close();
    this.store.connection.close();
    this.files.remove();
  }

  /** @throws StoreRefusal if no node can serve it now */
  route(name: string, connection?: Connection): SandboxLookup | Promise<SandboxLookup> {
    if (connection !== undefined) hideHop(connection.request);
    const sandbox = this.saver.findOwned(name);
    if (sandbox !== undefined && this.session.isValid && !this.router.isLeaving) return sandbox;
    return SANDBOX_NAME.test(name) ? this.router.route(name, connection) : undefined;
  }

  /** Takes a sandbox over; undefined if another node was faster. */
  private async claim(name: string, lease: Lease): Promise<Sandbox | undefined> {
    const { store } = this;
    const owned = this.saver.findOwned(name);
    if (owned !== undefined && this.session.isValid) return owned;
    if (await this.saver.deleteRefused(name)) return undefined;
    if (!(await store.claim(name, lease))) return undefined;
    const rows = await store.load(name);
    const folder = join(this.files.path, `${name}-${store.owned.get(name)?.epoch}`);
    try {
      await this.chunks.load(name, rows, folder);
      const image = await this.restorer.restoreRows(name, rows, folder);
      this.saver.adopt(image);
      this.takeoverCount += 1;
      return image.sandbox;
    } catch (error) {
      // Another node may be able to read it.
      await store.release(name).catch(() => {});
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      if (error instanceof StoreRefusal) throw error;
      const message = (error as Error).message.replace(/\.$/, "");
      this.parts.log.error(`Sandbox ${name} could not be taken over: ${message}. Redis still has it.`);
      throw toFleetRefusal("failed", `sandbox ${name} cannot be read by this node (${message})`);
    }
  }

  private async makeDefault(): Promise<void> {
    const sandbox = this.parts.createDefault();
    try {
      await this.saver.register(sandbox);
    } catch (error) {
      const { sandboxes } = this.parts;
      if (sandboxes.get("default") === sandbox) sandboxes.delete("default");
      if ((error as StoreRefusal).kind !== "taken") throw error;
    }
  }

  private async recover(lost: LostSession): Promise<void> {
    await this.router.dropCachedOwners();
    await this.saver.recover(lost);
    await this.register.registerAgain();
  }

  /** Leases use the monotonic clock and that of Redis; timers and timestamps use the machine's. */
  private async warnOfClockDifference(): Promise<void> {
    const [seconds, micros] = await this.store.connection.send(["TIME"]);
    const aheadMs = Date.now() - (Number(seconds) * 1000 + Number(micros) / 1000);
    if (Math.abs(aheadMs) < MAX_DIFFERENCE_MS) return;
    this.parts.log.warn(
      `The clock of this machine is ${Math.abs(aheadMs / 1000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} that of Redis, so timers of sandboxes that it takes over run ${aheadMs > 0 ? "early" : "late"} by that much. Set both clocks by NTP.`,
    );
  }

  /** Checked once, when this node listens. */
  private async warnIfUnreachable(): Promise<void> {
    if (this.isReachable !== undefined) return;
    this.isReachable = await isReachableAt(this.session.url);
    if (!this.isReachable)
      this.parts.log.warn(
        `This node does not answer at its own --node-url ${this.session.url}; the other nodes must reach it there.`,
      );
  }

  /** Takes over sandboxes without an owner whose timers are due, and ends requests to owners that have ended. */
  private async poll(): Promise<void> {
    await this.warnIfUnreachable();
    if (!this.session.isValid) return;
    const { router } = this;
    for (const owner of router.proxy.listOwners()) {
      if (!(await router.isLive(owner))) router.proxy.giveUp(owner.session);
    }
    for (const name of await this.dueSandboxes.list()) {
      // Takes the sandbox over. One that cannot be read must not keep the others from being taken over.
      if (this.saver.findOwned(name) === undefined) await Promise.resolve(this.route(name)).catch(() => {});
    }
  }
}
