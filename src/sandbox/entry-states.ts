import type { Clock } from "../state/clock.ts";
import { DAY_MS, dayOf } from "../state/day.ts";
import type { KeptRoot } from "../state/kept-root.ts";
import type { RequestDraw } from "../state/random.ts";
import { CountedWindows } from "./counted-windows.ts";

/** What of a request tells how the world was before it. */
export interface ActingRequest {
  readonly id: string;
  /** What `id` is drawn from; absent where it is not. */
  readonly draw?: RequestDraw | undefined;
  /** How many requests had come before it. */
  readonly number: number;
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
  private root!: KeptRoot;
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
  private start: KeptState | undefined;
  /** How many requests had come before the one that acts; -1 where none does. */
  private number!: number;
  private key_id: string | undefined;
  private minute!: number;
  private uploads: ActingRequest["uploads"];

  constructor(from: KeptRoot, after: KeptState, by: StatesBy) {
    this.write(from, after, by);
  }

  /** Becomes what another entry holds; for the history alone, once nobody can hold it any more. */
  write(from: KeptRoot, after: KeptState, { cost, request }: StatesBy): this {
    this.from = from;
    this.to = after.root;
    this.end = 0;
    this.cost = cost;
    this.root = after.root;
    this.frame = after.frame;
    this.day = dayOf(after.now);
    this.time = after.now - this.day * DAY_MS;
    this.requests = after.requests;
    this.count(after.windows);
    this.start = undefined;
    this.number = request?.number ?? -1;
    const counted = request?.counted;
    this.key_id = counted?.key_id;
    this.minute = counted?.minute ?? 0;
    this.uploads = request?.uploads;
    return this;
  }

  get after(): KeptState {
    const { root, frame, requests, windows } = this;
    const now = this.day * DAY_MS + this.time;
    return { root, frame, now, requests, windows, counted: undefined };
  }

  /** It went on; how it began stays as it was. */
  set after({ root, frame, now, requests, windows }: KeptState) {
    this.start = this.before;
    this.root = root;
    this.frame = frame;
    this.day = dayOf(now);
    this.time = now - this.day * DAY_MS;
    this.requests = requests;
    this.count(windows);
  }

  get before(): KeptState {
    if (this.start !== undefined) return this.start;
    const { from: root, after } = this;
    if (this.number < 0) return { ...after, root };
    const { number: requests, key_id, minute, uploads } = this;
    const counted = key_id === undefined ? undefined : { key_id, minute };
    const frame = uploads === undefined ? after.frame : { ...after.frame, uploads: uploads.seen };
    return { ...after, root, frame, requests, counted };
  }

  set before(state: KeptState) {
    this.start = state;
  }

  /** Reads something of each of its cache lines; see `EntryList.lookAhead`. */
  glance(): number {
    return this.end | this.windowMinute | this.minute;
  }

  private get windows(): CountedWindows {
    const front = { minute: this.windowMinute, requests: this.windowRequests, tokens: this.windowTokens };
    return new CountedWindows(this.windowKey, front, this.otherWindows);
  }

  private count({ key, minute, requests, tokens, others }: CountedWindows): void {
    this.windowKey = key;
    this.windowMinute = minute;
    this.windowRequests = requests;
    this.windowTokens = tokens;
    this.otherWindows = others;
  }
}
