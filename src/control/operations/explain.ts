import { type Static, Type } from "typebox";
import { countUtf8Bytes } from "../../engine/bytes.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { ClosedObject, MapOf, Nullable, StringEnum, withLibraryType } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { type DryRunRequest, dryRun } from "../../engine/pipeline/dry-run.ts";
import { findKeyOfUser } from "../../engine/resources/api-keys/rules.ts";
import { users } from "../../engine/resources/users/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { redactText } from "../../tools/redact.ts";
import { type ControlOperation, OptionalText, operation } from "../operation.ts";
import { unknownWord, unprocessable } from "../problem.ts";

const Scalar = Type.Unsafe<string | number | boolean>({ type: ["string", "number", "boolean"] });

export const ExplainInput = ClosedObject(
  {
    operation: Type.Optional(
      withLibraryType("OperationId", Type.String({ description: "Instead of method and path" })),
    ),
    params: Type.Optional(
      MapOf(Scalar, {
        description:
          "With `operation`: the parameters of its path. Steps that depend on a missing one are skipped",
      }),
    ),
    method: OptionalText("In upper or lower case", { minLength: 1 }),
    path: OptionalText("Without host and sandbox prefix; a query may follow", { minLength: 1 }),
    principal: OptionalText("A user id; the request has the user's first usable key"),
    headers: Type.Optional(MapOf(Type.String())),
    query: Type.Optional(MapOf(Scalar)),
    body: Type.Optional(Type.Unknown({ description: "Sent as JSON" })),
  },
  {
    $id: "ExplainInput",
    examples: [
      { operation: "threads.delete", params: { thread_id: "thread_ada" }, principal: "usr_cleo" },
      { method: "GET", path: "/v1/models", principal: "usr_ada" },
    ],
  },
);
type ExplainInput = Static<typeof ExplainInput>;

const StepOutcomeBody = ClosedObject({
  step: Type.Unsafe<
    "route" | "fault" | "auth" | "rate-limit" | "validation" | "access" | "spending" | "rule" | "fault-after"
  >({
    type: "string",
    description: "As in `X-Sandbox-Decision`; a fault triggers before the change or after it",
  }),
  outcome: StringEnum(["passes", "decides", "skipped", "not reached"], {
    description:
      "`decides`: the request ends here; `skipped`: the step depends on something that was not given",
  }),
  says: Type.String({ description: "The outcome in words; empty if the step is not reached" }),
});

const RuleOutcomeBody = ClosedObject({
  rule: Type.String({ description: "`<scenario | inline>/<rule id>`" }),
  phase: StringEnum(["before", "after"]),
  triggers: Type.Boolean(),
  why: Type.String({ description: "Why it would trigger, or why not" }),
});

export const ExplanationBody = ClosedObject(
  {
    operation: Nullable(Type.String({ description: "Null if no operation has the path" })),
    decision: Nullable(
      Type.String({
        description: "The step or rule that would decide, as in `X-Sandbox-Decision`; null if unknown",
      }),
    ),
    status: Nullable(Type.Integer({ description: "0 if the client would receive none" })),
    code: Nullable(Type.String({ description: "For an error: its code in the catalogue" })),
    principal: Nullable(Type.String({ description: "The id of the user who would call" })),
    steps: Type.Array(StepOutcomeBody, {
      description: "All steps of a request, in their order",
    }),
    rules: Type.Array(RuleOutcomeBody, {
      description: "All active rules, in the order in which they are evaluated",
    }),
  },
  {
    $id: "Explanation",
    examples: [
      {
        operation: "models.list",
        decision: "fault:inline/lost-answer",
        status: 429,
        code: "RATE_LIMIT_EXCEEDED",
        principal: "usr_ada",
        steps: [{ step: "fault", outcome: "decides", says: "inline/lost-answer triggered: hit 1 of 2" }],
        rules: [{ rule: "inline/lost-answer", phase: "before", triggers: true, why: "hit 1 of 2" }],
      },
    ],
  },
);

