import type { FaultState } from "../engine/sandbox/fault-gate.ts";
import type { LoadedFixture } from "../engine/sandbox/fixture-source.ts";
import type { HistoryStory } from "../engine/sandbox/history-story.ts";
import type { Sandbox, SandboxValue } from "../engine/sandbox/sandbox.ts";
import type { Root } from "../engine/state/root.ts";
import type { UploadKeeper } from "../hosts/node/storage/upload-keeper.ts";

/** What tells whether a sandbox is still as it was, without looking into anything. */
interface Marks {
  world: Sandbox["world"];
  root: Root;
  clock: Sandbox["world"]["clock"];
  generation: number;
  faults: number;
  bytes: number;
  requests: number;
  counted: object;
  history: number;
}

/**
 * A sandbox with everything that is kept of it, as it was at one moment: references to values that nothing
 * changes. Whether something has to be saved is found by comparing the sandbox with its last image, so that
 * no change can go unnoticed because somebody forgot to tell.
 */
export class SandboxImage {
  readonly sandbox: Sandbox;
  /** What records are told apart from, and what it was made of. */
  readonly base: Root;
  readonly document: object;
  readonly source: LoadedFixture;
  readonly about: Pick<Sandbox, "created_at" | "fixture" | "seed" | "settings" | "resets" | "start">;
  readonly value: SandboxValue;
  readonly faults: FaultState;
  readonly snapshots: ReadonlyMap<string, SandboxValue>;
  readonly history: HistoryStory;
  private readonly uploads: UploadKeeper;
  private marks: Marks | undefined;

  private constructor(sandbox: Sandbox, uploads: UploadKeeper, kept: Pick<SandboxImage, "value" | "faults">) {
    const { source, created_at, fixture, seed, settings, resets, start } = sandbox;
    this.sandbox = sandbox;
    this.uploads = uploads;
    this.source = source;
    this.base = source.root(seed);
    this.document = source.document();
    this.about = { created_at, fixture, seed, settings, resets, start };
    this.value = kept.value;
    this.faults = kept.faults;
    this.snapshots = new Map(sandbox.snapshots);
    this.history = sandbox.history.story();
    for (const { blobs } of this.snapshots.values()) uploads.hold(blobs);
  }

  static of(sandbox: Sandbox, uploads: UploadKeeper): SandboxImage {
    const image = new SandboxImage(sandbox, uploads, {
      value: sandbox.value(),
      faults: sandbox.faults.state(),
    });
    image.remark();
    return image;
  }

  /** What a store gave for this sandbox: the same records, while everything else of it is still to be saved. */
  static asLoaded(sandbox: Sandbox, uploads: UploadKeeper, value: SandboxValue): SandboxImage {
    uploads.hold(value.blobs);
    return new SandboxImage(sandbox, uploads, { value, faults: sandbox.faults.state() });
  }

  isPresent(): boolean {
    const marks = this.marks;
    const { windows, world } = this.sandbox;
    return (
      marks !== undefined &&
      world.requests === marks.requests &&
      windows.counted === marks.counted &&
      this.sandbox.history.revision === marks.history &&
      this.isPresentButForCounts()
    );
  }

  /** Nothing has happened but that requests were counted. */
  isPresentButForCounts(): boolean {
    const { sandbox, about } = this;
    const marks = this.marks;
    const { world } = sandbox;
    return (
      marks !== undefined &&
      world === marks.world &&
      world.root === marks.root &&
      world.clock === marks.clock &&
      world.generation === marks.generation &&
      sandbox.faults.revision === marks.faults &&
      this.uploads.revisionOf(sandbox) === marks.bytes &&
      sandbox.source === this.source &&
      sandbox.settings === about.settings &&
      sandbox.seed === about.seed &&
      sandbox.resets === about.resets &&
      sandbox.start === about.start &&
      sandbox.created_at === about.created_at &&
      this.hasSameSnapshots()
    );
  }

  private hasSameSnapshots(): boolean {
    const present = this.sandbox.snapshots;
    if (present.size !== this.snapshots.size) return false;
    for (const [name, value] of this.snapshots) if (present.get(name) !== value) return false;
    return true;
  }

  /** The sandbox was put back to this image. */
  remark(): void {
    const { sandbox } = this;
    const { world, windows } = sandbox;
    const { root, clock, generation, requests } = world;
    const bytes = this.uploads.revisionOf(sandbox);
    const { counted } = windows;
    const history = sandbox.history.revision;
    this.marks = {
      world,
      root,
      clock,
      generation,
      faults: sandbox.faults.revision,
      bytes,
      requests,
      counted,
      history,
    };
  }

  /** Bytes that have to be on the disk before anything names them. */
  async syncBytes(before: SandboxImage | undefined): Promise<void> {
    await this.uploads.sync(this.value.blobs);
    for (const [name, value] of this.snapshots) {
      if (before?.snapshots.get(name) !== value) await this.uploads.sync(value.blobs);
    }
  }

  /** The files that hold its bytes, and how much of each it needs. */
  *files(): IterableIterator<{ path: string; length: number }> {
    for (const { blobs } of [this.value, ...this.snapshots.values()]) yield* this.uploads.pathsOf(blobs);
  }

  filesOf(value: SandboxValue): object {
    return this.uploads.filesOf(value.blobs);
  }

  /** Lets go of the bytes that it held. */
  release(): void {
    this.uploads.release(this.value.blobs);
    for (const { blobs } of this.snapshots.values()) this.uploads.release(blobs);
  }
}
