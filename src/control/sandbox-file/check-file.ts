import { Type } from "typebox";
import type { Resource } from "../../engine/contract/resource.ts";
import { ClosedObject, MapOf, Nullable } from "../../engine/contract/schema.ts";
import { type Step, undo } from "../../engine/state/undo-log.ts";
import type { WorldValue } from "../../engine/state/world-parts.ts";
import { Body } from "../../tools/bundle/bundle.ts";
import { checkInput } from "../check-input.ts";
import { unprocessable } from "../problem.ts";
import {
  Epoch,
  RateWindows,
  Records,
  validateRecords,
  validateWorld,
  WholeNumber,
} from "../validate-world.ts";
import type { SandboxFile } from "./sandbox-file.ts";

const Text = Type.String();
const Texts = Type.Array(Text);
const NullOrText = Nullable(Text);
const RecordOrNull = Nullable(Type.Object({}));

/** The collection, the id, and the record before and after; null for none. */
const WrittenRecord = Type.Unsafe<unknown[]>({
  type: "array",
  minItems: 4,
  maxItems: 4,
  prefixItems: [Text, Text, RecordOrNull, RecordOrNull],
});

const Clock = ClosedObject({
  mode: Type.Enum(["real", "frozen", "scaled"]),
  at: Epoch,
  wall: Epoch,
  pinned: Type.Optional(Epoch),
  rate: Type.Number({ minimum: 0, maximum: 1_000_000 }),
});

/** The parts of `StoredStates`, which says what they contain. */
const State = ClosedObject({
  version: WholeNumber,
  now: Epoch,
  requests: WholeNumber,
  environment: WholeNumber,
  windows: WholeNumber,
  counted: Type.Optional(ClosedObject({ key_id: Text, minute: Type.Integer() })),
});
const EntryStates = ClosedObject({
  before: State,
  after: State,
  from: WholeNumber,
  to: WholeNumber,
  start: WholeNumber,
  end: WholeNumber,
  whole: Type.Optional(Type.Literal(true)),
});
const StoredTable = Type.Union([
  ClosedObject({ records: Records }),
  ClosedObject({ put: Records, removed: Texts }),
]);
const StoredStep = ClosedObject({
  written: Type.Array(WrittenRecord),
  draws: WholeNumber,
  tables: Type.Optional(MapOf(StoredTable)),
});
const Environment = ClosedObject({
  clock: Clock,
  origin: Epoch,
  seed: WholeNumber,
  secretKey: Type.String({ minLength: 1 }),
});
const States = ClosedObject({
  oldest: WholeNumber,
  steps: Type.Array(StoredStep),
  entries: MapOf(EntryStates),
  environments: Type.Array(Environment),
  windows: Type.Array(RateWindows),
});

const Operations = Type.Array(
  ClosedObject({
    source: Text,
    sha256: Type.Optional(Text),
    content: Type.Optional(Type.Object({ openapi: Type.Unknown(), bindings: Type.Optional(Type.Unknown()) })),
  }),
);

/** The fields of a `StoredExchange` that pages, reports and replays read; others are not checked. */
const Exchange = Type.Object({
  id: Text,
  seq: WholeNumber,
  sequence: WholeNumber,
  at: Epoch,
  operation: NullOrText,
  method: Text,
  path: Text,
  query: Text,
  status: Type.Integer({ minimum: 0, maximum: 999 }),
  code: NullOrText,
  duration_ms: Type.Number({ minimum: 0 }),
  principal: NullOrText,
  api_key: NullOrText,
  decision: Text,
  history: NullOrText,
  reasons: Texts,
  warnings: Texts,
  request_headers: Texts,
  response_headers: Texts,
  request_bytes: WholeNumber,
  request_body: Type.Optional(Body),
  response_body: Type.Optional(Body),
});
const Journal = ClosedObject({ dropped: WholeNumber, entries: Type.Array(Exchange) });

/** Checks the shape of the parts that only an exported file has. @throws Problem 422 that names the place */
export function checkFile({ content: { states, operations }, journal }: SandboxFile): void {
  checkInput(Operations, operations, "operations");
  checkInput(States, states, "states");
  checkInput(Journal, journal, "journal");
  const newest = states.oldest + states.steps.length;
  for (const [sequence, { before, after, from, to }] of Object.entries(states.entries)) {
    const areVersionsStored = states.oldest <= from && from <= to && to <= newest;
    const areStatesStored = [before, after].every(
      ({ version, environment, windows }) =>
        version <= newest && environment < states.environments.length && windows < states.windows.length,
    );
    if (!areVersionsStored || !areStatesStored)
      throw unprocessable(
        `states.entries.${sequence}`,
        sequence,
        "refers to a state that is not in the file",
      );
  }
}

/**
 * Checks the records of all past states by the rules of current ones, each among the records of its time.
 * @param world the current one, to which the states lead
 * @throws Problem 422 that names the step, the collection and the record
 */
export function checkPastRecords(
  resources: readonly Resource[],
  steps: readonly Step[],
  world: WorldValue,
): void {
  let { root } = world;
  for (let position = steps.length - 1; position >= 0; position -= 1) {
    const step = steps[position]!;
    const place = `states.steps[${position}]`;
    const check = (side: "before" | "after") =>
      validateRecords(
        resources,
        step.writes.map((one) => [one.collection, one[side]] as const),
        { ...world, root },
        place,
      );
    check("after");
    if (step.rootBefore !== undefined)
      validateWorld(resources, { ...world, root: step.rootBefore }, root, `${place}.tables`);
    root = step.rootBefore ?? undo(step, root);
    check("before");
  }
}
