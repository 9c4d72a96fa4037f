import { OutcomeCounts } from "./counters.ts";
import type { StateRef } from "./history-entry.ts";
import { Sandbox, type SandboxParts } from "./sandbox.ts";
import type { LoadedFixture, SandboxOptions, SavedState } from "./sandbox-value.ts";
import type { BlobStore } from "./snapshots.ts";

export const SANDBOX_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export interface RegistryParts extends SandboxParts {
  defaults: SandboxParts["defaults"] & { fixture: string | object };
  /** Called once the sandbox is deleted. */
  onDelete: (sandbox: Sandbox) => void;
}

interface NewSandbox extends SandboxOptions {
  fixture?: string | object;
  scenarios?: readonly string[];
  /** Called with the fixture before a world is built from it; may throw to refuse it. */
  checkFixture?: (fixture: LoadedFixture) => void;
}

export class SandboxRegistry {
  /** Outcomes of deleted sandboxes, and those that other servers report (interfaces.md 11). */
  readonly additionalOutcomes = new OutcomeCounts();
  private sandboxes = new Map<string, Sandbox>();
  private readonly parts: RegistryParts;
  private lastCreation = 0;

  constructor(parts: RegistryParts) {
    this.parts = parts;
  }

  get(name: string): Sandbox | undefined {
    return this.sandboxes.get(name);
  }

  get size(): number {
    return this.sandboxes.size;
  }

  get blobs(): BlobStore {
    return this.parts.blobs;
  }

  /** Lists the sandboxes in order of creation. */
  all(): IterableIterator<Sandbox> {
    return this.sandboxes.values();
  }

  /** Call this after saved sandboxes were restored, which may come in another order. */
  sortByCreation(): void {
    this.sandboxes = new Map([...this.sandboxes].sort(([, a], [, b]) => a.created_at - b.created_at));
  }

  /** The outcomes of all sandboxes, including deleted ones. */
  sumOutcomes(): OutcomeCounts {
    const sum = new OutcomeCounts();
    sum.addAll(this.additionalOutcomes);
    for (const { outcomes } of this.sandboxes.values()) sum.addAll(outcomes);
    return sum;
  }

  /**
   * The caller has checked that the name is well-formed and free.
   * @throws DocumentError, UnknownScenarioError if the fixture or a scenario is unknown or wrong
   */
  create(options: NewSandbox): Sandbox {
    const { fixtures, defaults } = this.parts;
    const fixture = fixtures.load(options.fixture ?? defaults.fixture);
    options.checkFixture?.(fixture);
    return this.add(options, fixture);
  }

  /**
   * A second sandbox with the same data, clock, settings and random state (interfaces.md 4), or with those of a moment of
   * the original's history (interfaces.md 10); settings, scenarios and rules are the current ones. `lostUploads` are the ids
   * of uploads that have lost bytes since that moment.
   */
  fork(original: Sandbox, name: string, moment?: StateRef): { fork: Sandbox; lostUploads: string[] } {
    const { seed, settings, ownResources, source } = original;
    const { scenarios } = original.faults.rules;
    let lostUploads: string[] = [];
    const fork = this.add({ name, seed, settings, ownResources, scenarios }, source, (sandbox) => {
      lostUploads = sandbox.copyFrom(original, moment);
    });
    return { fork, lostUploads };
  }

  /** Restores a saved sandbox; replaces an existing one of that name, and deletes the new one if it cannot be restored. */
  restoreSaved(options: NewSandbox, fixture: LoadedFixture, savedState: SavedState): Sandbox {
    this.sandboxes.get(options.name)?.close();
    const sandbox = this.add(options, fixture);
    try {
      sandbox.restoreSaved(savedState);
    } catch (error) {
      this.delete(options.name);
      throw error;
    }
    return sandbox;
  }

  delete(name: string): void {
    const sandbox = this.sandboxes.get(name);
    if (sandbox === undefined) return;
    this.sandboxes.delete(name);
    this.additionalOutcomes.addAll(sandbox.outcomes);
    sandbox.close();
    this.parts.onDelete(sandbox);
  }

  endStreams(): void {
    for (const sandbox of this.sandboxes.values()) sandbox.endStreams();
  }

  close(): void {
    for (const sandbox of this.sandboxes.values()) sandbox.close();
  }

  private add(options: NewSandbox, fixture: LoadedFixture, restore?: (sandbox: Sandbox) => void): Sandbox {
    const sandbox = new Sandbox(this.parts, options, fixture);
    try {
      if (options.scenarios?.length) sandbox.faults.setInitialScenarios(options.scenarios);
      restore?.(sandbox);
    } catch (error) {
      sandbox.close();
      throw error;
    }
    // A fraction keeps the order of sandboxes that were created in one millisecond.
    this.lastCreation = Math.max(sandbox.created_at, this.lastCreation + 2 ** -10);
    sandbox.created_at = this.lastCreation;
    this.sandboxes.set(options.name, sandbox);
    this.parts.onChange(sandbox, "created");
    return sandbox;
  }
}
