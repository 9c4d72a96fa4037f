import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { FixtureSource, LoadedFixture } from "../sandbox/fixture-source.ts";
import { RateWindows } from "../sandbox/rate-windows.ts";
import { SANDBOX_NAME, type SandboxRegistry } from "../sandbox/registry.ts";
import type { Sandbox, SandboxValue } from "../sandbox/sandbox.ts";
import { readClock } from "../state/clock.ts";
import type { AnyCollection } from "../state/collection.ts";
import type { Root } from "../state/root.ts";
import { timers } from "../state/timers.ts";
import { decodeWorld } from "../state/world-document.ts";
import type { WorldValue } from "../state/world-parts.ts";
import { makeFolder } from "../storage/make-folder.ts";
import type { UploadKeeper } from "../storage/upload-keeper.ts";
import { DocumentStore } from "./document-store.ts";
import { FormerFolder } from "./former-format.ts";
import { freeName } from "./free-name.ts";
import { nestedText } from "./nested-rows.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { type SavedSandbox, type SavedWorld, savedSandboxOf, UnfitSandbox } from "./saved-sandbox.ts";
import { Saver } from "./saver.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Row, Store } from "./store.ts";

/** A folder, in which an embedded engine keeps everything, or one readable document. */
export type Place = { folder: string } | { file: string };

export interface PersistenceParts {
  place: Place;
  sandboxes: SandboxRegistry;
  fixtures: FixtureSource;
  collections: readonly AnyCollection[];
  uploads: UploadKeeper;
  /** What a store says is judged like what is sent. Both throw an error that names the place. */
  judge: { shape(saved: unknown): void; world(world: WorldValue): void };
  wallClock: () => number;
  log: Log;
}

/**
 * Opens what is kept, brings back its sandboxes, and goes on saving them. A sandbox that cannot be brought
 * back is set aside, alone.
 * @throws PersistenceError when the place is in use, or of a newer version
 */
