import { Type } from "typebox";
import type { Api } from "../engine/contract/api.ts";
import { ClosedObject, MapOf, Nullable, StringEnum } from "../engine/contract/schema.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { HISTORY_KINDS } from "../engine/sandbox/history-entry.ts";
import { StoredUploads } from "../engine/sandbox/snapshots.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../engine/state/clock.ts";
import type { Root } from "../engine/state/tables.ts";
import type { WorldValue } from "../engine/state/world-parts.ts";
import { checkInput, PartialSettings } from "./check-input.ts";
import { Problem } from "./problem.ts";
import {
  compileWorldValidators,
  createWorldFields,
  Epoch,
  RateWindows,
  Records,
  validateWorld,
  WholeNumber,
} from "./validate-world.ts";

// The parts of a `SavedSandbox`. The fields are described where their types are declared: there, in `FaultState`, in
// `StoredEntry`, and in the `Progress` of rules.
const Texts = Type.Array(Type.String());

const RuleProgress = ClosedObject({
  calls: WholeNumber,
  hits: WholeNumber,
  counted: MapOf(WholeNumber),
  due: Type.Optional(Epoch),
  expired: Type.Boolean(),
});

const ScenarioStages = ClosedObject({
  begun: Type.Array(ClosedObject({ at: Epoch, requests: WholeNumber }), { minItems: 1 }),
  ended: Type.Optional(Epoch),
  due: Type.Optional(Epoch),
});

const StoredWorld = ClosedObject({
  facts: ClosedObject({ ...createWorldFields({ wall: Epoch }), taken_at: Epoch }),
  windows: RateWindows,
  uploads: Type.Optional(StoredUploads),
  tables: MapOf(ClosedObject({ put: Records, removed: Texts })),
});

const NullableText = Nullable(Type.String());
const HistoryEntry = ClosedObject({
  id: Type.String(),
  sequence: WholeNumber,
  at: Epoch,
  parent: WholeNumber,
  kind: StringEnum(HISTORY_KINDS),
  // Earlier versions did not save these two.
  seq: Type.Optional(WholeNumber),
  journal: Type.Optional(WholeNumber),
  title: Type.String(),
  subject: NullableText,
  cause: NullableText,
  advanced_by: NullableText,
  request: NullableText,
  operation: Type.Optional(Type.String()),
  changes: MapOf(ClosedObject({ added: WholeNumber, removed: WholeNumber, changed: WholeNumber })),
  stays: Type.Optional(Type.Boolean()),
  undone: Type.Boolean(),
  delivered: Type.Optional(Nullable(Type.Boolean())),
  leaves: Texts,
});
const History = ClosedObject({
  about: ClosedObject({ next: WholeNumber, base: WholeNumber, dropped: WholeNumber }),
  entries: Type.Array(HistoryEntry),
});

const Saved = ClosedObject({
  about: ClosedObject({
    // Its fraction keeps the order of sandboxes that were created in one millisecond.
    created_at: Type.Number({ minimum: FIRST_INSTANT, maximum: LAST_INSTANT + 1 }),
    fixture: Type.String(),
    seed: WholeNumber,
    // An earlier version, which had fewer settings, may have saved it.
    settings: PartialSettings,
    resets: WholeNumber,
    forked_from: Type.Optional(Type.String()),
    start: Epoch,
    snapshots: Texts,
    /** The files of the server's own operations; the sandbox's own document is the other `operations`. */
    operations: Type.Optional(Texts),
  }),
  fixture: ClosedObject({ name: Type.String(), document: Type.Object({}) }),
  operations: Type.Optional(
    ClosedObject({ openapi: Type.Unknown(), bindings: Type.Optional(Type.Unknown()) }),
  ),
  faults: Type.Optional(
    ClosedObject({
      first: Texts,
      active: Texts,
      opened: Type.Optional(Type.Array(ClosedObject({ name: Type.String(), document: Type.Object({}) }))),
      inline: Type.Array(ClosedObject({ id: Type.String(), rule: Type.Object({}) })),
      progress: MapOf(RuleProgress),
      stages: Type.Optional(MapOf(ScenarioStages)),
      numbered: WholeNumber,
    }),
  ),
  present: StoredWorld,
  snapshots: MapOf(StoredWorld),
  history: Type.Optional(History),
});

/**
 * Validates stored sandboxes by the same rules as requests; `checkShape` and `checkWorld` throw a Problem. If a declaration
 * of own operations was edited, records that it no longer allows stay, as on a running server, with one warning for each
 * world and file.
 */
export function createSavedValidator(getApi: () => Api, log: { warn(sentence: string): void }) {
  return {
    checkShape: (saved: unknown) => checkInput(Saved, saved),
    checkWorld(world: WorldValue, fixtureRoot: Root, { resources }: Api) {
      validateWorld(
        resources.filter(({ userSource }) => userSource === undefined),
        world,
        fixtureRoot,
      );
      for (const resource of resources) {
        if (resource.userSource === undefined) continue;
        try {
          validateWorld([resource], world, fixtureRoot);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          log.warn(`A record is kept that no longer fits ${resource.userSource.source}: ${error.message}`);
        }
      }
    },
    /** Compiles the validators in steps; the server may answer requests between two of them. */
    *prepare(): Generator<void> {
      toValidator(Saved);
      yield;
      yield* compileWorldValidators(getApi().resources);
    },
  };
}
