import Type from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import type { AdvanceTarget, RanTimer, World } from "../../state/world.ts";
import { ClockInput, clockSetting, instantInput, presentClock } from "../clock-input.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";
import { unprocessable } from "../problem.ts";

const showClock = controlOperation({
  id: "clock.show",
  method: "GET",
  path: `${S}/clock`,
  summary: "Show the sandbox's time",
  handle: ({ sandbox }) => presentClock(sandbox.world),
});

const setClock = controlOperation({
  id: "clock.set",
  method: "PUT",
  path: `${S}/clock`,
  summary: "Freeze the clock, scale it, or let it run with the wall clock",
  body: { schema: ClockInput },
  async handle({ body, sandbox: { world } }) {
    const { mode, now, rate } = clockSetting(body);
    const field = body.now === undefined ? "mode" : "now";
    const ran = await forwardOnly(world, { field, value: body[field] }, () =>
      world.setClock(mode, now, rate),
    );
    return { ...presentClock(world), ran };
  },
});

const Advance = Type.Object(
  {
    by: Type.Optional(
      Type.Unsafe<string | number>({ type: ["string", "number"], title: "a duration such as 90s" }),
    ),
    to: Type.Optional(Type.String({ title: "an ISO 8601 timestamp" })),
    next: Type.Optional(Type.Unsafe<true>({ const: true })),
  },
  { additionalProperties: false },
);

const advanceClock = controlOperation({
  id: "clock.advance",
  method: "POST",
  path: `${S}/clock/advance`,
  summary: "Move the clock forward and run what becomes due",
  body: { schema: Advance },
  async handle({ body, sandbox: { world } }) {
    const given = Object.keys(body) as (keyof typeof body)[];
    if (given.length !== 1) {
      throw unprocessable("body", body, 'must have exactly one of by, to and next, as in {"by": "5m"}');
    }
    const field = given[0]!;
    const target = targetOf(body);
    const ran = await forwardOnly(world, { field, value: body[field] }, () => world.advance(target));
    return { now: presentClock(world).now, ran };
  },
});

const pendingTimers = controlOperation({
  id: "clock.pending",
  method: "GET",
  path: `${S}/clock/pending`,
  summary: "List what will become due, nearest first",
  handle({ sandbox: { world } }) {
    world.catchUp();
    return world.pending();
  },
});

function targetOf({ by, to }: { by?: string | number; to?: string; next?: true }): AdvanceTarget {
  if (to !== undefined) return instantInput("to", to);
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

/** The world's refusals to turn back or to leave the calendar, as 422 of the field that asked for it. */
async function forwardOnly(
  world: World,
  asked: { field: string; value: unknown },
  move: () => Promise<RanTimer[]>,
): Promise<RanTimer[]> {
  try {
    return await move();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { now } = presentClock(world);
    throw unprocessable(
      asked.field,
      asked.value,
      `cannot be reached from ${now}: ${error.message}; to go back, reset the sandbox or restore a snapshot`,
    );
  }
}

export const CLOCK_OPERATIONS: readonly AnyControlOperation[] = [
  showClock,
  setClock,
  advanceClock,
  pendingTimers,
];
