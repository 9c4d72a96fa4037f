import type { Sandbox, SandboxState } from "../engine/sandbox/sandbox.ts";
import type { LoadedFixture, SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import type { StorableUploads } from "../engine/sandbox/snapshots.ts";
import type { Root } from "../engine/state/tables.ts";

/**
 * A sandbox as it was at one moment: references to immutable values. Comparing the sandbox with its last image finds
 * every change, so no code has to report one.
 */
export class SandboxImage implements SandboxState {
  readonly sandbox: Sandbox;
  /** The fixture's records, with which saved records are compared. */
  readonly base: Root;
  readonly source: LoadedFixture;
  readonly about: SandboxState["about"];
  readonly value: SandboxState["value"];
  readonly faults: SandboxState["faults"];
  readonly snapshots: SandboxState["snapshots"];
  readonly history: SandboxState["history"];
  readonly ownResources: SandboxState["ownResources"];
  private readonly uploads: StorableUploads;
  /** Versions of the sandbox's parts and counters, which are equal if nothing has changed. */
  private versions: { parts: readonly unknown[]; counts: readonly unknown[] } | undefined;

  private constructor(
    sandbox: Sandbox,
    uploads: StorableUploads,
    { value, faults }: Pick<SandboxImage, "value" | "faults">,
  ) {
    const { source, created_at, fixture, seed, settings, resets, start, forked_from } = sandbox;
    this.sandbox = sandbox;
    this.uploads = uploads;
    this.source = source;
    this.base = source.buildRoot(seed);
    this.about = { created_at, fixture, seed, settings, resets, start, forked_from };
    this.value = value;
    this.faults = faults;
    this.snapshots = new Map(sandbox.snapshots);
    this.history = sandbox.history.toSnapshot();
    this.ownResources = sandbox.ownResources;
    for (const { blobs } of this.snapshots.values()) uploads.hold(blobs);
  }

  static capture(sandbox: Sandbox, uploads: StorableUploads): SandboxImage {
    const image = new SandboxImage(sandbox, uploads, {
      value: sandbox.toValue(),
      faults: sandbox.faults.toState(),
    });
    image.refreshVersions();
    return image;
  }

  /** The image of a sandbox that was just loaded: its records are stored, everything else must still be saved. */
  static fromLoaded(sandbox: Sandbox, uploads: StorableUploads, value: SandboxValue): SandboxImage {
    uploads.hold(value.blobs);
    return new SandboxImage(sandbox, uploads, { value, faults: sandbox.faults.toState() });
  }

  isCurrent(): boolean {
    return this.differsOnlyInCounts() && isSame(this.versions!.counts, this.readCounts());
  }

  /** Whether nothing but request counters has changed. */
  differsOnlyInCounts(): boolean {
    const { versions } = this;
    return versions !== undefined && isSame(versions.parts, this.readParts()) && this.hasSameSnapshots();
  }

  private hasSameSnapshots(): boolean {
    const current = this.sandbox.snapshots;
    if (current.size !== this.snapshots.size) return false;
    for (const [name, value] of this.snapshots) if (current.get(name) !== value) return false;
    return true;
  }

  /** Takes the sandbox as it is now for unchanged; call this after it was rolled back to this image. */
  refreshVersions(): void {
    this.versions = { parts: this.readParts(), counts: this.readCounts() };
  }

  private readParts(): readonly unknown[] {
    const { world, faults, source, settings, seed, resets, start, created_at, ownResources } = this.sandbox;
    const { root, clock, generation } = world;
    const worldParts = [world, root, clock, generation, this.uploads.getRevision(this.sandbox)];
    const others = [faults.rules.revision, source, settings, seed, resets, start, created_at, ownResources];
    return [...worldParts, ...others];
  }

  private readCounts(): readonly unknown[] {
    const { world, windows, history } = this.sandbox;
    return [world.requests, windows.table, history.revision];
  }

  /** Writes the bytes of new uploads to disk, where they must be before a row names them. */
  async syncBytes(before: SandboxImage | undefined): Promise<void> {
    await this.uploads.sync(this.value.blobs);
    for (const [name, value] of this.snapshots) {
      if (before?.snapshots.get(name) !== value) await this.uploads.sync(value.blobs);
    }
  }

  /** The files with its bytes, and the number of bytes that it needs of each. */
  *listPaths(): IterableIterator<{ path: string; length: number }> {
    for (const { blobs } of [this.value, ...this.snapshots.values()]) yield* this.uploads.listPaths(blobs);
  }

  toStoredUploads(value: SandboxValue): object {
    return this.uploads.toStored(value.blobs);
  }

  /** Releases its bytes of uploads. */
  release(): void {
    this.uploads.release(this.value.blobs);
    for (const { blobs } of this.snapshots.values()) this.uploads.release(blobs);
  }
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.every((value, i) => value === now[i]);
}
