import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { DurabilityHook } from "../hosts/node/hooks.ts";
import type { PersistenceParts, StoreLocation } from "./open-persistence.ts";
import type { Saver, SavingFailure } from "./saver.ts";

/**
 * The stored sandboxes of a server that runs alone (`--persist`). It opens after the server's parts are created and
 * before the first request. The code of the stores is loaded then, so a server without a store does not load it.
 */
export class LocalPersistence implements DurabilityHook {
  private readonly place: StoreLocation & { durable?: boolean };
  private opening: Promise<Saver> | undefined;
  private saver: Saver | undefined;

  constructor(place: StoreLocation & { durable?: boolean }) {
    this.place = place;
  }

  /** Whether answers wait until their changes are on disk (`--durable`). */
  get isDurable(): boolean {
    return "folder" in this.place && this.place.durable === true;
  }

  /** Brings stored sandboxes back. @throws PersistenceError */
  async open(parts: Omit<PersistenceParts, "place">): Promise<void> {
    this.opening = import("./open-persistence.ts").then(({ openPersistence }) =>
      openPersistence({ ...parts, place: this.place }),
    );
    this.saver = await this.opening;
  }

  /** For `--durable`: saves the sandboxes that the server has at its start. @throws PersistenceError */
  async saveInitialSandboxes(): Promise<void> {
    if (this.isDurable) await this.saver!.requireSaved();
  }

  readonly countRefusals = (): number => this.saver!.countRefusals();

  /** A call that may have changed or created other sandboxes waits for all. */
  readonly waitUntilStored = (
    sandbox: Sandbox | undefined,
    refusalsBefore: number,
    { changesOthers }: { changesOthers: boolean },
  ): Promise<void> => this.saver!.waitUntilStored(changesOthers ? undefined : sandbox, refusalsBefore);

  /** With `--durable`, resolves once a deletion is on disk. @throws StoreRefusal if it was undone */
  async waitUntilDeleted(): Promise<void> {
    if (this.isDurable) await this.saver!.waitUntilStored(undefined, this.countRefusals());
  }

  /** A sandbox that `open` has loaded sends its deliveries at once, so this may be called before `open` has loaded all. */
  async waitUntilReadyToSend(sandbox: Sandbox): Promise<void> {
    const saver = await this.opening!;
    await saver.waitUntilReadyToSend(sandbox);
  }

  /** Why changes cannot be saved at the moment; null while they can. */
  get failure(): SavingFailure | null {
    return this.saver?.failure ?? null;
  }

  /** Saves for the last time. @throws PersistenceError */
  async close(): Promise<void> {
    await this.saver?.close();
  }
}
