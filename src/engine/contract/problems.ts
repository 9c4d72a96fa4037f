import { type Static, Type } from "typebox";
import type { AnyDeclaration } from "./operation.ts";
import { ClosedObject } from "./schema.ts";

interface ProblemType {
  status: number;
  /** The same for every occurrence (RFC 9457). */
  title: string;
  /** The condition of the answer, for the documents. */
  when: string;
}

const defineProblem = (status: number, title: string, when: string): ProblemType => ({ status, title, when });

/**
 * The closed catalogue of the control API's problems, by the last part of their `type`. An operation lists its own; the
 * others are derived from its declaration.
 */
export const PROBLEMS = {
  "override-refused": defineProblem(
    400,
    "The override cannot be honoured",
    "`X-Sandbox-Fault`, `X-Sandbox-Delay` or `Prefer` is wrong, or `--no-overrides` forbids it",
  ),
  "token-required": defineProblem(
    401,
    "Control token required",
    "The call lacks the token of the shared server",
  ),
  "host-not-allowed": defineProblem(
    403,
    "Host not allowed",
    "The called host is neither loopback nor in `--allow-host`; on emulated paths, only a browser gets this",
  ),
  "origin-not-allowed": defineProblem(403, "Origin not allowed", "A page of another site sent the request"),
  "unknown-path": defineProblem(404, "Not Found", "Nothing has this path, name or id"),
  "unknown-sandbox": defineProblem(404, "Unknown sandbox", "Nothing has this path, name or id"),
  "unknown-snapshot": defineProblem(404, "Unknown snapshot", "Nothing has this path, name or id"),
  "unknown-collection": defineProblem(404, "Unknown collection", "Nothing has this path, name or id"),
  "unknown-record": defineProblem(404, "Unknown record", "Nothing has this path, name or id"),
  "unknown-inline-rule": defineProblem(404, "Unknown inline rule", "Nothing has this path, name or id"),
  "unknown-entry": defineProblem(404, "Unknown entry", "Nothing has this path, name or id"),
  "unknown-receiver": defineProblem(404, "Unknown receiver", "Nothing has this path, name or id"),
  "unknown-held": defineProblem(404, "Unknown held request", "Nothing has this path, name or id"),
  "nothing-waits": defineProblem(
    404,
    "No delivery waits for this answer",
    "The answer is for a forwarded delivery that was answered already, or timed out",
  ),
  "method-not-allowed": defineProblem(405, "Method Not Allowed", "`Allow` lists the path's methods"),
  "name-in-use": defineProblem(409, "Conflict", "The name or id is taken"),
  "id-in-use": defineProblem(409, "Conflict", "The name or id is taken"),
  "journal-incomplete": defineProblem(409, "Conflict", "The journal has evicted entries that the call needs"),
  "state-evicted": defineProblem(409, "Conflict", "The history has evicted the states of the entry"),
  "not-repeatable": defineProblem(
    409,
    "Conflict",
    "The entry is not a request, or the bytes of the request were evicted",
  ),
  "not-replayable": defineProblem(
    409,
    "Conflict",
    "What happened in the sandbox cannot be repeated from a file by `understudy replay`; `detail` says why",
  ),
  "already-released": defineProblem(
    409,
    "Conflict",
    "The request is no longer held: it was released, timed out, or its client left",
  ),
  "limit-reached": defineProblem(
    409,
    "A limit is reached",
    "The server or the sandbox has reached a limit; an emulated path answers it with 507 or 503",
  ),
  misdirected: defineProblem(
    421,
    "Misdirected Request",
    "A sandbox's own port does not serve this path of the control API; call the address of the server",
  ),
  "payload-too-large": defineProblem(413, "The request body is too large.", "The body exceeds the limit"),
  "unsupported-media-type": defineProblem(
    415,
    "The content type is not supported.",
    "The body is not sent as `application/json`",
  ),
  "invalid-input": defineProblem(
    422,
    "The request cannot be accepted",
    "The value of `field` does not fit, or no such field exists",
  ),
  "invalid-json": defineProblem(422, "The body is not valid JSON", "The body cannot be read"),
  "invalid-document": defineProblem(
    422,
    "The document is invalid",
    "A fixture, scenario, rule or OpenAPI document is wrong; `problems` lists each mistake with its place",
  ),
  "snapshot-too-new": defineProblem(
    422,
    "The snapshot is too new",
    "A newer release wrote the uploaded snapshot",
  ),
  "not-saved": defineProblem(
    507,
    "The change could not be saved",
    "With `--durable`, the disk is full or read-only, and the change was undone; 503 if the folder is gone. An upload for which the disk has no room gets this without `--durable`, too",
  ),
  moved: defineProblem(
    503,
    "Another node owns the sandbox",
    "In a fleet, the sandbox has just moved, or the node that owns it cannot be reached; try again after `Retry-After`",
  ),
  "store-failing": defineProblem(
    503,
    "The store cannot be used",
    "In a fleet, Redis cannot be reached or refuses; try again after `Retry-After`",
  ),
  "upstream-failed": defineProblem(
    502,
    "The upstream gave no usable answer",
    "The service of `--upstream` gave no usable answer; 504 if the time ran out, 508 if it sent the request back",
  ),
  "no-port": defineProblem(
    503,
    "No port is free",
    "No port is free for a sandbox that asks for its own port",
  ),
  "not-available": defineProblem(
    501,
    "Not Available Here",
    "The call is not possible in a browser's page, or in a server that cannot load the package `sharp`",
  ),
  internal: defineProblem(500, "Internal Server Error", "A defect of Understudy; please report it"),
} as const satisfies Record<string, ProblemType>;

