import { ApiError, type ErrorCode, OwnOperationError } from "../engine/contract/errors.ts";
import { PROBLEM_TYPE, PROBLEMS, type ProblemBody, type ProblemKind } from "../engine/contract/problems.ts";
import { capitalize, clip, findNearest, toSentence } from "../engine/contract/text.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import type { Answer } from "../engine/pipeline/plain-http.ts";
import { NotAvailableError } from "../engine/platform.ts";
import { UnknownScenarioError } from "../engine/sandbox/fault-types.ts";
import type { Log } from "../hosts/node/log.ts";
import { StoreRefusal, toStoreRefusal } from "../persistence/store.ts";

interface ProblemOptions {
  /** A sentence for people: the failure and the next step. */
  detail: string;
  /** The field at fault, as in `settings.retry_schedule[0]`. */
  field?: string | undefined;
  /** The value sent there; shortened, since a body may be megabytes long. */
  value?: unknown;
  /** The nearest known word. */
  hint?: string | undefined;
  /** Further members of the answer. */
  extension?: Omit<ProblemBody, "type" | "title" | "status" | "detail" | "field" | "value" | "hint">;
  headers?: Record<string, string>;
  /** By default that of the kind. */
  status?: number;
}

/** A refusal of the control API (RFC 9457), and of the emulated API where the real service has no such answer. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly kind: ProblemKind;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;

  constructor(kind: ProblemKind, options: ProblemOptions) {
    super(options.detail);
    const { title, status } = PROBLEMS[kind];
    this.kind = kind;
    this.status = options.status ?? status;
    const challenge = { "WWW-Authenticate": 'Bearer realm="understudy control"' };
    this.headers = { ...(this.status === 401 && challenge), ...options.headers };
    this.body = {
      type: `${PROBLEM_TYPE}${kind}`,
      title,
      status: this.status,
      detail: options.detail,
      ...(options.field === undefined ? {} : { field: options.field }),
      ...("value" in options ? { value: shortenValue(options.value) } : {}),
      ...(options.hint === undefined ? {} : { hint: options.hint }),
      ...options.extension,
    };
  }

  toAnswer(): Answer {
    const { status, headers, body } = this;
    return { status, headers, content_type: "application/problem+json", body: JSON.stringify(body) };
  }
}

/** 422 for one field of what was sent. `message` follows the field's name: "must be an integer". */
export function unprocessable(
  field: string,
  value: unknown,
  message: string,
  hint?: string | undefined,
): Problem {
  return new Problem("invalid-input", {
    detail: toSentence(`${field} ${message}`, hint),
    field,
    value: value === undefined ? null : value,
    hint,
  });
}

/** A word that was sent, quoted for a message. */
export function quoteWord(word: string): string {
  return JSON.stringify(clip(word, 80));
}

/** Kinds of names in a path, and the call that lists them. */
const LISTED_BY = {
  sandbox: "/_control/sandboxes",
  snapshot: "/_control/sandboxes/{name}/snapshots",
  collection: "/_control/sandboxes/{name}/state",
  receiver: "/_control/sandboxes/{name}/receivers",
  "inline rule": "/_control/sandboxes/{name}/faults",
} as const;

/** 404 for an unknown name. */
export function unknownName(kind: keyof typeof LISTED_BY, name: string, names: Iterable<string>): Problem {
  const hint = findNearest(name, names);
  const detail = toSentence(`There is no ${kind} ${quoteWord(name)}`, hint);
  return new Problem(kind === "inline rule" ? "unknown-inline-rule" : `unknown-${kind}`, {
    detail: hint === undefined ? `${detail} GET ${LISTED_BY[kind]} lists them.` : detail,
    value: name,
    hint,
  });
}

