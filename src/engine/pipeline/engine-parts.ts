import type { Call, Identity, ReceivedFile, RequestHeaders } from "../contract/operation.ts";
import type { FormSpace, Services } from "../contract/services.ts";
import type { Settings } from "../contract/settings.ts";
import type { ChangeSource } from "../sandbox/history-entry.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import type { FormSpec, FormTexts } from "./form-parts.ts";
import type { Answer, ForwardedParts, PlainRequest } from "./plain-http.ts";

/** The parts that the composition root gives the engine; the pipeline itself names no resource. */
export interface EngineParts {
  /** Undefined for an unknown credential; a known caller who may not call is `refused`. */
  identify: (
    tx: Transaction,
    headers: RequestHeaders,
  ) => Identity | undefined | Promise<Identity | undefined>;
  /** The credential that was found, its place (`prefix` says it if no header for keys has it) and its problem; for the journal. */
  explainCredentials: (tx: Transaction, headers: RequestHeaders, prefix?: string) => Promise<string>;
  /** Checks the spending limits of section 8, for billable operations. @throws ApiError SPENDING_LIMIT_EXCEEDED */
  requireBudget: (tx: Transaction, principal: Call["principal"]) => void;
  /** @throws ApiError ORGANIZATION_NOT_FOUND, ORGANIZATION_ACCESS_DENIED */
  requireMember: (caller: Pick<Call, "principal" | "world">, organization_id: string) => void;
  /** The answer if a shared server's sandbox would grow too large (interfaces.md 7). */
  refuseGrowth: ((world: World, tx: Transaction) => Answer | undefined) | undefined;
  getServices: (sandbox: Sandbox, source: ChangeSource) => Services;
  readForm: ReadForm;
  /** Where multipart files of a sandbox are received. */
  getFormSpace: (sandbox: Sandbox) => FormSpace;
  /** Undefined if answers need not wait for the disk. */
  durability: Durability | undefined;
  /** The answer to a request that the host cannot handle, as when the disk is full; undefined for any other failure. */
  toHostRefusal: (error: unknown) => Answer | undefined;
  /** Names for refusals of a request without a valid sandbox; undefined on a shared server, which must not disclose them. */
  listSandboxes: (() => string[]) | undefined;
  /** Whether `default` answers no request, because each test has a sandbox of its own (interfaces.md 16). */
  refuseDefault: boolean;
  /** Receives the requests of paths that nothing here serves (interfaces.md 18). */
  upstream: Upstream | undefined;
  log: { error(fields: object, message: string): void; warn(sentence: string): void };
}

/** The real service, behind the sandbox. */
export interface Upstream {
  readonly url: string;
  /** @throws ClientGoneError; UpstreamFailure if there was no answer */
  send(
    request: Pick<PlainRequest, "method" | "rawHeaders" | "body" | "signal"> & { target: string },
  ): Promise<UpstreamAnswer>;
}

export interface UpstreamAnswer extends ForwardedParts {
  status: number;
  /** The body as it arrives, never decompressed; throws if it breaks off. */
  body: AsyncIterable<Uint8Array>;
}

/** Why the upstream gave no answer: a status (502, 504 or 508) and a sentence. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Stores the changes that an answer reports before it is sent (interfaces.md 2, `--durable`; interfaces.md 15). */
export interface Durability {
  /** How many changes the store has refused so far; called before anything changes, for `waitUntilStored`. */
  countRefusals(): number;
  /** Undefined if all is stored; else a promise that ends with `undefined` once it is, or with another answer if the change was undone. */
  waitUntilStored(
    sandbox: Sandbox,
    refusalsBefore: number,
  ): undefined | Promise<ReplacementAnswer | undefined>;
}

/** Replaces the answer to a request whose change was undone, and its decision in the journal. */
export interface ReplacementAnswer {
  answer: Answer;
  decision: string;
}

export interface ReceivedForm {
  /** Text fields; whole numbers as numbers, if the schema asks for them. */
  fields: Record<string, unknown>;
  /** The text fields as they were sent. */
  sentTexts: Readonly<FormTexts>;
  files: Record<string, ReceivedFile>;
  /** Removes stored bytes that no record uses. */
  cleanUp: () => void;
}

/**
 * Receives a multipart body: fields in memory, files in the host's storage. After a failure nothing is left behind.
 * @throws ApiError 415, 413, 422; ClientGoneError
 */
export type ReadForm = (
  request: Pick<PlainRequest, "headers" | "body">,
  spec: FormSpec,
  place: { space: FormSpace; settings: Settings },
) => Promise<ReceivedForm>;
