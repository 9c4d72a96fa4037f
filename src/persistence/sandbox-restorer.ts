import { type Api, extendApi } from "../engine/contract/api.ts";
import type { Resource } from "../engine/contract/resource.ts";
import { tryParseJson } from "../engine/contract/text.ts";
import { platform } from "../engine/platform.ts";
import { describeUnusable } from "../engine/sandbox/fault-types.ts";
import { RateWindows } from "../engine/sandbox/rate-windows.ts";
import { SANDBOX_NAME, type SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { FixtureSource, LoadedFixture, SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import type { StorableUploads } from "../engine/sandbox/snapshots.ts";
import { readClock } from "../engine/state/clock.ts";
import type { Root } from "../engine/state/tables.ts";
import { timers } from "../engine/state/timers.ts";
import { decodeWorld } from "../engine/state/world-document.ts";
import type { WorldValue } from "../engine/state/world-parts.ts";
import type { Log } from "../hosts/node/log.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { InvalidSandboxRows, parseSavedSandbox, type SavedSandbox, type SavedWorld } from "./sandbox-rows.ts";
import { MissingOperations, type Row } from "./store.ts";

export interface RestorerParts {
  sandboxes: SandboxRegistry;
  fixtures: FixtureSource;
  /** The current operations of all sandboxes. */
  getApi: () => Api;
  uploads: StorableUploads;
  /** Stored documents are validated like requests. Both checks throw an error that names the place. */
  validator: {
    checkShape(saved: unknown): void;
    checkWorld(world: WorldValue, fixtureRoot: Root, api: Api): void;
    /** Compiles the validators, one per step. */
    prepare(): Iterable<void>;
  };
  wallClock: () => number;
  log: Log;
}

/** `open` creates the sandbox, and deletes it, in its own way. */
type UsedParts = Omit<RestorerParts, "sandboxes"> & {
  sandboxes: Pick<SandboxRegistry, "restoreSaved" | "delete">;
};

interface ParsedSandbox {
  saved: SavedSandbox;
  /** Resources of this sandbox alone. */
  ownResources: readonly Resource[];
  /** The API with them. */
  api: Api;
}

export class SandboxRestorer {
  private readonly parts: UsedParts;

  constructor(parts: UsedParts) {
    this.parts = parts;
  }

  /** Parses a sandbox's rows; first its own operations, whose collections the other rows may name. */
  private async parse(name: string, rows: readonly Row[]): Promise<ParsedSandbox> {
    const operationRows = rows.filter(({ section, id }) => section === "sandbox" && id === "operations");
    const { operations } = parseSavedSandbox(() => undefined, operationRows);
    const { api, ownResources } = await this.readOwnOperations(name, operations);
    const idFields = new Map([...api.collections, timers].map(({ name, idField }) => [name, idField]));
    return { saved: parseSavedSandbox((collection) => idFields.get(collection), rows), ownResources, api };
  }

  /** @throws MissingOperations */
  async readOwnOperations(
    name: string,
    operations: SavedSandbox["operations"],
  ): Promise<Omit<ParsedSandbox, "saved">> {
    const api = this.parts.getApi();
    if (operations == null) return { api, ownResources: [] };
    const { readSentOperations } = await import("../documents/openapi/read-sent-document.ts");
    try {
      const { ownResources } = readSentOperations(operations, api.resources);
      return { ownResources, api: extendApi(api, ownResources) };
    } catch (error) {
      const { message } = error as Error;
      throw new MissingOperations(
        `Sandbox ${name} has an OpenAPI document of its own, which this server cannot serve: ${message.replace(/\.$/, "")}. Start the server as it was when the sandbox was saved; nothing was changed.`,
      );
    }
  }

  /**
   * @param folder the folder with the bytes of its uploads; by default that of the store
   * @throws Error that describes the problem of the rows; then nothing has changed
   */
  async restoreRows(name: string, rows: readonly Row[], folder?: string): Promise<SandboxImage> {
    try {
      const { sandbox, value } = await this.restoreSaved(name, await this.parse(name, rows), folder);
      return SandboxImage.fromLoaded(sandbox, this.parts.uploads, value);
    } catch (error) {
      throw this.explainMissingOperations(name, rows, error as Error) ?? error;
    }
  }

  /** Creates a sandbox from one document, such as that in an exported file. @throws as `restoreRows` */
  async restoreDocument(name: string, saved: SavedSandbox): Promise<Sandbox> {
    const parsed = { saved, ...(await this.readOwnOperations(name, saved.operations)) };
    return (await this.restoreSaved(name, parsed, undefined)).sandbox;
  }

  /** The error for a sandbox that was saved with operations which this server does not have; undefined for others. */
  private explainMissingOperations(
    name: string,
    rows: readonly Row[],
    error: Error,
  ): MissingOperations | undefined {
    const about = rows.find(({ section, id }) => section === "sandbox" && id === "about");
    const sources = new Set(
      this.parts.getApi().resources.flatMap(({ userSource }) => userSource?.source ?? []),
    );
    const missing = readOperationSources(about?.text).filter((source) => !sources.has(source));
    if (missing.length === 0) return undefined;
    const reason = error.message.replace(/\.$/, "");
    return new MissingOperations(
      `Sandbox ${name} was saved with operations of ${missing.join(", ")}, which this server lacks: ${reason}. Start it with these files again; nothing was changed.`,
    );
  }

  /**
   * Does everything but the creation of the sandbox, in pieces, so that code is compiled and the fixture's
   * records exist before a node of a fleet takes over its first sandbox.
   */
  async warmUp(name: string, rows: readonly Row[]): Promise<void> {
    const { saved, api } = await this.parse(name, rows);
    this.parts.validator.checkShape(saved);
    const base = chooseFixture(this.parts.fixtures, saved.fixture).buildRoot(saved.about.seed);
    for (const collection of api.collections) {
      // Creates the records of the fixture.
      void base.tables.get(collection.name)?.size;
      await platform().nextTurn();
    }
    const savedWorld = { ...saved.present, uploads: undefined };
    await this.loadValue(name, savedWorld, { base, api, folder: undefined });
  }

  /** Everything is built and validated before the sandbox is created. */
  private async restoreSaved(
    name: string,
    { saved, ownResources, api }: ParsedSandbox,
    folder: string | undefined,
  ): Promise<{ sandbox: Sandbox; value: SandboxValue }> {
    const { validator, fixtures, sandboxes, log, wallClock, uploads } = this.parts;
    if (!SANDBOX_NAME.test(name)) throw new InvalidSandboxRows("no sandbox can have this name");
    validator.checkShape(saved);
    const { about, present, faults, history } = saved;
    const fixture = chooseFixture(fixtures, saved.fixture);
    const base = fixture.buildRoot(about.seed);
    const value = await this.loadValue(name, present, { base, api, folder });
    const snapshots = new Map<string, SandboxValue>();
    for (const snap of sortBySavedOrder(about.snapshots, Object.keys(saved.snapshots)))
      snapshots.set(snap, await this.loadValue(name, saved.snapshots[snap]!, { base, api, folder }));
    const clock = toCurrentClock(present.facts.clock, value.world.clock.at, wallClock());
    const currentValue = { ...value, world: { ...value.world, clock } };
    const { seed, settings } = about;
    const sandbox = sandboxes.restoreSaved({ name, seed, settings, ownResources }, fixture, {
      ...about,
      value: currentValue,
      snapshots,
      history,
    });
    // The sandbox holds the bytes itself now; those of the snapshots were handed over.
    uploads.release(value.blobs);
    try {
      const unusable = faults === undefined ? [] : sandbox.faults.restoreState(faults);
      for (const one of unusable) log.warn(describeUnusable(name, one));
    } catch (error) {
      sandboxes.delete(name);
      throw error;
    }
    return { sandbox, value };
  }

  private async loadValue(
    name: string,
    saved: SavedWorld,
    { base, api, folder }: { base: Root; api: Api; folder: string | undefined },
  ): Promise<SandboxValue> {
    const { uploads, validator, log } = this.parts;
    const { taken_at, ...facts } = saved.facts;
    const world = decodeWorld({ ...facts, tables: saved.tables }, api.collections, base);
    validator.checkWorld(world, base, api);
    const warn = (warning: string) => log.warn(`Sandbox ${name}: ${warning}`);
    const blobs = await uploads.fromStored(saved.uploads ?? {}, warn, folder);
    return { world, taken_at, windows: RateWindows.parse(saved.windows), blobs };
  }
}

function readOperationSources(about = "{}"): string[] {
  return (tryParseJson(about) as { operations?: string[] } | null | undefined)?.operations ?? [];
}

/** The server's fixture of this name if it equals the saved document, so that its next edits apply; else that document. */
function chooseFixture(fixtures: FixtureSource, { name, document }: SavedSandbox["fixture"]): LoadedFixture {
  try {
    const currentFixture = fixtures.load(name);
    if (JSON.stringify(currentFixture.getDocument()) === JSON.stringify(document)) return currentFixture;
  } catch {
    // The fixture was renamed, deleted or broken since then: the saved document is used.
  }
  return { ...fixtures.load(document), name };
}

/** A frozen clock keeps its instant. A running clock has continued while the server was off, and never goes back. */
function toCurrentClock(
  { mode, rate, wall }: SavedWorld["facts"]["clock"],
  at: number,
  now: number,
): WorldValue["clock"] {
  const instant = Math.max(at, readClock({ mode, at, rate, wall }, now));
  return { mode, rate, wall: now, at: instant };
}

/** Sorts by saved order; names without a position come last. */
function sortBySavedOrder(order: readonly string[], names: readonly string[]): string[] {
  const ordered = order.filter((name) => names.includes(name));
  return [...ordered, ...names.filter((name) => !ordered.includes(name))];
}
