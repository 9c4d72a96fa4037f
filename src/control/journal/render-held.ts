import { type Static, Type } from "typebox";
import { ClosedObject, ListOf, Nullable, StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import type { Held } from "../../engine/sandbox/held.ts";
import { MaskedMessage, maskMessage } from "../../tools/har/har-entry.ts";
import { redactQuery, redactText } from "../../tools/redact.ts";
import { getKind, JournalEntryBody } from "./render-journal-entry.ts";

const { kind, at, operation, method, path, principal, request } = JournalEntryBody.properties;

/** A request or delivery that waits to be released (interfaces.md 20). */
export const HeldBody = ClosedObject(
  {
    id: Type.String({ description: "`held_1`; a sandbox does not repeat it before the server restarts" }),
    kind,
    rule: Type.String({ description: "`<scenario | inline>/<rule id>`" }),
    phase: StringEnum(["before", "after"], { description: "`after`: the change was made, its answer waits" }),
    at,
    ends_at: Timestamp({ description: "When it is released at the latest, on the wall clock" }),
    request_id: Type.String({ description: "The id that its journal entry will have" }),
    operation,
    method,
    path,
    principal,
    event: Nullable(Type.String({ description: "Of a delivery: the event's name" })),
    webhook: Nullable(Type.String({ description: "Of a delivery: the webhook's id" })),
    request,
    response: Nullable(
      ClosedObject(
        { status: Type.Integer(), ...MaskedMessage.properties },
        { description: "The answer that waits" },
      ),
    ),
  },
  {
    $id: "Held",
    examples: [
      {
        id: "held_1",
        kind: "request",
        rule: "inline/fault_1",
        phase: "before",
        at: "2026-03-15T12:00:00.000Z",
        ends_at: "2026-03-15T12:00:30.000Z",
        request_id: "req_5e1f",
        operation: "models.list",
        method: "GET",
        path: "/v1/models",
        principal: "usr_dan",
        event: null,
        webhook: null,
        request: { query: "", headers: [{ name: "api-key", value: "ak_…" }] },
        response: null,
      },
    ],
  },
);
export const HeldList = ListOf(HeldBody);

export function renderHeld({ id, rule, phase, ends_at, message }: Held): Static<typeof HeldBody> {
  const { operation, method, principal, status, delivery } = message;
  return {
    id,
    kind: getKind(message),
    rule,
    phase,
    at: new Date(message.at).toISOString(),
    ends_at: new Date(ends_at).toISOString(),
    request_id: message.id,
    operation,
    method,
    path: redactText(message.path),
    principal,
    event: delivery?.event ?? null,
    webhook: delivery?.webhook_id ?? null,
    request: {
      query: redactQuery(message.query),
      ...maskMessage(message.request_headers, message.request_body),
    },
    // Status 0: nothing has answered yet.
    response:
      status === 0 ? null : { status, ...maskMessage(message.response_headers, message.response_body) },
  };
}