export type ProblemKind = keyof typeof PROBLEMS;

export const PROBLEM_TYPE = "urn:understudy:problem:";

const Count = () => Type.Integer({ minimum: 0 });

/** One problem of a document: a fixture, a scenario, a rule, or an OpenAPI document. */
const DocumentProblem = ClosedObject({
  file: Type.String(),
  line: Type.Integer({
    minimum: 0,
    description: "From 1; 0 if the document was sent as JSON, not as a text",
  }),
  column: Count(),
  field: Type.String({ description: "As in `rules[0].match.operation`; empty for the whole document" }),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});

/** RFC 9457: the body of every refusal of the control API. */
export const ProblemBody = ClosedObject(
  {
    type: Type.Unsafe<`${typeof PROBLEM_TYPE}${ProblemKind}`>({
      type: "string",
      enum: Object.keys(PROBLEMS).map((kind) => PROBLEM_TYPE + kind),
      description: "What kind of problem it is, for programs",
    }),
    title: Type.String({ description: "The same for every problem of this kind" }),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: "What happened and what to do next, for a person" }),
    field: Type.Optional(
      Type.String({ description: "The field at fault, as in `settings.retry_schedule[0]`" }),
    ),
    value: Type.Optional(Type.Unknown({ description: "The sent value, shortened if it is long" })),
    hint: Type.Optional(Type.String({ description: "The nearest known word" })),
    advice: Type.Optional(Type.String({ description: "With 409: how to make the call possible" })),
    code: Type.Optional(Type.String({ description: "If a rule of the emulated API refuses: its code" })),
    problems: Type.Optional(
      Type.Array(DocumentProblem, { description: "Everything that is wrong in a document" }),
    ),
    message: Type.Optional(
      Type.String({
        description: "The message of the first of `problems`, like `file`, `line` and `column`",
      }),
    ),
    file: Type.Optional(Type.String()),
    line: Type.Optional(Count()),
    column: Type.Optional(Count()),
    limit: Type.Optional(Type.String({ description: "Which limit is reached, in shared mode" })),
    allowed: Type.Optional(Count()),
    wanted: Type.Optional(Count()),
  },
  {
    $id: "Problem",
    description: "A refusal (RFC 9457)",
    examples: [
      {
        type: "urn:understudy:problem:invalid-input",
        title: "The request cannot be accepted",
        status: 422,
        detail: 'settings.previw is not known here. Did you mean "preview"?',
        field: "settings.previw",
        value: "on",
        hint: "preview",
      },
    ],
  },
);
export type ProblemBody = Static<typeof ProblemBody>;

/** The problems that any call can answer: refusals of the guard and the store, unknown query keys, and our defects. */
const COMMON_KINDS = [
  "token-required",
  "host-not-allowed",
  "origin-not-allowed",
  "invalid-input",
  "not-saved",
  "moved",
  "store-failing",
  "internal",
] as const satisfies readonly ProblemKind[];
const BODY_KINDS = [
  "payload-too-large",
  "unsupported-media-type",
  "invalid-json",
] as const satisfies readonly ProblemKind[];

/** Every kind of problem that an operation can be answered with, by rising status. */
export function listProblemKinds({ path, method, errors }: AnyDeclaration): readonly ProblemKind[] {
  const kinds = new Set<ProblemKind>([...COMMON_KINDS, ...(errors as readonly ProblemKind[])]);
  if (path.includes("/sandboxes/{name}")) kinds.add("unknown-sandbox");
  // A health check may watch a sandbox's port.
  if (path !== "/_control/health") kinds.add("misdirected");
  // Also for operations without a body: one that is sent must be JSON.
  if (method !== "GET") for (const kind of BODY_KINDS) kinds.add(kind);
  return [...kinds].sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status);
}
