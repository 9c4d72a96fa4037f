import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { ScenarioLibrary } from "../documents/scenario-library.ts";
import type { Declaration, Input, Method, Success } from "../engine/contract/operation.ts";
import type { ProblemKind } from "../engine/contract/problems.ts";
import type { RawBody, Reply, StreamBody } from "../engine/contract/reply.ts";
import { SHARED_UPLOAD_LIMIT_BYTES } from "../engine/contract/settings.ts";
import type { Engine } from "../engine/index.ts";
import type { SendToSelf, Site } from "../engine/pipeline/plain-http.ts";
import { sleep } from "../engine/platform.ts";
import type { WorldChange } from "../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { FixtureSource } from "../engine/sandbox/sandbox-value.ts";
import type { StorableUploads } from "../engine/sandbox/snapshots.ts";
import type { DurabilityHook } from "../hosts/node/hooks.ts";
import type { Log } from "../hosts/node/log.ts";
import type { Sites } from "../hosts/node/sites.ts";
import type { SavingFailure } from "../persistence/saver.ts";
import type { Recordings } from "../tools/bundle/recordings.ts";
import type { GraderNetwork } from "../tools/grader/network.ts";
import type { SandboxDirectory } from "./directory.ts";

/** The parts of the server that control operations use; the composition root fills it. */
export interface ControlServer
  extends Pick<
    Engine,
    "sandboxes" | "faults" | "receivers" | "requestCounter" | "wallClock" | "parts" | "getApi"
  > {
  fixtures: FixtureSource;
  uploads: StorableUploads;
  scenarios: ScenarioLibrary;
  /** How clients reach this server. */
  sites: Sites;
  /** Sends a request to this server, as its clients do. */
  sendToSelf: SendToSelf;
  version: string;
  /** performance.now() at the start of the server. */
  startedAt: number;
  /** Enforced in shared mode only (interfaces.md 7); undefined means no limits. */
  limits: Limits | undefined;
  /** Creates a separate client for one grading, limited to the addresses that this server may call. */
  createGraderNetwork: () => GraderNetwork;
  log: Log;
  /** Delays an answer until the changes that it reports are stored; only with `--durable` and in a fleet. */
  durability?: DurabilityHook | undefined;
  /** The sandboxes that a call may name. */
  directory: SandboxDirectory;
  /** Why changes cannot be saved at the moment; null while they are saved, undefined for a server without a store. */
  getSavingFailure: () => SavingFailure | null | undefined;
  /** Initial states and changing calls of all sandboxes, for bundles. */
  recordings: Recordings;
}

export interface Limits {
  sandboxes: number;
  /** Per sandbox. */
  records: number;
  upload_bytes: number;
  rules: number;
  /** Sandboxes with an origin of their own, each of which takes a port. */
  origins: number;
}

/** The limits of a shared server unless it is started with others (interfaces.md 7). */
export const SHARED_LIMITS: Limits = {
  sandboxes: 1000,
  records: 200_000,
  upload_bytes: SHARED_UPLOAD_LIMIT_BYTES,
  rules: 1000,
  origins: 100,
};

/** The arguments of a control handler, in addition to the input. */
export interface ControlContext {
  /** The sandbox in the path; reading it is a bug if the path has none. */
  readonly sandbox: Sandbox;
  /** The call as the source of changes in the history; undefined if its declaration has no `describeChange`. */
  readonly change: WorldChange | undefined;
  readonly server: ControlServer;
  /** How this client reaches the server. */
  readonly site: Site;
  /** Aborts if the client leaves. */
  readonly signal: AbortSignal;
}

export type ControlCall<P = unknown, Q = unknown, B = unknown> = Input<P, Q, B> & ControlContext;

/** A declared call of the control API. Its handler returns when the work is done, and throws Problem. */
interface GenericControlOperation<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema>
  extends Declaration<P, Q, B, S, ProblemKind> {
  handle: (
    call: ControlCall<Static<P>, Static<Q>, Static<B>>,
  ) => HandlerResult<S> | Promise<HandlerResult<S>>;
  /** How the history describes the call's change (interfaces.md 10); `answer` is undefined if the handler threw after the change. */
  describeChange?: (
    call: ControlCall<Static<P>, Static<Q>, Static<B>>,
    answer: unknown,
  ) => { title: string; subject?: string | undefined };
  /** The kind of its history entry, unless it is `control`. */
  kind?: "scenario" | "restore";
  /** Whether a rewind keeps the change that it makes. */
  stays?: true;
}

type HandlerResult<S extends TSchema> = Static<S> | Reply<Static<S>> | RawBody | StreamBody;

// biome-ignore lint/suspicious/noExplicitAny: the list holds operations of every shape
export type ControlOperation = GenericControlOperation<any, any, any, any>;

/** A declaration without the parts that most operations share. */
type OperationDeclaration<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema> = Omit<
  GenericControlOperation<P, Q, B, S>,
  "method" | "path" | "section" | "errors"
> & {
  /** Method and path, such as `GET /_control/sandboxes/{name}/clock`. */
  route: `${Method} ${string}`;
  /** By default `interfaces.md 4`. */
  section?: string;
  errors?: readonly ProblemKind[];
};

/** The form of complete lists in answers of the control API. */
export function toList<T>(items: T[]): { items: T[]; total: number } {
  return { items, total: items.length };
}

const MAX_DELIVERY_WAIT_MS = 5000;

/** Waits at most 5 s for deliveries in progress, so that saved and exported states contain them complete. */
export async function waitForDeliveries({ world }: Sandbox): Promise<void> {
  await Promise.race([world.whenSettled(), sleep(MAX_DELIVERY_WAIT_MS)]);
}

export const OptionalText = (description: string, more: object = {}) =>
  Type.Optional(Type.String({ ...more, description }));

export const OptionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** If the request has this header, so does the answer: the id of the change's history entry, with which the client can undo it. */
export const HISTORY_HEADER = "X-Understudy-History";

/** Declares one call of the control API. Below a sandbox, `params` is by default its name alone. */
export function operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  S extends TSchema = TSchema,
>({ route, ...declaration }: OperationDeclaration<P, Q, B, S>): ControlOperation {
  const [method, path] = route.split(" ") as [Method, string];
  const isBelowSandbox = path.startsWith(SANDBOX_PATH);
  const { success, describeChange } = declaration;
  return {
    section: "interfaces 4",
    errors: [],
    method,
    path,
    ...(isBelowSandbox && { params: SandboxParams }),
    ...declaration,
    ...(describeChange && {
      success: Array.isArray(success) ? success.map(withHistory) : withHistory(success as Success<S>),
    }),
  } as ControlOperation;
}

function withHistory<S extends TSchema>(success: Success<S>): Success<S> {
  return { ...success, headers: [...(success.headers ?? []), HISTORY_HEADER] };
}

const SANDBOX_PATH = "/_control/sandboxes/{name}";

export const SandboxName = Type.String({ description: "The sandbox's name", examples: ["default"] });

/** The path parameters of a call below a sandbox. */
export const sandboxParams = <const T extends TProperties>(params: T) =>
  Type.Object({ name: SandboxName, ...params });
const SandboxParams = sandboxParams({});