export const EXPLAIN_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "faults.explain",
    section: "interfaces 11",
    route: "POST /_control/sandboxes/{name}/faults/explain",
    summary: "Explain how a request would be answered, without running it",
    description: "Returns the outcome of each step, and for each active rule why it would trigger or not.",
    reads: true,
    body: { kind: "json", schema: ExplainInput },
    success: { status: 200, schema: ExplanationBody },
    async handle({ body, sandbox, server, site }) {
      const request = readRequest(body, sandbox);
      const trace = server.faults.getSandboxFaults(sandbox).createTrace();
      const result = await dryRun(server.parts, { sandbox, faults: trace, site }, request);
      return {
        ...result,
        steps: result.steps.map(({ says, ...step }) => ({ ...step, says: redactText(says) })),
        rules: trace.report(),
      };
    },
  }),
];

/** @throws Problem 422 */
function readRequest(input: ExplainInput, sandbox: Sandbox): DryRunRequest {
  const { method, target, incompleteReason } = readRequestLine(input, sandbox.api.operations);
  const [path, ...search] = target.split("?");
  const query = new URLSearchParams(search.join("?"));
  for (const [name, value] of Object.entries(input.query ?? {})) query.append(name, String(value));
  const body = input.body === undefined ? "" : JSON.stringify(input.body);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(input.headers ?? {})) headers[name.toLowerCase()] = value;
  if (input.body !== undefined) {
    headers["content-type"] ??= "application/json";
    headers["content-length"] ??= String(countUtf8Bytes(body));
  }
  if (input.principal !== undefined) {
    const credential = CREDENTIAL_HEADERS.find((name) => headers[name] !== undefined);
    if (credential !== undefined)
      throw unprocessable(
        "principal",
        input.principal,
        `cannot be combined with the header ${credential}; leave one of them out`,
      );
    headers["api-key"] = requireKey(sandbox, input.principal);
  }
  return { method, path: path!, query: query.toString(), headers, body, incompleteReason };
}

const CREDENTIAL_HEADERS = ["api-key", "x-api-key", "authorization"];

/** @throws Problem 422 */
function readRequestLine(input: ExplainInput, operations: readonly AnyOperation[]) {
  const { operation: id, method, path, params = {} } = input;
  if (id === undefined) {
    if (method === undefined || path === undefined)
      throw unprocessable("operation", null, "is needed, or else both method and path");
    if (input.params !== undefined)
      throw unprocessable("params", params, "go with `operation`; a path contains its own");
    if (!path.startsWith("/") || /^\/_/.test(path))
      throw unprocessable("path", path, "must begin with a slash, without host and sandbox prefix");
    return { method: method.toUpperCase(), target: path, incompleteReason: undefined };
  }
  if (method !== undefined || path !== undefined)
    throw unprocessable("operation", id, "cannot be combined with method and path; leave one of them out");
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) {
    const ids = operations.map((one) => one.id);
    throw unknownWord("operation", "operation", id, ids);
  }
  return { method: operation.method, ...fillPath(operation, params) };
}

/** The operation's path with the given parameters. @throws Problem 422 */
function fillPath({ id, path }: AnyOperation, params: Readonly<Record<string, string | number | boolean>>) {
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!);
  for (const [name, value] of Object.entries(params)) {
    if (names.includes(name)) continue;
    const pathParameters = names.length === 0 ? "has none" : `has ${names.join(", ")}`;
    throw unprocessable(
      `params.${name}`,
      value,
      `is not a parameter of ${id}, whose path ${pathParameters}`,
      findNearest(name, names),
    );
  }
  const missing = names.filter((name) => params[name] === undefined);
  const target = path.replace(/\{([^{}]+)\}/g, (whole: string, name: string) =>
    params[name] === undefined ? whole : encodeURIComponent(String(params[name])),
  );
  const verb = missing.length === 1 ? "was" : "were";
  const incompleteReason =
    missing.length === 0 ? undefined : `it depends on ${missing.join(" and ")}, which ${verb} not given`;
  return { target, incompleteReason };
}

/** @throws Problem 422 */
function requireKey({ world }: Sandbox, user_id: string): string {
  const reader = world.read();
  const key = findKeyOfUser(reader, user_id);
  if (key !== undefined) return key.key;
  if (reader.get(users, user_id) !== undefined) {
    const advice = "create one (collection api_keys), or omit the principal";
    throw unprocessable("principal", user_id, `has no API key to call with; ${advice}`);
  }
  const userIds = [...reader.all(users).page(0, 1000)].map(({ id }) => id);
  throw unknownWord("user", "principal", user_id, userIds);
}
