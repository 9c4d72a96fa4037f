import type { Change, ChangeSource, HistoryEntry } from "../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { ControlCall, ControlOperation } from "./operation.ts";

/** A control call that may change a sandbox's world, as its history describes it (interfaces 10). */
export class ControlChange implements Change, ChangeSource {
  readonly kind: Change["kind"];
  readonly began: NonNullable<Change["began"]>;
  entry: HistoryEntry | undefined = undefined;
  title: string;
  subject: string | undefined = undefined;
  private readonly sandbox: Sandbox;
  private readonly settings: Sandbox["settings"];
  private readonly inForce: string;
  private readonly generation: number;

  constructor(operation: ControlOperation, sandbox: Sandbox) {
    this.kind = operation.describes!.kind ?? "control";
    // Until it is known better: an advance may run for minutes.
    this.title = `${operation.summary}.`;
    this.sandbox = sandbox;
    this.settings = sandbox.settings;
    this.inForce = sandbox.faults.inForce;
    this.began = { state: sandbox.recorder.present(), position: sandbox.history.lastSequence };
    this.generation = sandbox.world.generation;
  }

  get change(): Change {
    return this;
  }

  /** The call has succeeded; one that changed nothing leaves no entry. */
  finish({ describes }: ControlOperation, call: ControlCall, answer: unknown): void {
    if (this.entry === undefined && !this.hasChanged()) return;
    const { title, subject } = describes!.as(call, answer);
    this.title = title;
    this.subject = subject;
    this.sandbox.recorder.complete(this);
  }

  private hasChanged(): boolean {
    const { world, settings, faults } = this.sandbox;
    const { clock } = this.began.state.environment;
    return (
      world.generation !== this.generation ||
      settings !== this.settings ||
      faults.inForce !== this.inForce ||
      clock.mode !== world.clock.mode ||
      clock.rate !== world.clock.rate ||
      (clock.rate === 0 ? clock.at !== world.clock.at : clock !== world.clock)
    );
  }
}
