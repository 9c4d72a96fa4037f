import { type Static, Type } from "typebox";
import { fromUtf8 } from "../../engine/bytes.ts";
import { ClosedObject, Nullable, StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import { tryParseJson } from "../../engine/contract/text.ts";
import type { AppliedFault, JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import { decodeBody, MASKED_MESSAGE, MaskedMessage, maskMessage } from "../../tools/har/har-entry.ts";
import { redactQuery, redactText } from "../../tools/redact.ts";
import { OptionalFlag } from "../operation.ts";

/** An attempt to deliver an event. */
const JournaledDelivery = ClosedObject({
  event: Type.String(),
  webhook_id: Type.String(),
  delivery_id: Type.String(),
  attempt: Type.Integer({ minimum: 1, description: "The number of the attempt, from 1" }),
  kind: StringEnum(["first", "retry", "redelivery"]),
  url: Type.String({ description: "Where it was sent, secrets masked" }),
  error: Nullable(Type.String({ description: "Why there was no answer" })),
});

const AppliedFaultBody = Type.Unsafe<AppliedFault>(
  ClosedObject(
    {
      by: Type.String({ description: "The rule, as in `decision`" }),
      delay_ms: Type.Integer({ minimum: 0, description: "How long it delayed the answer" }),
      replaced: StringEnum(["nothing", "response", "connection"], {
        description: "`nothing`: the answer is the operation's own, or the receiver's",
      }),
    },
    { description: "The effect of a fault on it; absent without one" },
  ),
);

/** A request to a sandbox or an attempt to deliver an event, and what decided its answer (interfaces.md 4). */
export const JournalEntryBody = ClosedObject(
  {
    id: Type.String({
      description: "The answer's `x-request-id`; of a delivery its id and the attempt's number",
    }),
    seq: Type.Integer({
      minimum: 1,
      description: "Its number in the sandbox's timeline, never repeated; the same in journal and history",
    }),
    sequence: Type.Integer({ minimum: 1, description: "Its position; the event's id in the stream" }),
    kind: StringEnum(["request", "delivery"], {
      description: "An incoming request, or an attempt to deliver an event",
    }),
    at: Timestamp({ description: "On the sandbox's clock" }),
    operation: Nullable(Type.String({ description: "Null if no operation has the path" })),
    method: Type.String(),
    path: Type.String({ description: "Without sandbox prefix and query" }),
    status: Type.Integer({ description: "0 if the client received none" }),
    code: Nullable(Type.String({ description: "For an error: its code in the catalogue" })),
    duration_ms: Type.Integer({ minimum: 0 }),
    principal: Nullable(Type.String({ description: "The id of the user who called" })),
    api_key: Nullable(Type.String({ description: "The id of the key" })),
    decision: Type.String({ description: "What decided the answer, as in `X-Sandbox-Decision`" }),
    fault: Type.Optional(AppliedFaultBody),
    reasons: Type.Array(Type.String(), {
      description:
        "The triggered rule, or the nearest one; the last reason of a refusal says why it was refused",
    }),
    stages: Type.Optional(
      Type.Array(Type.String(), {
        description: "The stages of scenarios in which it arrived, as `scenario/stage`",
      }),
    ),
    request: ClosedObject({ query: Type.String(), ...MASKED_MESSAGE }),
    response: MaskedMessage,
    warnings: Type.Array(Type.String(), { description: "Warnings, such as an unknown field" }),
    history: Nullable(Type.String({ description: "The id of its history entry if it changed something" })),
    delivery: Nullable(JournaledDelivery),
    undone: OptionalFlag("True if a rewind has undone its change"),
  },
  {
    $id: "JournalEntry",
    examples: [
      {
        id: "req_5e1f",
        seq: 1,
        sequence: 1,
        kind: "request",
        at: "2026-03-15T12:00:00.000Z",
        operation: "threads.delete",
        method: "DELETE",
        path: "/v1/threads/thread_ada",
        status: 403,
        code: "INSUFFICIENT_PERMISSIONS",
        duration_ms: 2,
        principal: "usr_cleo",
        api_key: "apikey_cleo",
        decision: "access",
        reasons: [],
        request: { query: "", headers: [{ name: "api-key", value: "ak_…" }] },
        response: { headers: [], body: { error: { code: "insufficient_permissions" } } },
        warnings: [],
        history: null,
        delivery: null,
      },
    ],
  },
);
type RenderedEntry = Static<typeof JournalEntryBody>;

export function getKind({ delivery }: Pick<JournalEntry, "delivery">): "request" | "delivery" {
  return delivery === undefined ? "request" : "delivery";
}

/** An entry with its secrets masked. All output of the journal but the HTTP Archive uses this. */
export function renderEntry(entry: JournalEntry): RenderedEntry {
  const { id, sequence, operation, method, status, code, duration_ms, principal, api_key, decision } = entry;
  return {
    id,
    seq: entry.timelineEntry.number,
    sequence,
    kind: getKind(entry),
    at: new Date(entry.at).toISOString(),
    operation,
    method,
    path: redactText(entry.path),
    status,
    code,
    duration_ms,
    principal,
    api_key,
    decision,
    ...(entry.fault && { fault: entry.fault }),
    reasons: entry.reasons.map(redactText),
    ...(entry.stages && { stages: [...entry.stages] }),
    request: {
      query: redactQuery(entry.query),
      ...maskMessage(entry.request_headers, entry.request_body),
    },
    response: maskMessage(entry.response_headers, entry.response_body),
    warnings: entry.warnings.map(redactText),
    history: entry.history,
    delivery: renderDelivery(entry),
    ...(entry.timelineEntry.isUndone && { undone: true }),
  };
}

function renderDelivery({ delivery, path, query }: JournalEntry): Static<typeof JournaledDelivery> | null {
  if (delivery === undefined) return null;
  const { event, webhook_id, delivery_id, attempt, kind, origin, error } = delivery;
  const search = query === "" ? "" : `?${redactQuery(query)}`;
  const url = `${origin}${redactText(path)}${search}`;
  const reason = error === undefined ? null : redactText(error);
  return { event, webhook_id, delivery_id, attempt, kind, url, error: reason };
}

/** The request's JSON body as it was sent, for matching only, never for output; undefined if there is none. */
export function parseRequestBody({ request_headers, request_body }: JournalEntry): unknown {
  const body = decodeBody(request_headers, request_body);
  if (body === undefined || body.length === 0) return undefined;
  return tryParseJson(fromUtf8(body));
}
