import { platform } from "../platform.ts";
import { ChangeListeners } from "../state/concurrency.ts";
import type { ExchangeDetails } from "./journal-entry.ts";

/** The part of a journal entry that is known while the request or delivery is held; `status` is 0 without an answer. */
export type HeldMessage = Pick<
  ExchangeDetails,
  | ("id" | "at" | "operation" | "method" | "path" | "query" | "principal" | "status" | "delivery")
  | ("request_headers" | "request_body" | "response_headers" | "response_body")
>;

/** The part of a rule that holds a request or delivery. */
export interface Hold<Outcome> {
  /** `<scenario | inline>/<rule id>`. */
  rule: string;
  /** Wall milliseconds after which the request is released by itself; with 0 it does not wait. */
  timeout_ms: number;
  /**
   * Reads the effect of a release; undefined if the request continues.
   * @throws DocumentError for an answer that the held request or delivery cannot have
   */
  read(release: object): Outcome | undefined | Promise<Outcome | undefined>;
}

/** How a hold ended; `gone`: its client left, or the delivery was cancelled. */
export interface Release<Outcome> {
  by: "call" | "timeout" | "gone" | "sandbox";
  outcome: Outcome | undefined;
  /** Wall milliseconds. */
  held_ms: number;
  /** For the journal. */
  reason: string;
}

/** A request or delivery that waits. */
export interface Held {
  /** Such as `held_1`; not repeated before the server restarts. */
  readonly id: string;
  readonly rule: string;
  readonly phase: "before" | "after";
  /** Milliseconds since 1970, wall clock. */
  readonly ends_at: number;
  readonly message: HeldMessage;
  /** False if something else has ended it meanwhile. @throws DocumentError; then the request is still held */
  release(release: object): Promise<boolean>;
}

/** The held requests and deliveries of a sandbox, oldest first (interfaces.md 20). */
export class HeldExchanges {
  isClosed = false;
  /** False in a replay: every hold ends at once. */
  holdsRequests = true;
  /** Why the answers since the last reset do not follow from the requests alone; for bundles. */
  replayProblem: string | undefined = undefined;
  /** Grows with every change of the list. */
  revision = 0;
  private lastNumber = 0;
  private readonly onHold: () => void;
  private readonly heldById = new Map<string, Held & { end(by: "sandbox"): unknown }>();
  private readonly listeners = new ChangeListeners();

  /** @param onHold called when a request or delivery begins to wait */
  constructor(onHold = () => {}) {
    this.onHold = onHold;
  }

  list(): Held[] {
    return [...this.heldById.values()];
  }

  find(id: string): Held | undefined {
    return this.heldById.get(id);
  }

  /** Whether the request with this id has been released. */
  wasReleased(id: string): boolean {
    const [, number] = /^held_([1-9]\d{0,14})$/.exec(id) ?? [];
    return Number(number) <= this.lastNumber && !this.heldById.has(id);
  }

  /** Holds a request or delivery until a call, the timeout, the signal, or the sandbox's reset or end releases it. */
  hold<Outcome>(
    { rule, timeout_ms, read }: Hold<Outcome>,
    { phase, message }: Pick<Held, "phase" | "message">,
    signal: AbortSignal,
  ): Promise<Release<Outcome>> {
    const { setTimeout, clearTimeout, now } = platform().timers;
    const id = `held_${++this.lastNumber}`;
    this.onHold();
    const wait_ms = this.holdsRequests ? timeout_ms : 0;
    return new Promise((resolve) => {
      const end = (by: Release<Outcome>["by"], outcome?: Outcome) => {
        if (!this.heldById.delete(id)) return false;
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        this.notify();
        const reason = `${rule} held it as ${id} until ${describeEnd(by, outcome, timeout_ms)}`;
        resolve({ by, outcome, held_ms: now() - start, reason });
        return true;
      };
      const leave = () => end("gone");
      const release = async (document: object) => end("call", await read(document));
      const start = now();
      const ends_at = start + wait_ms;
      this.heldById.set(id, { id, rule, phase, ends_at, message, release, end });
      const timer = setTimeout(() => end("timeout"), wait_ms);
      signal.addEventListener("abort", leave, { once: true });
      this.notify();
      if (signal.aborted) leave();
      else if (this.isClosed) end("sandbox");
    });
  }

  /** The sandbox was reset: releases all. */
  releaseAll(): void {
    for (const held of this.heldById.values()) held.end("sandbox");
    this.replayProblem = undefined;
  }

  /** The sandbox was deleted. */
  close(): void {
    this.isClosed = true;
    this.releaseAll();
    this.notify();
  }

  /** Calls back after each change, and at the end; returns a function that stops it. */
  subscribe(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  private notify(): void {
    this.revision += 1;
    this.listeners.notify();
  }
}

function describeEnd(by: Release<unknown>["by"], outcome: unknown, timeout_ms: number): string {
  if (by === "call")
    return outcome === undefined ? "a call released it" : "a call released it with another answer";
  if (by === "timeout") return `its timeout of ${timeout_ms} ms`;
  return by === "gone" ? "its client left" : "the sandbox was reset or deleted";
}
