import fc from "fast-check";
import { expect, it } from "vitest";
import { RateWindows } from "./rate-windows.ts";

const START = Date.parse("2026-03-15T12:00:00Z");
const MINUTE = 60_000;
const PER_REQUEST = 1000;

/** The model stores every event and counts them all again each time, without any window. */
interface Event {
  key: string;
  minute: number;
  tokens: number | undefined;
}

interface Model {
  now: number;
  events: readonly Event[];
  kept: readonly Event[] | undefined;
}

interface Real {
  windows: RateWindows;
  kept: RateWindows | undefined;
}

const toMinute = (instant: number) => Math.floor(instant / MINUTE);

function readFigures({ events }: Model, { key, limit, at }: { key: string; limit: number; at: number }) {
  const mine = events.filter((event) => event.key === key && event.minute === toMinute(at));
  const used = mine.filter(({ tokens }) => tokens === undefined).length;
  const spent = mine.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
  return {
    used,
    shown: {
      limit,
      remaining: Math.max(0, limit - used),
      reset: (toMinute(at) + 1) * MINUTE,
      token_limit: limit * PER_REQUEST,
      token_remaining: Math.max(0, limit * PER_REQUEST - spent),
    },
  };
}

type Command = fc.Command<Model, Real>;

class Count implements Command {
  readonly key: string;
  readonly limit: number;
  constructor(key: string, limit: number) {
    this.key = key;
    this.limit = limit;
  }
  check = () => true;
  toString = () => `count(${this.key}, ${this.limit})`;
  run(model: Model, { windows }: Real): void {
    const place = { key: this.key, limit: this.limit, at: model.now };
    const exceeded = readFigures(model, place).used >= this.limit;
    const event = { key: this.key, minute: toMinute(model.now), tokens: undefined };
    if (!exceeded) model.events = [...model.events, event];
    const { shown } = readFigures(model, place);
    expect(windows.count(this.key, this.limit, model.now)).toEqual({ ...shown, exceeded });
    const none = readFigures(model, place).shown.remaining === 0;
    expect(windows.getState(this.key, this.limit, model.now)).toEqual({ ...shown, exceeded: none });
    const exhausted = { ...shown, remaining: 0, exceeded: true };
    expect(windows.getExhaustedState(this.key, this.limit, model.now)).toEqual(exhausted);
  }
}

/** The answer of 4.19 may come in a later minute than its request. Its tokens then belong to no window. */
class Spend implements Command {
  readonly key: string;
  readonly tokens: number;
  readonly late: number;
  constructor(key: string, tokens: number, late: number) {
    this.key = key;
    this.tokens = tokens;
    this.late = late;
  }
  check = () => true;
  toString = () => `spend(${this.key}, ${this.tokens}, ${this.late} ms late)`;
  run(model: Model, { windows }: Real): void {
    const limit = 5;
    const at = model.now - this.late;
    const newest = Math.max(
      ...model.events.filter(({ key }) => key === this.key).map(({ minute }) => minute),
      -1,
    );
    if (newest === toMinute(at)) {
      model.events = [...model.events, { key: this.key, minute: newest, tokens: this.tokens }];
    }
    const shown =
      newest === toMinute(at)
        ? readFigures(model, { key: this.key, limit, at }).shown.token_remaining
        : Math.max(0, limit * PER_REQUEST - this.tokens);
    const spending = { now: at, token_limit: limit * PER_REQUEST };
    expect(windows.spend(this.key, this.tokens, spending)).toBe(shown);
  }
}

class Pass implements Command {
  readonly by: number;
  constructor(by: number) {
    this.by = by;
  }
  check = () => true;
  toString = () => `pass(${this.by} ms)`;
  run(model: Model): void {
    model.now += this.by;
  }
}

/** A snapshot keeps the windows separate from later requests, also as a document. */
class Keep implements Command {
  readonly written: boolean;
  constructor(written: boolean) {
    this.written = written;
  }
  check = () => true;
  toString = () => (this.written ? "keep as JSON" : "keep");
  run(model: Model, real: Real): void {
    model.kept = model.events;
    const copy = new RateWindows(real.windows.table);
    real.kept = this.written ? RateWindows.parse(JSON.parse(JSON.stringify(copy))) : copy;
  }
}

class Restore implements Command {
  check = (model: Readonly<Model>) => model.kept !== undefined;
  toString = () => "restore";
  run(model: Model, real: Real): void {
    model.events = model.kept!;
    real.windows = new RateWindows(real.kept!.table);
  }
}

it("the rate window of each key is the sum of its requests of that minute [8 G07]", () => {
  const key = fc.constantFrom("apikey_a", "apikey_b", "apikey_c");
  const commands = [
    fc.tuple(key, fc.constantFrom(1, 2, 5, 100)).map(([name, limit]) => new Count(name, limit)),
    fc
      .tuple(key, fc.nat(3000), fc.constantFrom(0, 0, 1, 59_999, MINUTE))
      .map(([name, tokens, late]) => new Spend(name, tokens, late)),
    fc
      .oneof(fc.nat(2_000), fc.constantFrom(59_999, MINUTE, MINUTE + 1, 86_400_000))
      .map((by) => new Pass(by)),
    fc.boolean().map((written) => new Keep(written)),
    fc.constant(new Restore()),
  ];
  fc.assert(
    fc.property(fc.commands(commands, { maxCommands: 40, size: "max" }), (sequence) => {
      fc.modelRun(
        () => ({
          model: { now: START, events: [], kept: undefined },
          real: { windows: new RateWindows(), kept: undefined },
        }),
        sequence,
      );
    }),
    { numRuns: 1000 },
  );
});
