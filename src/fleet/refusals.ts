import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { StoreRefusal } from "../persistence/store.ts";

/** Changes that were undone because the store refused them, for the waiting requests. */
export class Refusals {
  private readonly bySandbox = new WeakMap<Sandbox, { number: number; refusal: StoreRefusal }>();
  private count = 0;

  /** Called before a change, for `requireNoneSince`. */
  mark(): number {
    return this.count;
  }

  record(sandbox: Sandbox, refusal: StoreRefusal): void {
    this.count += 1;
    this.bySandbox.set(sandbox, { number: this.count, refusal });
  }

  findLast(sandbox: Sandbox): StoreRefusal | undefined {
    return this.bySandbox.get(sandbox)?.refusal;
  }

  /** @throws StoreRefusal if a change of the sandbox was undone after the mark */
  requireNoneSince(mark: number, sandbox: Sandbox): void {
    if (mark === this.count) return;
    const last = this.bySandbox.get(sandbox);
    if (last !== undefined && last.number > mark) throw last.refusal;
  }
}
