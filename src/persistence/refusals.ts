import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { StoreRefusal } from "./store.ts";

interface NumberedRefusal {
  number: number;
  refusal: StoreRefusal;
}

/** Changes that were undone because the store refused them, for the waiting requests. */
export class Refusals {
  private readonly bySandbox = new WeakMap<Sandbox, NumberedRefusal>();
  private last: NumberedRefusal | undefined;

  /** How many changes were refused so far; called before a change, for `requireNoneSince`. */
  countRefusals(): number {
    return this.last?.number ?? 0;
  }

  /** @param sandbox undefined for the deletion of a sandbox */
  record(sandbox: Sandbox | undefined, refusal: StoreRefusal): void {
    this.last = { number: this.countRefusals() + 1, refusal };
    if (sandbox !== undefined) this.bySandbox.set(sandbox, this.last);
  }

  findLast(sandbox: Sandbox): StoreRefusal | undefined {
    return this.bySandbox.get(sandbox)?.refusal;
  }

  /** @throws StoreRefusal if more were refused than before: of the sandbox, or without one of any */
  requireNoneSince(refusalsBefore: number, sandbox: Sandbox | undefined): void {
    const last = sandbox === undefined ? this.last : this.bySandbox.get(sandbox);
    if (last !== undefined && last.number > refusalsBefore) throw last.refusal;
  }
}
