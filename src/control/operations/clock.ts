import { type Static, Type } from "typebox";
import { parseDuration } from "../../engine/contract/duration.ts";
import { ClosedObject, Duration, Nullable, StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { type AdvanceTarget, TIMER_KINDS } from "../../engine/state/clock.ts";
import type { PendingTimer } from "../../engine/state/timers.ts";
import type { World } from "../../engine/state/world.ts";
import type { RanTimer } from "../../engine/state/world-parts.ts";
import { ClockBody, ClockInput, parseInstantInput, renderClock, toClockSetting } from "../clock-input.ts";
import { type ControlOperation, OptionalFlag, OptionalText, operation } from "../operation.ts";
import { unprocessable } from "../problem.ts";
import { listStateCollections } from "../state/state-collection.ts";

const timerFields = {
  kind: StringEnum(TIMER_KINDS),
  subject: Type.String({ description: "The id of the record that it is about" }),
};
export const RanTimerBody = ClosedObject(
  { at: Timestamp({ description: "When it ran, on the sandbox's clock" }), ...timerFields },
  { $id: "RanTimer", description: "A timer that ran" },
);
const Ran = Type.Array(RanTimerBody, {
  description: "The timers that ran, in due order; the answer waits until they have finished",
});

export const ClockChangeBody = ClosedObject(
  { ...ClockBody.properties, ran: Ran },
  { $id: "ClockChange", examples: [{ mode: "scaled", now: "2026-03-15T12:00:00.000Z", rate: 60, ran: [] }] },
);

export const AdvanceInput = ClosedObject(
  {
    by: Type.Optional(
      Duration("a duration such as 90s", {
        description: "`90s`, `5m`, `6h`, `2d`, `PT5M` or milliseconds",
      }),
    ),
    to: OptionalText("The instant to advance to", { title: "an ISO 8601 timestamp" }),
    next: Type.Optional(
      Type.Unsafe<true>({ const: true, description: "To the next pending timer; does not move without one" }),
    ),
  },
  { $id: "AdvanceInput", description: "One of the three", examples: [{ by: "5m" }] },
);

export const AdvancedBody = ClosedObject(
  { now: Timestamp(), ran: Ran },
  {
    $id: "Advanced",
    examples: [
      {
        now: "2026-03-15T12:05:00.000Z",
        ran: [{ at: "2026-03-15T12:01:00.000Z", kind: "webhook.retry", subject: "del_retrying" }],
      },
    ],
  },
);

export const PendingBody = ClosedObject(
  {
    due_at: Timestamp(),
    ...timerFields,
    collection: Type.Optional(
      Nullable(
        Type.String({
          description: "With `named`: the record's collection; null if there is no such record",
        }),
      ),
    ),
    name: Type.Optional(
      Nullable(Type.String({ description: "With `named`: the record in words, such as its title" })),
    ),
  },
  { $id: "PendingTimer", description: "A pending timer" },
);

/** Fields that name a record, best first. */
const NAMES = ["name", "title", "filename", "original_filename", "event"] as const;

/** Collection and name of the record that a timer is about, found by the timer's kind or by the prefix of the record's id. */
function describeSubject({ api, world }: Sandbox, { kind, subject }: PendingTimer) {
  const tx = world.read();
  for (const { collection } of listStateCollections(api.resources).values()) {
    const { timer, prefix } = collection;
    if (timer !== kind && (prefix === "" || !subject.startsWith(prefix))) continue;
    const record = tx.get(collection, subject) as Record<string, unknown> | undefined;
    if (record === undefined) continue;
    const name = NAMES.map((field) => record[field]).find(
      (value) => typeof value === "string" && value !== "",
    );
    return { collection: collection.name, name: (name as string | undefined) ?? null };
  }
  return { collection: null, name: null };
}

const PendingTimerInput = ClosedObject(timerFields, {
  $id: "PendingTimerInput",
  examples: [{ kind: "transcription.step", subject: "trans_pending" }],
});

export const CLOCK_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "clock.show",
    route: "GET /_control/sandboxes/{name}/clock",
    summary: "Show the sandbox's time",
    success: { status: 200, schema: ClockBody },
    handle: ({ sandbox }) => renderClock(sandbox.world),
  }),
  operation({
    id: "clock.set",
    route: "PUT /_control/sandboxes/{name}/clock",
    summary: "Freeze or scale the clock, or return it to real time",
    description:
      "`frozen` without `now` stops the clock at its current time. A later `now` runs the timers that become due; an earlier one is refused.",
    body: { kind: "json", schema: ClockInput },
    describeChange: ({ body: { mode, rate = 1 } }) => {
      if (mode === "frozen") return { title: "The clock was frozen." };
      if (mode === "real") return { title: "The clock was set to real time." };
      const speed = rate === 1 ? "at normal speed" : `${rate} times as fast`;
      return { title: `The clock was set to run ${speed}.` };
    },
    success: { status: 200, schema: ClockChangeBody },
    async handle({ body, sandbox }) {
      const { world } = sandbox;
      const { mode, now, rate } = toClockSetting(body);
      const field = body.now === undefined ? "mode" : "now";
      const ran = await moveForward(world, { field, value: body[field] }, () =>
        world.setClock(mode, now, rate),
      );
      return { ...renderClock(sandbox.world), ran };
    },
  }),
  operation({
    id: "clock.advance",
    route: "POST /_control/sandboxes/{name}/clock/advance",
    summary: "Move the clock forward and run the timers that become due",
    body: { kind: "json", schema: AdvanceInput },
    describeChange: ({ body: { by, to, next }, sandbox: { world } }) => {
      const unit = Number.isNaN(Number(by)) ? "" : " ms";
      const aim = by !== undefined ? `by ${by}${unit}` : next ? "to what was due next" : `to ${to}`;
      const end = world.isStopped ? `, but stopped at ${renderClock(world).now}` : "";
      return { title: `The clock was advanced ${aim}${end}.` };
    },
    success: { status: 200, schema: AdvancedBody },
    async handle({ body, sandbox }) {
      const { world } = sandbox;
      const keys = Object.keys(body) as (keyof typeof body)[];
      if (keys.length !== 1) {
        throw unprocessable("body", body, 'must have exactly one of by, to and next, as in {"by": "5m"}');
      }
      const field = keys[0]!;
      const target = readTarget(body);
      const ran = await moveForward(world, { field, value: body[field] }, () => world.advance(target));
      // A reset may have replaced the world.
      return { now: renderClock(sandbox.world).now, ran };
    },
  }),
  operation({
    id: "clock.pending",
    route: "GET /_control/sandboxes/{name}/clock/pending",
    summary: "List pending timers, earliest first",
    query: ClosedObject({
      limit: Type.Optional(Type.Integer({ minimum: 1, description: "The maximum number; by default all" })),
      named: OptionalFlag("Whether each timer names its record"),
    }),
    success: {
      status: 200,
      schema: Type.Array(PendingBody, {
        examples: [
          [
            {
              due_at: "2026-03-15T12:01:00.000Z",
              kind: "webhook.retry",
              subject: "del_retrying",
            },
          ],
        ],
      }),
    },
    handle({ query: { limit, named }, sandbox }) {
      const { world } = sandbox;
      world.catchUp();
      const pending = world.listPending().slice(0, limit);
      return named ? pending.map((one) => ({ ...one, ...describeSubject(sandbox, one) })) : pending;
    },
  }),
  operation({
    id: "clock.run",
    route: "POST /_control/sandboxes/{name}/clock/pending/run",
    summary: "Run a pending timer before it is due, without moving the clock",
    body: { kind: "json", schema: PendingTimerInput },
    describeChange: ({ body: { kind, subject } }) => ({
      title: `${kind} ${subject} was run early.`,
      subject,
    }),
    success: { status: 200, schema: AdvancedBody },
    async handle({ body: { kind, subject }, sandbox }) {
      const running = sandbox.world.runEarly(kind, subject);
      if (running === undefined)
        throw unprocessable(
          "subject",
          subject,
          `has no pending timer of kind ${kind}; GET /_control/sandboxes/{name}/clock/pending lists all pending timers`,
        );
      const ran = [await running];
      return { now: renderClock(sandbox.world).now, ran };
    },
  }),
  operation({
    id: "clock.stop",
    route: "DELETE /_control/sandboxes/{name}/clock/advance",
    summary: "Stop a running advance of the clock where it is",
    success: { status: 204 },
    handle: ({ sandbox: { world } }) => world.stopAdvance(),
  }),
];

function readTarget({ by, to }: Static<typeof AdvanceInput>): AdvanceTarget {
  if (to !== undefined) return parseInstantInput("to", to);
  if (by === undefined) return "next";
  const duration = parseDuration(by);
  if (duration === undefined) {
    throw unprocessable(
      "by",
      by,
      "must be a duration such as 90s, 5m, 6h, 2d, PT5M or milliseconds, and not negative",
    );
  }
  return (now) => now + duration;
}

/** Converts a refusal of an instant in the past, or beyond the calendar, to a 422 for the field. */
async function moveForward(
  world: World,
  setting: { field: string; value: unknown },
  move: () => Promise<RanTimer[]>,
): Promise<RanTimer[]> {
  try {
    return await move();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { now } = renderClock(world);
    // Without an instant, only mode `real` moves the clock: to the wall clock, which may be earlier.
    const why =
      setting.field === "mode"
        ? `cannot be real: the sandbox's time, ${now}, is later than the wall clock's, and ${error.message}`
        : `cannot be reached from ${now}: ${error.message}`;
    throw unprocessable(
      setting.field,
      setting.value,
      `${why}; to go back, reset the sandbox or restore a snapshot`,
    );
  }
}
