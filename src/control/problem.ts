import { STATUS_CODES } from "node:http";
import { ApiError } from "../contract/errors.ts";
import { clip, DocumentError, type DocumentProblem } from "../documents/document-error.ts";
import { nearest } from "../documents/nearest.ts";
import { UnknownScenario } from "../sandbox/fault-gate.ts";

export interface ProblemOptions {
  /** A stable word for programs, such as `unknown-sandbox`; the last part of `type`. */
  kind: string;
  title?: string;
  /** What happened and what to do next, for a person. */
  detail: string;
  /** The field at fault, as in `settings.retry_schedule[0]`. */
  field?: string | undefined;
  /** What was sent there; shortened, since a body may be megabytes long. */
  value?: unknown;
  /** The right word nearest to the wrong one. */
  hint?: string | undefined;
  /** Further members of the answer. */
  extension?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** How the control API refuses (RFC 9457). Never leaves the emulated API except as a refused override. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, options: ProblemOptions) {
    super(options.detail);
    this.status = status;
    this.headers = options.headers ?? {};
    this.body = {
      type: `urn:understudy:problem:${options.kind}`,
      title: options.title ?? STATUS_CODES[status] ?? "Error",
      status,
      detail: options.detail,
      ...(options.field === undefined ? {} : { field: options.field }),
      ...("value" in options ? { value: shortened(options.value) } : {}),
      ...(options.hint === undefined ? {} : { hint: options.hint }),
      ...options.extension,
    };
  }
}

/** 422 for one field of what was sent. `message` follows the field's name: "must be an integer". */
export function unprocessable(
  field: string,
  value: unknown,
  message: string,
  hint?: string | undefined,
): Problem {
  return new Problem(422, {
    kind: "invalid-input",
    title: "The request cannot be accepted",
    detail: sentence(`${field} ${message}`, hint),
    field,
    value: value === undefined ? null : value,
    hint,
  });
}

/** A word that was sent, as a sentence names it. */
export function quoted(word: string): string {
  return JSON.stringify(clip(word, 80));
}

/** 404 for a name out of a known set. */
export function unknownName(what: string, name: string, known: Iterable<string>): Problem {
  const hint = nearest(name, known);
  return new Problem(404, {
    kind: `unknown-${what.replaceAll(" ", "-")}`,
    title: `Unknown ${what}`,
    detail: sentence(`There is no ${what} ${quoted(name)}`, hint),
    value: name,
    hint,
  });
}

/** 409: the present state does not allow it; `advice` says what would. */
export function conflict(kind: string, detail: string, advice: string): Problem {
  return new Problem(409, { kind, detail: sentence(`${detail}; ${advice}`), extension: { advice } });
}

/** Whatever was thrown, as an answer; undefined for what is a defect of ours. */
export function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DocumentError) return documentProblem(error);
  if (error instanceof UnknownScenario) return unknownScenario(error);
  return error instanceof ApiError ? apiProblem(error) : undefined;
}

/** 422: the name stands in the call's body, not in its path. */
export function unknownScenario({ scenario, hint }: UnknownScenario, field = "scenarios"): Problem {
  return unprocessable(field, scenario, "names no scenario; S/scenarios lists them", hint);
}

function documentProblem(error: DocumentError): Problem {
  const place = ({ file, line, column, field, message, hint }: DocumentProblem) => ({
    file,
    line,
    column,
    field,
    message,
    hint,
  });
  const [first] = error.problems;
  return new Problem(422, {
    kind: "invalid-document",
    title: "The document cannot be used",
    detail: error.format(),
    field: first!.field,
    hint: error.hint,
    extension: { problems: error.problems.map(place) },
  });
}

/**
 * Refusals of the rules that state calls share with the emulated API: each is 422 and names its field,
 * whatever status the API itself would answer. Transport errors keep theirs.
 */
function apiProblem(error: ApiError): Problem {
  const transport = [400, 413, 415].includes(error.status);
  const [[key, value] = ["body", null]] = Object.entries(error.details);
  const named = typeof error.details["field"] === "string";
  return new Problem(transport ? error.status : 422, {
    kind: error.code.toLowerCase().replaceAll("_", "-"),
    title: error.message,
    detail: error.system_message,
    ...(transport
      ? {}
      : {
          field: named ? (error.details["field"] as string) : key,
          value: named ? error.details["value"] : value,
        }),
    extension: { code: error.code },
    headers: error.headers,
  });
}

const LONGEST_VALUE = 2000;

function shortened(value: unknown): unknown {
  if (value === undefined) return null;
  const text = JSON.stringify(value) ?? "null";
  return text.length <= LONGEST_VALUE ? value : clip(text, LONGEST_VALUE);
}

function sentence(text: string, hint?: string): string {
  return hint === undefined ? `${text}.` : `${text}. Did you mean ${JSON.stringify(hint)}?`;
}
