import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { StoreRefusal } from "../persistence/store.ts";

/** What was undone because the store refused it, so that whoever waits for an answer hears of it. */
export class Refusals {
  private readonly last = new WeakMap<Sandbox, { number: number; refusal: StoreRefusal }>();
  private count = 0;

  /** To be asked before a change, for `requireNoneSince`. */
  mark(): number {
    return this.count;
  }

  note(sandbox: Sandbox, refusal: StoreRefusal): void {
    this.count += 1;
    this.last.set(sandbox, { number: this.count, refusal });
  }

  lastOf(sandbox: Sandbox): StoreRefusal | undefined {
    return this.last.get(sandbox)?.refusal;
  }

  /** @throws StoreRefusal when something of the sandbox was undone after the mark */
  requireNoneSince(mark: number, sandbox: Sandbox): void {
    if (mark === this.count) return;
    const last = this.last.get(sandbox);
    if (last !== undefined && last.number > mark) throw last.refusal;
  }
}
