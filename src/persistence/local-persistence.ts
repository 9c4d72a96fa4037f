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

  /** Saves the sandboxes of the start, for `--durable`. @throws PersistenceError */
  async saveInitialSandboxes(): Promise<void> {
    if (this.isDurable) await this.saver!.requireSaved();
  }

  readonly mark = (): number => this.saver!.mark();

  /** A changing call may have created another sandbox, so it waits for all. */
  readonly waitUntilStored = (
    sandbox: Sandbox | undefined,
    mark: number,
    { changesOthers }: { changesOthers: boolean },
  ): Promise<void> => this.saver!.waitUntilStored(changesOthers ? undefined : sandbox, mark);

  /** A loaded sandbox may send deliveries before all are loaded. */
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
