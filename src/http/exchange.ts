import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnyOperation, Identity } from "../contract/operation.ts";
import type { RateState } from "../sandbox/rate-windows.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { KeptBody } from "./keep-body.ts";

/** One request on its way through the pipeline; each step fills in what it found out. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sandbox: Sandbox;
  readonly method: string;
  /** Without sandbox prefix and query. */
  readonly path: string;
  readonly query: string;
  /** Whether the sandbox stood in the path. */
  readonly prefixed: boolean;
  readonly id: string;
  /** Milliseconds since 1970 on the sandbox's clock when the request came in. */
  readonly at: number;
  /** performance.now() at that moment. */
  readonly started: number;
  operation: AnyOperation | undefined;
  params: Record<string, string>;
  identity: Identity | undefined;
  rate: RateState | undefined;
  organization: string | undefined;
  /** The step that would be named if the request were refused now. */
  stage: "route" | "auth" | "rate-limit" | "validation" | "access" | "spending" | "rule";
  decision: string;
  /** The fault that did no more than delay it; what decides an answer is named before it. */
  delayed_by: string | undefined;
  code: string | null;
  reasons: readonly string[];
  warnings: string[];
  /** What arrived, for the journal and for fault rules that match on bodies. */
  body: Buffer | undefined;
  /** The body on its way in: whoever asks for it, it is read once. */
  receiving: Promise<Buffer> | undefined;
  /** A body that is not read into memory: forms and uploads. */
  kept?: KeptBody;
  /** Milliseconds since 1970 on the sandbox's clock at which the state change was made. */
  committed_at?: number;
  /** Removes the temporary files of a multipart body. */
  cleanUp: (() => void) | undefined;
}

/** What remains to be sent. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  content_type: string | undefined;
  body: string | Buffer | undefined;
  stream?: (signal: AbortSignal) => AsyncIterable<string | Buffer> | Iterable<string | Buffer>;
}
