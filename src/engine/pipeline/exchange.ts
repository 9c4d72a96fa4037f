import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeptBody } from "../../hosts/node/keep-body.ts";
import type { AnyOperation, Identity } from "../contract/operation.ts";
import type { ActingRequest } from "../sandbox/entry-states.ts";
import type { Act } from "../sandbox/history-entry.ts";
import type { RateState } from "../sandbox/rate-windows.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { drawRequestId, type RequestDraw, requestIdSeed } from "../state/random.ts";
import { RequestAct } from "./request-act.ts";

/** What the server knows of a request before anything is decided. */
export interface Arrival {
  request: IncomingMessage;
  response: ServerResponse;
  /** Without sandbox prefix and query. */
  path: string;
  query: string;
  /** Whether the sandbox stood in the path. */
  prefixed: boolean;
}

const NONE: readonly string[] = [];

/**
 * One request on its way through the pipeline; each step fills in what it found out. A class, so that every
 * exchange has one shape from the first field to the last.
 */
export class Exchange implements RequestDraw {
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
  readonly idSeed: number;
  readonly number: number;
  /** Milliseconds since 1970 on the sandbox's clock when the request came in. */
  readonly at: number;
  /** performance.now() at that moment. */
  readonly started: number;
  operation: AnyOperation | undefined = undefined;
  params: Record<string, string> = NO_PARAMS;
  identity: Identity | undefined = undefined;
  rate: RateState | undefined = undefined;
  organization: string | undefined = undefined;
  /** The step that would be named if the request were refused now. */
  stage: "route" | "auth" | "rate-limit" | "validation" | "access" | "spending" | "rule" = "route";
  decision = "";
  /** The fault that did no more than delay it; what decides an answer is named before it. */
  delayed_by: string | undefined = undefined;
  code: string | null = null;
  reasons: readonly string[] = NONE;
  warnings: readonly string[] = NONE;
  /** What arrived, for the journal and for fault rules that match on bodies. */
  body: Buffer | undefined = undefined;
  /** The body on its way in: whoever asks for it, it is read once. */
  receiving: Promise<Buffer> | undefined = undefined;
  /** A body that is not read into memory: forms and uploads. */
  kept: KeptBody | undefined = undefined;
  /** Of one that brings bytes: what was held of half-finished uploads when it came. */
  uploads: ActingRequest["uploads"] = undefined;
  /** Milliseconds since 1970 on the sandbox's clock at which the state change was made. */
  committed_at: number | undefined = undefined;
  /** Removes the temporary files of a multipart body. */
  cleanUp: (() => void) | undefined = undefined;
  /** What it is in the history, where it changed something. */
  changing: RequestAct | undefined = undefined;

  constructor(sandbox: Sandbox, { request, response, path, query, prefixed }: Arrival) {
    const { world } = sandbox;
    this.request = request;
    this.response = response;
    this.sandbox = sandbox;
    this.method = request.method!;
    this.path = path === "" ? "/" : path;
    this.query = query;
    this.prefixed = prefixed;
    this.idSeed = requestIdSeed(world.seed);
    this.number = world.requests++;
    this.id = drawRequestId(this.idSeed, this.number);
    this.at = world.epochNow();
    this.started = performance.now();
  }

  /** For the history: few requests change anything. */
  get act(): Act {
    this.changing ??= new RequestAct(this);
    return this.changing;
  }

  warn(warning: string): void {
    this.warnings = [...this.warnings, warning];
  }
}

const NO_PARAMS: Record<string, string> = {};

/** What remains to be sent. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  content_type: string | undefined;
  body: string | Uint8Array | undefined;
  stream?: (signal: AbortSignal) => AsyncIterable<string | Buffer> | Iterable<string | Buffer>;
}
