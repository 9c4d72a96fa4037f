import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/clock.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { type FaultParts, SandboxFaults } from "./sandbox-faults.ts";
import { type RuleApi, readInlineRule } from "./scenario.ts";

export interface FaultOptions extends Omit<FaultParts, "base"> {
  /** The operations of rules for every sandbox. */
  api: RuleApi;
  /** The delay of every answer of every sandbox, as in a rule's effect. */
  delay?: EffectDocument["delay"] | undefined;
}

/** The faults of a server's sandboxes. */
export class Faults {
  /** The delay of every answer of every sandbox, if the server was started with one. */
  readonly delay: EffectDocument["delay"];
  private readonly parts: FaultParts;
  private readonly sandboxes = new WeakMap<Sandbox, SandboxFaults>();

  constructor({ delay, api, ...parts }: FaultOptions) {
    this.delay = delay;
    const base = delay === undefined ? [] : [readInlineRule({ effect: { delay } }, api, () => "delay")];
    this.parts = { ...parts, base };
  }

  of(sandbox: Sandbox): SandboxFaults {
    let faults = this.sandboxes.get(sandbox);
    if (faults === undefined) {
      faults = new SandboxFaults(this.parts, sandbox);
      this.sandboxes.set(sandbox, faults);
    }
    return faults;
  }

  /** Ends leases when they are due. */
  timers(sandbox: Sandbox): Partial<Record<TimerKind, TimerHandler>> {
    return {
      lease: (_tx, { key, subject }) => {
        const faults = this.of(sandbox);
        return async () => faults.leaseEnded(key ?? subject);
      },
    };
  }
}