/** The problem of an unknown word of each kind, and the advice if no candidate is near; `{all}` are the candidates. */
const WORD_KINDS = {
  operation: ["is not an operation of the emulated API", "GET /_control/openapi.json has them all"],
  "operation pattern": [
    "matches no operation of the emulated API",
    "GET /_control/openapi.json has them all",
  ],
  method: ["is not a method that a request may have", "there are {all}"],
  code: ["is not a code of the catalogue", "it has {all}"],
  stage: ["is not a stage of an active scenario", "`GET /_control/sandboxes/{name}/scenarios` lists them"],
  user: ["is not a user of this sandbox", "GET /_control/sandboxes/{name}/state/users lists them"],
  event: ["is not an event of the service", "it has {all}"],
  "event pattern": ["matches no event of the service", "it has {all}"],
  webhook: ["is not a webhook of this sandbox", "GET /_control/sandboxes/{name}/state/webhooks lists them"],
  delivery: ["is not a delivery of this sandbox", "GET /_control/sandboxes/{name}/deliveries lists them"],
} as const;

/** 422 for an unknown word in the body or query. */
export function unknownWord(
  kind: keyof typeof WORD_KINDS,
  field: string,
  word: string,
  candidates: readonly string[],
  hint = findNearest(word, candidates),
): Problem {
  const [problem, advice] = WORD_KINDS[kind];
  const ending = hint === undefined ? `; ${advice.replace("{all}", candidates.join(", "))}` : "";
  return unprocessable(field, word, `${quoteWord(word)} ${problem}${ending}`, hint);
}

/** 409: the current state does not allow it; `advice` says what would. */
export function conflict(kind: ProblemKind, detail: string, advice: string): Problem {
  return new Problem(kind, { detail: toSentence(`${detail}; ${advice}`), extension: { advice } });
}

/** Converts an error to a problem; undefined for a defect of ours. */
export function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DocumentError) return toDocumentProblem(error, (field) => field);
  if (error instanceof StoreRefusal) return toStoreProblem(error);
  const fullDisk = toFullDiskProblem(error);
  if (fullDisk !== undefined) return fullDisk;
  if (error instanceof NotAvailableError)
    return new Problem("not-available", { detail: toSentence(capitalize(error.message)) });
  return error instanceof ApiError ? toApiProblem(error) : undefined;
}

/**
 * The problem of a refusal by the store. `message` is the sandbox's name for `taken`, the limit in words for `limit`, else
 * the reason. A change that could not be saved was undone, and is 507 as for a full sandbox: the real service has no such answer
 * (interfaces.md 2).
 */
export function toStoreProblem(
  { kind, message, retry_after, headers: refusalHeaders }: StoreRefusal,
  extraHeaders: Record<string, string> = {},
): Problem {
  if (kind === "taken")
    return conflict("name-in-use", `There is a sandbox "${message}" already`, NAME_ADVICE);
  if (kind === "limit") {
    return new Problem("limit-reached", {
      detail: `The fleet has ${message}, which is its limit: delete those that you no longer need, or ask its operator to raise the limit.`,
      extension: { limit: "sandboxes" },
    });
  }
  const headers: Record<string, string> = { ...refusalHeaders, ...extraHeaders };
  if (retry_after !== undefined) headers["Retry-After"] = String(retry_after);
  if (kind === "moved")
    return new Problem("moved", {
      detail: `${toSentence(capitalize(message))} Repeat the request.`,
      headers,
    });
  if (retry_after !== undefined) {
    const detail = `The store of the fleet cannot be used: ${message}. The change of this request may be lost; repeat it.`;
    return new Problem("store-failing", { detail, headers });
  }
  return new Problem("not-saved", {
    status: kind === "gone" ? 503 : undefined,
    detail: `The change was not saved, so it was undone: ${message}. Fix that and repeat the request.`,
  });
}

/**
 * The answer to an API request if the host lacks a function or a file, or its disk is full; undefined for any other
 * error.
 */
export function toHostRefusal(error: unknown): Answer | undefined {
  const problem = error instanceof NotAvailableError ? asProblem(error) : toFullDiskProblem(error);
  return (problem ?? toMissingFileProblem(error))?.toAnswer();
}

