import type { Static, TObject, TSchema } from "typebox";
import type { Transaction } from "../state/transaction.ts";
import type { Envelope, ErrorContext, RenderedError } from "./envelopes.ts";
import { type DeclaredError, type ErrorCode, toErrorCode } from "./errors.ts";
import type { AssumptionMap } from "./provenance.ts";
import type { FileDigest, Services } from "./services.ts";
import type { Settings } from "./settings.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];

/** The caller: identified from the credential by `resources/auth`, authorized by the pipeline (section 5). */
export interface Principal {
  user_id: string;
  key_id: string;
  organization_id: string;
  credential: "api_key" | "token";
}

/** A principal, with what the pipeline needs to authorize it and to count its requests. */
export interface Identity {
  principal: Principal;
  /** Requests per minute of the key's plan (section 8). */
  requests_per_minute: number;
  /** The caller is refused, but only after the fault rules that match on the caller (interfaces.md 6). */
  refused?: true;
}

/** A file of a multipart body. */
export interface ReceivedFile {
  /** The name that the client sent; never used as a path. */
  filename: string;
  mime_type: string;
  size: number;
  /** At most the first `maxBytes` bytes. */
  read(maxBytes: number): Promise<Uint8Array>;
  /** In base64. */
  digest(algorithm: FileDigest): Promise<string>;
}

/** Header names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The input of a request, as its declaration types it. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
  headers: Readonly<Record<string, string | undefined>>;
}

/**
 * The view of a request that a handler of the emulated API has: values, never the request itself. Time and randomness
 * come from `world`, its transaction.
 */
export interface Call<P = unknown, Q = unknown, B = unknown> extends Input<P, Q, B> {
  files: Readonly<Record<string, ReceivedFile>>;
  /** Absent only if the operation declares `credentials: false`. */
  principal: Principal;
  world: Transaction;
  /** The `Api` of its sandbox. Its type is in api.ts, which imports this file. */
  api: object;
  settings: Settings;
  request: RequestInfo;
}

/** Path, query and headers as they were sent. */
interface SentInput {
  params: Readonly<Record<string, string>>;
  /** The query without its question mark. */
  search: string;
  headers: RequestHeaders;
}

export interface RequestInfo {
  /** Also the trace id (G29). */
  id: string;
  sandbox: string;
  /** Scheme, Host and sandbox prefix as this client reaches them, for URLs that are handed out. */
  base_url: string;
  /** The path and the query as they were sent, without the sandbox's prefix. */
  target: string;
}

export type BodySpec<B extends TSchema = TSchema> =
  | {
      kind: "json";
      schema: B;
      /** Schemas in place of `schema`, by media type. */
      schemas_by_type?: Readonly<Record<string, B>>;
      /** Whether the body may be omitted; the handler then gets `default`, or undefined. */
      optional?: boolean;
      /** Validated in place of an omitted body. */
      default?: object;
      /** Maximum size in bytes, if it differs from the usual one. */
      limit?: number;
      /** The schema documents it; the handler validates, because it can say more than a schema. */
      validated?: "by handler";
      /** Other names of JSON than `application/json` and those that end with `+json`, such as `text/json`. */
      json_types?: readonly string[];
      /** Another format in place of JSON, or beside it, such as a url-encoded form. */
      text?: { types: readonly string[]; read: (text: string) => unknown; isBesideJson?: boolean };
      /** A form with files that is taken beside the other formats. */
      form?: FormSpec<B>;
    }
  | FormSpec<B>
  | {
      kind: "stream";
      optional?: boolean;
      /** Whether its bytes are stored in the upload that `access` returns. */
      isUpload?: boolean;
    };

export interface FormSpec<B extends TSchema = TSchema> {
  kind: "multipart";
  fields: B;
  files: Readonly<Record<string, FileSpec>>;
  /** As above. */
  optional?: boolean;
  default?: Readonly<Record<string, unknown>>;
}

export interface FileSpec {
  required: boolean;
  /** Maximum number of files in parts of this name; one when absent. */
  maxCount?: number;
  /** Accepted MIME types; any when absent. Another is 415. */
  types?: readonly string[];
  /** Largest size in bytes; more is 413. */
  limit: (settings: Settings) => number;
}

export interface Success<S extends TSchema = TSchema> {
  status: number;
  /** JSON of this schema; absent if there is no body or it is not JSON. */
  schema?: S;
  /**
   * Schemas by the values of a path parameter, if it selects one of several. `schema` is then any of them; `otherwise`
   * is that of values that are not in this list, such as the names of a user's own collections.
   */
  variants?: { parameter: string; schemas: Readonly<Record<string, TSchema>>; otherwise?: TSchema };
  /** For a stream of server-sent events: JSON of this schema in each. */
  events?: TSchema;
  /** The content type of the JSON, if it is not `application/json`. */
  json_type?: string;
  /** Content types of a body that is not JSON. */
  content_types?: readonly string[];
  /** Headers worth documenting. */
  headers?: readonly string[];
  description?: string;
}

/**
 * The declaration of an endpoint of the emulated API or the control API; routes, validation, documents and tests read
 * it. `E` are the codes that the API refuses with.
 */
export interface Declaration<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  S extends TSchema = TSchema,
  E = string,
