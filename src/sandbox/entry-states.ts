import type { Clock } from "../state/clock.ts";
import type { KeptRoot } from "../state/kept-root.ts";
import type { CountedWindows } from "./rate-windows.ts";

/** What of a request tells how the world was before it. */
export interface ActingRequest {
  readonly id: string;
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

/**
 * What an entry holds of the world, until it is let go. A thousand requests later a collector has all of it to copy,
 * so what is the same before and after stands there once, and the state after is no object of its own.
 */
export class EntryStates {
  /** The part of the change that is its own: what an advance ran has entries of its own. */
  from: KeptRoot;
  to: KeptRoot;
  /** The newest entry at the moment of `after`. */
  end = 0;
  /** Bytes that keeping it costs, roughly. */
  readonly cost: number;
  private root: KeptRoot;
  private frame: KeptFrame;
  private now: number;
  private requests: number;
  private windows: CountedWindows;
  private start: KeptState | undefined = undefined;
  private readonly request: ActingRequest | undefined;

  /** @param request whose traces are in `after` and were not there before */
  constructor(
    from: KeptRoot,
    after: KeptState,
    { cost, request }: { cost: number; request?: ActingRequest },
  ) {
    this.from = from;
    this.to = after.root;
    this.cost = cost;
    this.request = request;
    this.root = after.root;
    this.frame = after.frame;
    this.now = after.now;
    this.requests = after.requests;
    this.windows = after.windows;
  }

  get after(): KeptState {
    const { root, frame, now, requests, windows } = this;
    return { root, frame, now, requests, windows, counted: undefined };
  }

  /** It went on; how it began stays as it was. */
  set after({ root, frame, now, requests, windows }: KeptState) {
    this.start = this.before;
    this.root = root;
    this.frame = frame;
    this.now = now;
    this.requests = requests;
    this.windows = windows;
  }

  get before(): KeptState {
    if (this.start !== undefined) return this.start;
    const { from: root, after } = this;
    if (this.request === undefined) return { ...after, root };
    const { number: requests, counted, uploads } = this.request;
    const frame = uploads === undefined ? after.frame : { ...after.frame, uploads: uploads.seen };
    return { ...after, root, frame, requests, counted };
  }

  set before(state: KeptState) {
    this.start = state;
  }
}
