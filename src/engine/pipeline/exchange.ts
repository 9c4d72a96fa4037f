import { ApiError } from "../contract/errors.ts";
import { normalizePath } from "../contract/http-url.ts";
import type {
  AnyOperation,
  Call,
  Identity,
  Principal,
  RequestHeaders,
  RequestInfo,
} from "../contract/operation.ts";
import { getJsonLimit } from "../contract/settings.ts";
import type { FaultInjector, FaultVerdict, StagedRequest } from "../sandbox/fault-types.ts";
import type { RequestDetails, WorldChange } from "../sandbox/history-entry.ts";
import type { AppliedFault } from "../sandbox/journal-entry.ts";
import { type RateState, toMinute } from "../sandbox/rate-windows.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { deriveRequestIdSeed, drawRequestId, type RequestIdSource } from "../state/random.ts";
import type { Transaction } from "../state/transaction.ts";
import type { BodyCapture } from "./body-capture.ts";
import type { EngineParts, ReceivedForm } from "./engine-parts.ts";
import { type Address, type Answer, findOriginalBase, type PlainRequest } from "./plain-http.ts";
import { type JsonBody, readJsonBytes, readMediaType } from "./read-body.ts";
import type { StepExchange } from "./run-steps.ts";

/** The differences of a dry run: nothing is counted, changed or awaited; `dryRun` gives the request's number back. */
interface DryRunOptions {
  /** Fault rules that count matches on copies of their counters. */
  faults: Pick<FaultInjector, "before" | "after">;
  /** Why the path is not complete; steps that depend on it cannot be decided. */
  incompleteReason: string | undefined;
  onStepPassed: (step: string) => void;
}

/** Ends a dry run: the remaining steps depend on a missing value. */
export class Undecidable extends Error {}

const NO_REASONS: readonly string[] = [];
const NO_PARAMS: Record<string, string> = {};

/** One request; each step adds its results. */
export class Exchange implements RequestIdSource, StepExchange {
  readonly engine: EngineParts;
  readonly request: PlainRequest;
  readonly sandbox: Sandbox;
  readonly method: string;
  /** Without sandbox prefix and query. */
  readonly path: string;
  readonly query: string;
  /** Whether the path named the sandbox. */
  readonly hasPrefix: boolean;
  readonly id: string;
  readonly idSeed: number;
  readonly number: number;
  /** Milliseconds since 1970 on the sandbox's clock at the arrival of the request. */
  readonly at: number;
  /** `performance.now()` at the arrival. */
  readonly startedAt: number;
  readonly dryRun: DryRunOptions | undefined;
  step = "route";
  operation: AnyOperation | undefined = undefined;
  /** The operations when the request came; they may change while it waits. */
  readonly api: Sandbox["api"];
  /** The error of a request that matches no operation; thrown after the faults, since a rule may answer it. */
  routeError: ApiError | undefined = undefined;
  params: Record<string, string> = NO_PARAMS;
  identity: Identity | undefined = undefined;
  rate: RateState | undefined = undefined;
  organization: string | undefined = undefined;
  decision = "";
  /** The fault that only delayed the request; any other decision takes precedence. */
  delayed_by: string | undefined = undefined;
  fault: AppliedFault | undefined = undefined;
  verdict: FaultVerdict | undefined = undefined;
  /** Set if an active scenario has a current stage. */
  stagedRequest: StagedRequest | undefined = undefined;
  code: string | null = null;
  reasons: readonly string[] = NO_REASONS;
  warnings: readonly string[] = NO_REASONS;
  /** The whole body, once read: for the journal and for fault rules that match on bodies. */
  body: Uint8Array | undefined = undefined;
  /** Records a body that is not read into memory: of a form, an upload, or a request to the upstream. */
  bodyCapture: BodyCapture | undefined = undefined;
  json: JsonBody | undefined = undefined;
  form: ReceivedForm | undefined = undefined;
  upload: RequestDetails["upload"] = undefined;
  call: Call | undefined = undefined;
  /** The result of the operation's `access`: the records that the call is about. */
  accessResult: unknown = undefined;
  prepared: unknown = undefined;
  value: unknown = undefined;
  answer: Answer | undefined = undefined;
  /** Milliseconds since 1970 on the sandbox's clock at which the state change was made. */
  committed_at: number | undefined = undefined;
  /** The base of the URLs that its answer hands out; undefined if it hands out none. */
  base_url: string | undefined = undefined;
  private pendingBody: Promise<Uint8Array> | undefined = undefined;
  /** The request as a change in the history, if it changed something. */
  historyChange: WorldChange | undefined = undefined;

  constructor(
    engine: EngineParts,
    { sandbox, request, address }: { sandbox: Sandbox; request: PlainRequest; address: Address },
    dryRun?: DryRunOptions,
  ) {
    const { world } = sandbox;
    this.engine = engine;
    this.request = request;
    this.sandbox = sandbox;
    this.api = sandbox.api;
    this.method = request.method;
    this.path = address.path;
    this.query = address.query;
    this.hasPrefix = address.hasPrefix;
    this.idSeed = deriveRequestIdSeed(world.seed);
    this.number = world.requests++;
    this.id = drawRequestId(this.idSeed, this.number);
    this.at = world.epochNow();
    this.startedAt = performance.now();
    this.dryRun = dryRun;
  }

