import { Type } from "typebox";
import { StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject } from "../../engine/contract/schema.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import type { ReleaseDocument } from "../../engine/faults/check-rule.ts";
import { EFFECT_KEYS } from "../../engine/faults/effects/index.ts";
import type { HeldExchanges } from "../../engine/sandbox/held.ts";
import { HeldList, renderHeld } from "../journal/render-held.ts";
import { type ControlOperation, operation, sandboxParams, toList } from "../operation.ts";
import { Problem, quoteWord, toDocumentProblem } from "../problem.ts";
import { waitForChange } from "../stream-entries.ts";

const { status, headers, body, error, details, wire, over } = EFFECT_KEYS;

/** With an empty object, the request or delivery continues as if it had not been held. */
export const ReleaseInput = Type.Unsafe<ReleaseDocument>(
  ClosedObject(
    {
      answer: Type.Optional(
        ClosedObject(
          { status: Type.Optional(status!), headers: Type.Optional(headers!), body: Type.Optional(body!) },
          {
            minProperties: 1,
            description:
              "The answer to send. For a delivery, give only `status`, which stands for the receiver's",
          },
        ),
      ),
      error: Type.Optional(error!),
      details: Type.Optional(details!),
      wire: Type.Optional(wire!),
      over: Type.Optional(over!),
    },
    { $id: "ReleaseInput", examples: [{ answer: { status: 200, body: { data: [] } } }] },
  ),
);

export const HELD_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "held.list",
    section: "interfaces 20",
    route: "GET /_control/sandboxes/{name}/held",
    summary: "List requests and deliveries that a rule holds, oldest first",
    success: { status: 200, schema: HeldList },
    handle({ sandbox: { held } }) {
      return toList(held.list().map(renderHeld));
    },
  }),
  operation({
    id: "held.stream",
    section: "interfaces 20",
    route: "GET /_control/sandboxes/{name}/held/stream",
    summary: "Follow the list of held requests and deliveries. It is sent at once, and after each change",
    success: { status: 200, content_types: ["text/event-stream"], events: HeldList },
    handle({ sandbox: { held } }) {
      return new StreamBody("text/event-stream", (signal) => streamHeld(held, signal));
    },
  }),
  operation({
    id: "held.release",
    section: "interfaces 20",
    route: "POST /_control/sandboxes/{name}/held/{id}/release",
    summary: "Release a held request or delivery. It continues, or gets the given answer",
    description:
      "Without a body, the request or delivery continues. `answer`, `error` and `wire` are like those of a rule's effect. They replace the answer of the operation or receiver. If the request was held before its operation ran, it then changes nothing.",
    params: sandboxParams({ id: Type.String({ description: "The id in the list", examples: ["held_1"] }) }),
    body: { kind: "json", schema: ReleaseInput, optional: true },
    errors: ["unknown-held", "already-released", "invalid-document"],
    success: { status: 204 },
    async handle({ params: { id }, body: release = {}, sandbox }) {
      const { held } = sandbox;
      const exchange = held.find(id);
      if (exchange === undefined) throw createNotHeldProblem(held, id);
      try {
        if (!(await exchange.release(release))) throw createNotHeldProblem(held, id);
      } catch (thrown) {
        throw thrown instanceof DocumentError ? toDocumentProblem(thrown, toReleaseField) : thrown;
      }
    },
  }),
];

/** The body is checked as a rule's effect; this converts the path of a field in the effect to its path in the body. */
function toReleaseField(field: string): string {
  return field.replace(/^effect\.(?=status|headers|body)/, "answer.").replace(/^effect\./, "");
}

async function* streamHeld(held: HeldExchanges, signal: AbortSignal): AsyncIterable<string> {
  while (!signal.aborted) {
    const { revision } = held;
    yield `id: ${revision}\ndata: ${JSON.stringify(toList(held.list().map(renderHeld)))}\n\n`;
    if (held.isClosed) return;
    // The list may have changed while the reader was slow.
    if (revision === held.revision) await waitForChange([held], signal);
  }
}

function createNotHeldProblem(held: HeldExchanges, id: string): Problem {
  if (held.wasReleased(id))
    return new Problem("already-released", {
      detail: `${quoteWord(id)} is no longer held: a call released it, its timeout was over, or its client left. Its journal entry says which.`,
      value: id,
    });
  const heldIds = held.list().map((one) => one.id);
  return new Problem("unknown-held", {
    detail: `There is no held request or delivery ${quoteWord(id)}; held at the moment: ${heldIds.join(", ") || "none"}.`,
    value: id,
  });
}