/** The problem if the disk of a folder for uploads is full; undefined for any other error. */
function toFullDiskProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error && "syscall" in error)) return undefined;
  const { folder } = error as { folder?: string };
  const { kind, message } = toStoreRefusal(error, folder ?? "the folder for uploads");
  if (kind !== "full") return undefined;
  return new Problem("not-saved", {
    detail: `${toSentence(capitalize(message))} Free some space and repeat the request; an upload URL continues after the bytes that have arrived.`,
  });
}

/** 422, since the name is in the body and not in the path. */
function unknownScenario({ scenario, hint }: UnknownScenarioError, field: string): Problem {
  return new Problem("invalid-input", {
    detail: `${toSentence(`There is no scenario ${quoteWord(scenario)}`, hint)} GET /_control/sandboxes/{name}/scenarios lists them all.`,
    field,
    value: scenario,
    hint,
  });
}

/** @throws Problem 422 at the name's field if the scenario is unknown or its file is broken */
export function readScenarioField<T>(field: string, find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (error instanceof UnknownScenarioError) throw unknownScenario(error, field);
    if (error instanceof DocumentError) throw toDocumentProblem(error, () => field);
    throw error;
  }
}

/** Reads a rule in a field of the body. @throws Problem 422 */
export function readRuleField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw toDocumentProblem(error, (inner) => (inner === "" ? field : `${field}.${inner}`));
  }
}

/** `toField` converts a field of the document to a field of the call. */
export function toDocumentProblem(error: DocumentError, toField: (field: string) => string): Problem {
  const [first] = error.problems;
  return new Problem("invalid-document", {
    detail: error.format(),
    field: toField(first!.field),
    hint: error.hint,
    extension: { problems: [...error.problems] },
  });
}

/** Transport errors keep their kind; every other refusal is invalid input. */
const KINDS: Partial<Record<ErrorCode, ProblemKind>> = {
  PAYLOAD_TOO_LARGE: "payload-too-large",
  UNSUPPORTED_MEDIA_TYPE: "unsupported-media-type",
};

/** A state call is validated by rules of the emulated API. Their refusals become 422 and name the field, apart from `KINDS`. */
function toApiProblem(error: ApiError): Problem {
  const kind = KINDS[error.code];
  const { details, system_message, code, headers } = error;
  const { field, limit_bytes } = details;
  const detail =
    limit_bytes === undefined ? system_message : `The body may have at most ${limit_bytes} bytes.`;
  if (kind !== undefined) return new Problem(kind, { detail, extension: { code }, headers });
  const [name, value] =
    typeof field === "string" ? [field, details["value"]] : (Object.entries(details)[0] ?? ["body", null]);
  return new Problem("invalid-input", {
    detail: system_message,
    field: name,
    value,
    extension: { code },
    headers,
  });
}

/** The answer to a defect of ours or of a user's function; logs it. */
export function toInternalProblem(error: unknown, log: Log): Problem {
  log.error({ err: error }, "internal error in the control API");
  if (error instanceof OwnOperationError)
    return new Problem("internal", { detail: toSentence(error.message) });
  return (
    toMissingFileProblem(error) ??
    new Problem("internal", {
      detail: "An unexpected error occurred. The server's log says more; please report it.",
    })
  );
}

function toMissingFileProblem(error: unknown): Problem | undefined {
  if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") return undefined;
  return new Problem("internal", {
    detail:
      "A file of Understudy is missing; probably it was updated or built since the server started. Restart the server.",
  });
}

export const NAME_ADVICE = "choose another name, delete it, or leave out the name to get a generated one";

const MAX_VALUE_LENGTH = 2000;

function shortenValue(value: unknown): unknown {
  if (value === undefined) return null;
  const text = JSON.stringify(value) ?? "null";
  return text.length <= MAX_VALUE_LENGTH ? value : clip(text, MAX_VALUE_LENGTH);
}