  get onStepPassed(): DryRunOptions["onStepPassed"] | undefined {
    return this.dryRun?.onStepPassed;
  }

  get faults(): Pick<FaultInjector, "before" | "after"> {
    return this.dryRun?.faults ?? this.stagedRequest ?? this.sandbox.faults;
  }

  /** The request as a change in the history; created on first use, since few requests change anything. */
  get change(): WorldChange {
    this.historyChange ??= describeChange(this);
    return this.historyChange;
  }

  /**
   * The whole body, read once: fault rules may ask for it before the step that reads it.
   * @throws ApiError PAYLOAD_TOO_LARGE; ClientGoneError
   */
  readBody(): Promise<Uint8Array> {
    const { body } = this.operation ?? {};
    const otherTypes = body?.kind === "json" ? [...(body.json_types ?? []), ...(body.text?.types ?? [])] : [];
    this.pendingBody ??= readJsonBytes(this.request, getJsonLimit(this.sandbox.settings), otherTypes);
    return this.pendingBody;
  }

  /** The headers, with the caller's credential if a document has it elsewhere. */
  get credentialHeaders(): RequestHeaders {
    const { operation, request, query } = this;
    return operation?.readCredential?.({ headers: request.headers, search: query }) ?? request.headers;
  }

  /** How the body is read: an operation may take a form beside JSON. */
  get bodySpec(): AnyOperation["body"] {
    const { body } = this.operation ?? {};
    if (body?.kind !== "json" || body.form === undefined) return body;
    return readMediaType(this.request) === "multipart/form-data" ? body.form : body;
  }

  /** Whether `readBody` was called, so that the request's own body cannot be read again. */
  get hasReadBody(): boolean {
    return this.pendingBody !== undefined;
  }

  /** Why the caller may not call a path that a rule serves: no valid credentials, or a foreign organization. */
  get callerRefusal(): ApiError | undefined {
    const { engine, identity, path, sandbox } = this;
    if (identity === undefined || identity.refused) return new ApiError("AUTHENTICATION_REQUIRED");
    const { principal } = identity;
    const organization = findOrganizationInPath(path);
    try {
      if (organization !== undefined)
        engine.requireMember({ principal, world: sandbox.world.read() }, organization);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  warn(warning: string): void {
    this.warnings = [...this.warnings, warning];
  }

  /** Records stages that the request ended, and removes received bytes that no record uses. */
  cleanUp(): void {
    this.stagedRequest?.recordStageEnds();
    this.form?.cleanUp();
  }
}

function describeChange(exchange: Exchange): WorldChange {
  const { at, idSeed, identity, number, operation, params, rate, upload } = exchange;
  const caller = identity?.principal.user_id ?? "An anonymous client";
  const key_id = rate && identity?.principal.key_id;
  const counted = key_id === undefined ? undefined : { key_id, minute: toMinute(at) };
  return {
    kind: "request",
    title: `${caller}: ${operation!.summary.replace(/\.$/, "")}.`,
    subject: undefined,
    request: { idSeed, number, counted, upload },
    pathIds: params,
    entry: undefined,
  };
}

export const ORGANIZATION_ID = /^org_[A-Za-z0-9_-]{1,120}$/;

/** Finds the organization's id in a path outside the contract, where any segment may be one. */
export function findOrganizationInPath(path: string): string | undefined {
  const segments = normalizePath(path).split("/");
  return segments.find((segment) => ORGANIZATION_ID.test(segment));
}

const NO_FILES: Call["files"] = {};

/** A validated request as its handler sees it. The pipeline sets `world`, the transaction of the step under way. */
export function toCall(
  exchange: Exchange,
  { params, query, body }: Pick<Call, "params" | "query" | "body">,
): Call {
  const { form, identity, request, sandbox } = exchange;
  return {
    params,
    query,
    body,
    files: form?.files ?? NO_FILES,
    headers: request.headers as Call["headers"],
    api: sandbox.api,
    settings: sandbox.settings,
    request: new ReceivedRequest(exchange),
    principal: identity?.principal as Principal,
    world: undefined as unknown as Transaction,
  };
}

/** A class, since a getter in an object literal takes as long as the rest of a small request. */
class ReceivedRequest implements RequestInfo {
  readonly id: string;
  readonly sandbox: string;
  readonly target: string;
  private readonly exchange: Exchange;

  constructor(exchange: Exchange) {
    const { id, path, query, sandbox } = exchange;
    this.id = id;
    this.sandbox = sandbox.name;
    this.target = query === "" ? path : `${path}?${query}`;
    this.exchange = exchange;
  }

  /** URLs that are handed out stay in the sandbox and follow Host (interfaces.md 3). */
  get base_url(): string {
    const { request, sandbox, hasPrefix } = this.exchange;
    this.exchange.base_url =
      findOriginalBase(request.headers) ?? request.site.baseUrl(sandbox.name, hasPrefix);
    return this.exchange.base_url;
  }
}
