import type { Clock } from "../state/clock.ts";
import { DAY_MS, dayOf } from "../state/day.ts";
import type { KeptRoot } from "../state/kept-root.ts";
import type { RequestDraw } from "../state/random.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { AskedRequest } from "./request-title.ts";

/** What tells of a request, and how the world was before it: so many had come by then as its draw's number says. */
export interface ActingRequest extends RequestDraw, AskedRequest {
  readonly counted: Counted | undefined;
  /** Of one that brings bytes: what was held of half-finished uploads when it came. */
  readonly uploads: { readonly seen: unknown } | undefined;
}

/** What a request has used up of its key's rate window. */
export interface Counted {
  key_id: string;
  /** The window, as `minuteOf` tells it. */
  minute: number;
}

/** What few changes touch: it stands once for all states that agree in it. */
export interface KeptFrame {
  readonly clock: Clock;
  readonly origin: number;
  readonly seed: number;
  readonly secretKey: string;
  /** What there was of half-finished uploads, without holding it. */
  readonly uploads: unknown;
}

/** A sandbox's state at one moment, by reference: values that nothing changes. */
export interface KeptState {
  readonly root: KeptRoot;
  readonly frame: KeptFrame;
  /** What the clock showed, in milliseconds since 1970. */
  readonly now: number;
  readonly requests: number;
  readonly windows: CountedWindows;
  /** To be taken out of the windows again: the request that is about to change something was counted. */
  readonly counted: Counted | undefined;
}

interface StatesBy {
  cost: number;
  /** Whose traces are in the state after it and were not there before. */
  request?: ActingRequest | undefined;
}

/** What few entries hold besides. */
interface Besides {
  /** The state before it, where that is not told by the state after. */
  start: KeptState;
  /** Of the state after it, where what it led to has changed records of its own. */
  root: KeptRoot | undefined;
}

/**
 * What an entry holds of the world, until it is let go. A thousand requests later a collector has all of it to copy,
 * so what is the same before and after stands there once, and the state after is no object of its own.
 */
export class EntryStates {
  /** The part of the change that is its own: what an advance ran has entries of its own. */
  from!: KeptRoot;
  to!: KeptRoot;
  /** The newest entry at the moment of `after`. */
  end!: number;
  /** Bytes that keeping it costs, roughly. */
  cost!: number;
  private frame!: KeptFrame;
  private day!: number;
  private time!: number;
  private requests!: number;
  /** What is counted after it, field by field. */
  private windowKey: CountedWindows["key"];
  private windowMinute!: number;
  private windowRequests!: number;
  private windowTokens!: number;
  private otherWindows!: CountedWindows["others"];
  /** How many requests had come before the one that acts; -1 where none does. */
  private number!: number;
  private key_id: string | undefined;
  private minute!: number;
  private besides: Besides | undefined;

  constructor(from: KeptRoot, after: KeptState, by: StatesBy) {
    this.write(from, after, by);
  }

  /** Becomes what another entry holds; for the history alone, once nobody can hold it any more. */
  write(from: KeptRoot, after: KeptState, { cost, request }: StatesBy): this {
    this.from = from;
    this.to = after.root;
    this.end = 0;
    this.cost = cost;
    this.besides = undefined;
    this.show(after);
    this.number = request?.number ?? -1;
    const counted = request?.counted;
    this.key_id = counted?.key_id;
    this.minute = counted?.minute ?? 0;
    if (request?.uploads !== undefined) {
      const { before } = this;
      this.before = { ...before, frame: { ...before.frame, uploads: request.uploads.seen } };
    }
    return this;
  }

  get after(): KeptState {
    return {
      root: this.besides?.root ?? this.to,
      frame: this.frame,
      now: this.day * DAY_MS + this.time,
      requests: this.requests,
      windows: this.windows,
      counted: undefined,
    };
  }

  /** It went on; how it began stays as it was. */
  set after(state: KeptState) {
    this.besides = { start: this.before, root: state.root };
    this.show(state);
  }

  get before(): KeptState {
    if (this.besides !== undefined) return this.besides.start;
    const { from: root, after } = this;
    if (this.number < 0) return { ...after, root };
    const { number: requests, key_id, minute } = this;
    const counted = key_id === undefined ? undefined : { key_id, minute };
    return { ...after, root, requests, counted };
  }

  set before(start: KeptState) {
    this.besides = { start, root: this.besides?.root };
  }

  /** Reads something of each of its cache lines; see `EntryList.lookAhead`. */
  glance(): number {
    return this.end | this.windowMinute | this.minute;
  }

  private get windows(): CountedWindows {
    const front = { minute: this.windowMinute, requests: this.windowRequests, tokens: this.windowTokens };
    return new CountedWindows(this.windowKey, front, this.otherWindows);
  }

  private show({ frame, now, requests, windows }: KeptState): void {
    this.frame = frame;
    this.day = dayOf(now);
    this.time = now - this.day * DAY_MS;
    this.requests = requests;
    const { key, minute, requests: counted, tokens, others } = windows;
    this.windowKey = key;
    this.windowMinute = minute;
    this.windowRequests = counted;
    this.windowTokens = tokens;
    this.otherWindows = others;
  }
}
