import type { Clock } from "../state/clock.ts";
import type { KeptRoot } from "../state/kept-root.ts";
import type { RequestDraw } from "../state/random.ts";
import type { CountedWindows } from "./counted-windows.ts";
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

/**
 * What a kept state costs beyond those around it, roughly: the entry with its references and rate windows, and each
 * record that was written with what it was before, or the path to it where a root is held. `bench history` measures
 * it: less than 1 KB for a reparent with its audit entry, 270 bytes each for 10,000 descendants.
 */
const STATE_BYTES = 1024;
const WRITTEN_BYTES = 512;

/** Bytes that keeping a state costs, roughly. @param written records that were, on the way to it */
export function costOf(written: number): number {
  return STATE_BYTES + written * WRITTEN_BYTES;
}

/** What an entry holds of the world, until it is let go. */
export class EntryStates {
  /** The part of the change that is its own: what an advance ran has entries of its own. */
  from: KeptRoot;
  to: KeptRoot;
  /** Stays as it is, however far its act goes on. */
  before: KeptState;
  after: KeptState;
  /** The newest entry at the moment of `after`. */
  end = 0;
  /** Bytes that keeping it costs, roughly. */
  readonly cost: number;

  /** @param request whose traces are in the state after it and were not there before */
  constructor(
    from: KeptRoot,
    after: KeptState,
    { cost, request }: { cost: number; request?: ActingRequest | undefined },
  ) {
    this.from = from;
    this.to = after.root;
    this.before = { ...after, root: from, ...(request !== undefined && beforeRequest(request, after)) };
    this.after = after;
    this.cost = cost;
  }
}

function beforeRequest(
  { number, counted, uploads }: ActingRequest,
  { frame }: KeptState,
): Partial<KeptState> {
  return {
    requests: number,
    counted,
    ...(uploads !== undefined && { frame: { ...frame, uploads: uploads.seen } }),
  };
}
