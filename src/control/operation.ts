import type { IncomingHttpHeaders } from "node:http";
import type { Static, TObject, TSchema } from "typebox";
import type { Recordings } from "../bundle/recordings.ts";
import type { AnyOperation, Method } from "../contract/operation.ts";
import type { Resource } from "../contract/resource.ts";
import type { Faults } from "../faults/faults.ts";
import type { Log } from "../log.ts";
import type { Receivers } from "../receivers/receivers.ts";
import type { SandboxRegistry } from "../sandbox/registry.ts";
import type { RequestTally } from "../sandbox/request-tally.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What the control API may reach; the composition root fills it. */
export interface ControlServer {
  sandboxes: SandboxRegistry;
  resources: readonly Resource[];
  operations: readonly AnyOperation[];
  faults: Faults;
  /** Counts of all requests, for metrics. */
  tally: RequestTally;
  version: string;
  /** performance.now() at the start of the server. */
  started: number;
  /** Enforced in shared mode only (interfaces 7); undefined means no limits. */
  limits: Limits | undefined;
  /** What reached the receivers inside the server. */
  receivers: Receivers;
  log: Log;
  /** Resolves once every acknowledged change of the sandbox is on disk; absent where not asked for. */
  durable?: ((sandbox: Sandbox) => Promise<void>) | undefined;
  /** After a control call that changed a sandbox, for the bundle of interfaces 4. Must not throw. */
  onChangingCall?: (sandbox: Sandbox, call: ChangingCall) => void;
  /** First days and changing calls of all sandboxes, for bundles. */
  recordings?: Recordings;
}

export interface ChangingCall {
  operation: string;
  method: Method;
  /** Below S, such as `/clock/advance`, with its query. */
  path: string;
  body: unknown;
  status: number;
}

export interface Limits {
  sandboxes: number;
  /** Per sandbox. */
  records: number;
  upload_bytes: number;
  rules: number;
}

/** interfaces 7. */
export const SHARED_LIMITS: Limits = {
  sandboxes: 1000,
  records: 200_000,
  upload_bytes: 1024 ** 3,
  rules: 1000,
};

export interface ControlCall<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
  headers: IncomingHttpHeaders;
  /** The sandbox that the path names; reading it where the path names none is a defect. */
  sandbox: Sandbox;
  server: ControlServer;
  /** Scheme and Host as this client reaches the server. */
  origin: string;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
}

export interface ControlOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
> {
  /** Such as `snapshots.restore`; shown in the log and in bundles. */
  id: string;
  method: Method;
  /** From `/_control` on; `S` stands for a sandbox's own paths. */
  path: string;
  summary: string;
  params?: P;
  /** Keys outside it are 422, unless the schema says `additionalProperties: true`. */
  query?: Q;
  body?: { schema: B; optional?: boolean; limit?: number };
  /** 200 unless given. */
  status?: number;
  /** Whether it changes the sandbox, so that a bundle must repeat it. Default: every method but GET. */
  changes?: boolean;
  /**
   * Returns JSON, or a Reply, RawBody or StreamBody of contract/operation.ts. Throws Problem; ApiError and
   * DocumentError become 422.
   */
  handle: (call: ControlCall<Static<P>, Static<Q>, Static<B>>) => unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds operations of every shape
export type AnyControlOperation = ControlOperation<any, any, any>;

/** Declares one call of the control API. */
export function controlOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
>(declaration: ControlOperation<P, Q, B>): ControlOperation<P, Q, B> {
  return declaration;
}

/** The `S` of interfaces 4. */
export const S = "/_control/sandboxes/{name}";