export async function openPersistence(parts: PersistenceParts): Promise<Saver> {
  const { place, uploads, log } = parts;
  const say = (warning: string) => log.warn(warning);
  const former = "folder" in place ? FormerFolder.in(place.folder) : undefined;
  const store =
    "folder" in place ? await SqliteStore.open(place.folder, say) : await DocumentStore.open(place.file, say);
  try {
    uploads.keepIn(store.uploads);
    const persistence = new Persistence(parts, store);
    await persistence.bringAllBack();
    if (former !== undefined) await persistence.takeOver(former);
    persistence.saver.start();
    return persistence.saver;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}

class Persistence {
  readonly saver: Saver;
  private readonly parts: PersistenceParts;
  private readonly store: Store;
  private readonly idFields: ReadonlyMap<string, string>;

  constructor(parts: PersistenceParts, store: Store) {
    const { sandboxes, uploads, log, collections } = parts;
    this.parts = parts;
    this.store = store;
    this.idFields = new Map([...collections, timers].map(({ name, idField }) => [name, idField]));
    this.saver = new Saver({
      store,
      uploads,
      log,
      sandboxes: {
        all: () => sandboxes.all(),
        get: (name) => sandboxes.get(name),
        discard: (name) => sandboxes.delete(name),
        bringBack: async (name) => {
          const image = await this.bringBack(name, await this.store.load(name));
          // What little its return has changed cannot be saved now, and is nothing to refuse anybody for.
          image.remark();
          this.saver.adopt(image);
        },
      },
    });
  }

  async bringAllBack(): Promise<void> {
    const images: SandboxImage[] = [];
    let isWhole = true;
    for (const name of await this.store.list()) {
      const rows = await this.store.load(name);
      try {
        images.push(await this.bringBack(name, rows));
      } catch (error) {
        isWhole = false;
        await this.setAside(name, rows, error as Error);
      }
    }
    for (const image of images) this.saver.adopt(image);
    // What was set aside may name files too.
    if (isWhole) this.parts.uploads.sweep();
  }

  /** Reads a folder of the former format once, and moves it away when all of it is in the store. */
  async takeOver(former: FormerFolder): Promise<void> {
    const { log, sandboxes } = this.parts;
    for (const name of former.names()) {
      // Taken over before, by a server that did not come to move it away.
      if (sandboxes.get(name) !== undefined) continue;
      try {
        const saved = former.read(this.idFieldOf, name);
        if (saved !== undefined) await this.revive(name, saved);
      } catch (error) {
        log.warn(`Sandbox ${name} could not be taken over from the former format: ${sentence(error)}`);
      }
    }
    if (!(await this.saver.saveAll())) return;
    log.warn(`What the former format held was taken over; its files are in ${former.moveAside()} now.`);
  }

  private readonly idFieldOf = (collection: string) => this.idFields.get(collection);

  private async bringBack(name: string, rows: readonly Row[]): Promise<SandboxImage> {
    const { sandbox, value } = await this.revive(name, savedSandboxOf(this.idFieldOf, rows));
    return SandboxImage.asLoaded(sandbox, this.parts.uploads, value);
  }

  /** Everything is made and judged before the sandbox is. */
  private async revive(
    name: string,
    saved: SavedSandbox,
  ): Promise<{ sandbox: Sandbox; value: SandboxValue }> {
    const { judge, fixtures, sandboxes, log, wallClock, uploads } = this.parts;
    if (!SANDBOX_NAME.test(name)) throw new UnfitSandbox("no sandbox can have this name");
    judge.shape(saved);
    const { about, present, faults, history } = saved;
    const fixture = sameFixture(fixtures, saved.fixture);
    const base = fixture.root(about.seed);
    const value = await this.valueOf(name, present, base);
    const snapshots = new Map<string, SandboxValue>();
    for (const snap of inOrder(about.snapshots, Object.keys(saved.snapshots))) {
      snapshots.set(snap, await this.valueOf(name, saved.snapshots[snap]!, base));
    }
    const clock = goneOn(present.facts.clock, value.world.clock.at, wallClock());
    const now = { ...value, world: { ...value.world, clock } };
    const { seed, settings } = about;
    const sandbox = sandboxes.revive({ name, seed, settings }, fixture, {
      ...about,
      value: now,
      snapshots,
      history,
    });
    uploads.release(value.blobs);
    try {
      for (const lost of (faults && sandbox.faults.restoreState(faults)) ?? []) {
        log.warn(`The scenario ${lost} was on in sandbox ${name} and is not to be found any more.`);
      }
    } catch (error) {
      sandboxes.delete(name);
      throw error;
    }
    return { sandbox, value };
  }

  private async valueOf(name: string, saved: SavedWorld, base: Root): Promise<SandboxValue> {
    const { uploads, collections, judge, log } = this.parts;
    const { taken_at, ...facts } = saved.facts;
    const world = decodeWorld({ ...facts, tables: saved.tables }, collections, { base });
    judge.world(world);
    const say = (warning: string) => log.warn(`Sandbox ${name}: ${warning}`);
    const blobs =
      saved.blobs === undefined
        ? await uploads.fromFiles(saved.uploads ?? {}, say)
        : await uploads.decode(saved.blobs);
    return { world, taken_at, windows: RateWindows.from(saved.windows), blobs };
  }

  private async setAside(name: string, rows: readonly Row[], error: Error): Promise<void> {
    const { aside } = this.store;
    makeFolder(aside, 0o700);
    const file = freeName(join(aside, `${SANDBOX_NAME.test(name) ? name : "unnamed"}.json`));
    const sections = new Map<string, Map<string, string>>();
    for (const { section, id, text } of rows) {
      const byId = sections.get(section) ?? new Map<string, string>();
      sections.set(section, byId.set(id, isJson(text) ? text : JSON.stringify(text)));
    }
    writeFileSync(file, `{${[...nestedText(sections, "  ")].join("")}\n}\n`, { mode: 0o600 });
    await this.store.commit(
      (async function* () {
        yield [{ sandbox: name, clear: "" }];
      })(),
    );
    this.parts.log.warn(
      `Sandbox ${name} could not be brought back and was set aside as ${file}: ${sentence(error)}`,
    );
  }
}

/** The fixture by name where it still says what it said, so that editing it goes on working; else as saved. */
function sameFixture(fixtures: FixtureSource, { name, document }: SavedSandbox["fixture"]): LoadedFixture {
  try {
    const present = fixtures.load(name);
    if (JSON.stringify(present.document()) === JSON.stringify(document)) return present;
  } catch {
    // Renamed, deleted or broken since: the saved document still says what the world was made from.
  }
  return { ...fixtures.load(document), name };
}

/** Frozen time stays where it was; a clock that moves has moved on while the server was away, never back. */
function goneOn(
  { mode, rate, wall }: SavedWorld["facts"]["clock"],
  at: number,
  now: number,
): WorldValue["clock"] {
  const moved = Math.max(at, readClock({ mode, at, rate, wall }, now));
  return { mode, rate, wall: now, at: moved };
}

/** As they were saved; those that nobody put in order come last. */
function inOrder(order: readonly string[], names: readonly string[]): string[] {
  const known = order.filter((name) => names.includes(name));
  return [...known, ...names.filter((name) => !known.includes(name))];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function sentence(error: unknown): string {
  const { message } = error as Error;
  return message.endsWith(".") ? message : `${message}.`;
}