> {
  /** Its name everywhere (interfaces.md 9); also the OpenAPI operationId and the start of its tests' titles. */
  id: string;
  /** The section, or the assumption if the specification shows no endpoint. */
  section: string;
  method: Method;
  /** The path from the version prefix on, with `{parameters}` in braces. */
  path: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: BodySpec<B>;
  /** Request headers that the operation reads, in lower case, with what they do. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Refusals of its own, a code with several reasons once for each, the likeliest first. Those of credentials, rate,
   * validation and transport follow from the rest of its declaration.
   */
  errors: readonly E[];
  success: Success<S> | readonly Success<S>[];
  /** Whether it changes nothing. Default: true for GET. */
  reads?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: declarations of every shape
export type AnyDeclaration = Declaration<any, any, any, any, any>;

export interface Operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  Loaded = unknown,
  Prepared = unknown,
> extends Declaration<P, Q, B, TSchema, DeclaredError> {
  /** The file that declares it, if it is a user's own operation. */
  sourceFile?: string;
  /** The names of the user's own collections that its handler uses. */
  uses?: readonly string[];
  /** All assumptions that shaped it (G..); listed in the ledger and as `x-assumption`. */
  assumptions?: readonly string[];
  /** The parts that the reference does not show, each with the assumption that it follows from. */
  assumed?: AssumptionMap;
  /** Default A. */
  envelope?: Envelope;
  /** Envelope B's own spelling of catalogue codes. */
  spellings?: Readonly<Record<string, string>>;
  /** Default true: a credential of section 5 is needed, in a header. */
  credentials?: boolean;
  /** For a credential in the body (G01): identifies the caller once the body is validated. */
  identify?: (call: Call<Static<P>, Static<Q>, Static<B>>) => Identity;
  /** Whether spending limits are checked before it (G04: only section 4.19). */
  billable?: boolean;
  /** The part of validation that a schema cannot express. @throws ApiError INVALID_INPUT */
  validate?: (call: Call<Static<P>, Static<Q>, Static<B>>) => void;
  /**
   * Checks existence and access, in the order of G03. Must not write. Its result is the handler's second argument. A
   * request that it refuses has the decision `access` in the journal.
   */
  access?: (call: Call<Static<P>, Static<Q>, Static<B>>) => Loaded;
  /**
   * Work that waits (decoding an image, receiving bytes): after access, outside any transaction. Its result is the
   * handler's third argument. Access is checked again before the handler runs. `signal` aborts when the client leaves;
   * its reason may be thrown.
   */
  prepare?: (
    call: Call<Static<P>, Static<Q>, Static<B>>,
    loaded: Loaded,
    io: { services: Services; stream: AsyncIterable<Uint8Array>; signal: AbortSignal },
  ) => Promise<Prepared>;
  /** The headers with the credential that a document has elsewhere, such as in the query; undefined if there is none. */
  readCredential?: (sent: Omit<SentInput, "params">) => RequestHeaders | undefined;
  /**
   * Reads path, query and headers in place of `params` and `query`, since documents may declare styles of parameters.
   * @throws ApiError INVALID_INPUT
   */
  readInput?: (sent: SentInput) => {
    params: unknown;
    query: Record<string, unknown>;
    unknown: readonly string[];
  };
  /** Renders a refusal in another form than the envelopes; undefined: in the envelope. */
  renderError?: (
    error: RenderedError,
    context: ErrorContext,
  ) => { body: unknown; content_type: string } | undefined;
  /** False for answers that need not fit their schemas, such as examples of users' documents. */
  checksAnswers?: false;
  /** The operation as a user's document describes it, with the document that its references point into. */
  openapi?: {
    operation: object;
    document: object;
    /** The answer that the document has for a status. */
    answer(status: number): DescribedAnswer | undefined;
  };
  /** The change itself: synchronous, inside the transaction, returning a value or a Reply. */
  handle: (call: Call<Static<P>, Static<Q>, Static<B>>, loaded: Loaded, prepared: Prepared) => unknown;
  /** Runs after the commit and replaces the answer by one that reports the commit's effects, such as deliveries. */
  finish?: (
    call: Omit<Call<Static<P>, Static<Q>, Static<B>>, "world">,
    answer: unknown,
    services: Services,
  ) => Promise<unknown> | unknown;
}

export interface DescribedAnswer extends Success {
  /** Its example, else for a success a value of its schema; an error without an example has no body. */
  createReply(): { body: unknown; headers: Record<string, string> };
}

// biome-ignore lint/suspicious/noExplicitAny: the registry holds operations of every shape
export type AnyOperation = Operation<any, any, any, any, any>;

/** Declares one endpoint of the emulated API. */
export function operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  Loaded = undefined,
  Prepared = undefined,
>(
  declaration: Omit<Operation<P, Q, B, Loaded, Prepared>, "method" | "path"> & {
    /** Method and path, such as `GET /v1/models`. */
    route: `${Method} ${string}`;
  },
): Operation<P, Q, B, Loaded, Prepared> {
  const { route, ...rest } = declaration;
  const [method, path] = route.split(" ") as [Method, string];
  return { method, path, ...rest };
}

export function isReadOnly({ method, reads }: AnyDeclaration): boolean {
  return reads ?? method === "GET";
}

/** Whether an answer with this status never has a body (RFC 9110, 15). */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

export function listSuccesses(operation: AnyDeclaration): readonly Success[] {
  return Array.isArray(operation.success) ? operation.success : [operation.success as Success];
}

/** Every code that the operation can answer: its own, and those that its declaration implies (G04). */
export function listErrorCodes(operation: AnyOperation): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>();
  if (operation.credentials !== false) codes.add("AUTHENTICATION_REQUIRED");
  for (const error of operation.errors) codes.add(toErrorCode(error));
  // An unknown query parameter can be refused for an operation without parameters, too (G09).
  codes.add("INVALID_INPUT");
  const { body } = operation;
  if (body?.kind === "json") codes.add("INVALID_JSON").add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE");
  if (body?.kind === "multipart") codes.add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE");
  if (operation.credentials !== false) codes.add("RATE_LIMIT_EXCEEDED");
  if (operation.billable) codes.add("SPENDING_LIMIT_EXCEEDED");
  return [...codes];
}
