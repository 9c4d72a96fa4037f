import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TSchema } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import type { WireFault } from "../../sandbox/fault-gate.ts";
import type { EffectDocument } from "../rules/rule-schema.ts";

/** What a rule does when it strikes, read from its `effect` once. */
export interface EffectPlan {
  answer?: AnswerPlan;
  delay?: DelayPlan;
  wire?: { fault: WireFault; over_ms: number };
}

export type AnswerPlan =
  | {
      kind: "code";
      code: ErrorCode;
      /** `CODE!`: also where the operation never answers it. */
      forced: boolean;
      details: Readonly<Record<string, unknown>>;
      headers: Readonly<Record<string, string>>;
    }
  | { kind: "status"; status: number; headers: Readonly<Record<string, string>>; body: unknown };

/** Wall milliseconds: always the same, or drawn from a log-normal distribution with these percentiles. */
export type DelayPlan = { fixed_ms: number } | { p50_ms: number; p99_ms: number };

/** Tells of what a schema cannot say; `path` begins below `effect`. */
export type ReportEffect = (path: readonly (string | number)[], message: string, hint?: string) => void;

/**
 * One kind of effect: a file of its own and a line in effects/index.ts. `keys` are those it reads below
 * `effect:`, of which the first one switches it on.
 */
export interface Effect {
  keys: Readonly<Record<string, TSchema>>;
  check?: (effect: EffectDocument, report: ReportEffect) => void;
  read: (effect: EffectDocument) => EffectPlan;
}

/** One kind of wire fault: a value of `wire:`, what it does to the connection, and keys of its own. */
export interface WireEffect {
  name: WireFault;
  keys?: Readonly<Record<string, TSchema>>;
  check?: Effect["check"];
  /** Whether a client sees the answer's status; the journal shows it then. */
  shows_status: boolean;
  /** Must not throw; ends when the connection has. */
  perform: (wire: Wire) => Promise<void>;
}

/** A connection that is about to be treated badly. */
export interface Wire {
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
  /** The answer as it would have been sent: status line and headers, then the body. */
  head: Buffer;
  body: Buffer;
  over_ms: number;
  /** Aborts when the client has left or the server ends. */
  gone: AbortSignal;
}
