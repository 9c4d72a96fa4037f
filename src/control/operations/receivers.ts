import { type Static, Type } from "typebox";
import { findUnsendableHeader } from "../../engine/contract/header-fields.ts";
import { removeWithDependents } from "../../engine/contract/removal.ts";
import { StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject, ListOf, Nullable } from "../../engine/contract/schema.ts";
import { ForwardedAnswer, ForwardedEvent } from "../../engine/receivers/forwarding.ts";
import {
  findUnreadableDelay,
  type Receiver,
  type ReceiverAnswer,
  ReceiverAnswers,
  receivers,
} from "../../engine/receivers/receiver.ts";
import { ReceivedRequestBody } from "../../engine/receivers/simulated-receivers.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { requireRoomAfter } from "../limits.ts";
import {
  type ControlContext,
  type ControlOperation,
  OptionalFlag,
  operation,
  sandboxParams,
  toList,
} from "../operation.ts";
import { Problem, unknownName, unprocessable } from "../problem.ts";

export const ReceiverInput = ClosedObject(
  {
    answers: Type.Optional(ReceiverAnswers),
    secret: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 1000,
          description:
            "The secret that verifies signatures. By default it is the secret of the webhook that the payload names",
        }),
      ),
    ),
    leased: OptionalFlag(
      "Whether the receiver is deleted 5 s after its last client disconnected. Webhooks whose `receiver_id` names it are deleted too",
    ),
  },
  { $id: "ReceiverInput", examples: [{ answers: [500, { status: 200, delay: "200ms" }] }] },
);

export const ReceiverBody = ClosedObject(
  {
    id: Type.String(),
    url: Type.String({ description: "The URL that receives deliveries, as do all paths below it" }),
    answers: ReceiverAnswers,
    has_secret: Type.Boolean({ description: "Whether it has its own secret, which is never shown" }),
    served: Type.Integer({ minimum: 0, description: "Requests answered with the current list of answers" }),
    leased: Type.Optional(Type.Literal(true, { description: "It is deleted with its last client" })),
  },
  {
    $id: "Receiver",
    examples: [
      {
        id: "rcv_1",
        url: "http://127.0.0.1:4747/_receivers/default/rcv_1",
        answers: [200],
        has_secret: false,
        served: 0,
      },
    ],
  },
);

const ReceiverParams = sandboxParams({
  id: Type.String({ description: "The receiver's id", examples: ["rcv_1"] }),
});

export const RECEIVER_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "receivers.create",
    route: "POST /_control/sandboxes/{name}/receivers",
    summary: "Open a webhook receiver inside the server",
    body: { kind: "json", schema: ReceiverInput, optional: true },
    describeChange: (_call, answer) => {
      const { id } = (answer ?? {}) as { id?: string };
      return { title: `The receiver ${id ?? "of the call"} was opened.`, subject: id };
    },
    errors: ["limit-reached"],
    success: { status: 201, schema: ReceiverBody },
    handle(call) {
      const { answers = [200], secret = null, leased = false } = call.body ?? {};
      requireReadableDelays(answers);
      const { world } = call.sandbox;
      const receiver = world.transact((tx) => {
        const id = tx.createNewestFirstId("rcv_");
        const created = tx.insert(receivers, {
          id,
          answers,
          secret,
          served: 0,
          created_at: tx.now,
          ...(leased && { leased }),
        });
        requireRoomAfter(call.server, world, tx);
        return created;
      });
      return renderReceiver(call, receiver);
    },
  }),
  operation({
    id: "receivers.list",
    route: "GET /_control/sandboxes/{name}/receivers",
    summary: "List the sandbox's receivers, newest first",
    success: { status: 200, schema: ListOf(ReceiverBody) },
    handle(call) {
      const all = call.sandbox.world.read().index(receivers, "newest", "");
      return toList([...all].map((receiver) => renderReceiver(call, receiver)));
    },
  }),
  operation({
    id: "receivers.retrieve",
    route: "GET /_control/sandboxes/{name}/receivers/{id}",
    summary: "Show a receiver",
    params: ReceiverParams,
    errors: ["unknown-receiver"],
    success: { status: 200, schema: ReceiverBody },
    handle: (call) => renderReceiver(call, requireReceiver(call, call.sandbox.world.read())),
  }),
  operation({
    id: "receivers.update",
    route: "PATCH /_control/sandboxes/{name}/receivers/{id}",
    summary: "Change a receiver. A new list of answers starts with its first",
    params: ReceiverParams,
    body: { kind: "json", schema: ReceiverInput },
    describeChange: ({ params: { id } }) => ({ title: `The receiver ${id} was changed.`, subject: id }),
    errors: ["unknown-receiver"],
    success: { status: 200, schema: ReceiverBody },
    handle(call) {
      const { answers, secret, leased } = call.body;
      if (answers !== undefined) requireReadableDelays(answers);
      const changed = call.sandbox.world.transact((tx) => {
        const before = requireReceiver(call, tx);
        return tx.put(receivers, {
          ...before,
          ...(answers === undefined ? {} : { answers, served: 0 }),
          ...(secret === undefined ? {} : { secret }),
          ...(leased === undefined ? {} : { leased }),
        });
      });
      return renderReceiver(call, changed);
    },
  }),
  operation({
    id: "receivers.delete",
    route: "DELETE /_control/sandboxes/{name}/receivers/{id}",
    summary: "Close a receiver, and delete the webhooks with its `receiver_id`",
    params: ReceiverParams,
    describeChange: ({ params: { id } }) => ({ title: `The receiver ${id} was closed.`, subject: id }),
    errors: ["unknown-receiver"],
    success: { status: 204 },
    handle(call) {
      call.sandbox.world.transact((tx) => removeWithDependents(tx, receivers, requireReceiver(call, tx).id));
    },
  }),
  operation({
    id: "receivers.requests",
    route: "GET /_control/sandboxes/{name}/receivers/{id}/requests",
    summary: "List a receiver's requests, oldest first, with verdicts on their signatures",
    params: ReceiverParams,
    errors: ["unknown-receiver"],
    success: { status: 200, schema: ListOf(ReceivedRequestBody) },
    handle(call) {
      const { world } = call.sandbox;
      const { id } = requireReceiver(call, world.read());
      return toList(call.server.receivers.listRequests(world, id));
    },
  }),
  operation({
    id: "receivers.follow",
    section: "interfaces 11",
    route: "GET /_control/sandboxes/{name}/receivers/{id}/stream",
    summary:
      "Follow the deliveries of a receiver that has the answer `forward`. Each delivery waits until the next call answers it",
    description:
      "For a receiver that this server cannot reach: the client that follows calls it and answers with `receivers.answer`. Without a client, the receiver answers 503. Deliveries that are not signed for a webhook of the sandbox are not forwarded. If several clients follow, the last to connect gets each delivery.",
    params: ReceiverParams,
    errors: ["unknown-receiver"],
    success: { status: 200, content_types: ["text/event-stream"], events: ForwardedEvent },
    handle(call) {
      const { world } = call.sandbox;
      const { id } = requireReceiver(call, world.read());
      const { forwarding } = call.server.receivers;
      return new StreamBody("text/event-stream", (signal) => forwarding.follow(world, id, signal));
    },
  }),
  operation({
    id: "receivers.answer",
    section: "interfaces 11",
    route: "POST /_control/sandboxes/{name}/receivers/{id}/forwarded/{delivery}",
    summary: "Answer a forwarded delivery",
    params: sandboxParams({
      id: Type.String({ description: "The receiver's id", examples: ["rcv_1"] }),
      delivery: Type.String({ description: "The forwarded delivery's id", examples: ["1b6f0a52"] }),
    }),
    body: { kind: "json", schema: ForwardedAnswer },
    reads: true,
    errors: ["unknown-receiver", "nothing-waits"],
    success: { status: 204 },
    handle(call) {
      const { world } = call.sandbox;
      const { id } = requireReceiver(call, world.read());
      const { status, failure } = call.body;
      if ((status === undefined) === (failure === undefined))
        throw unprocessable("status", status, "or failure must be given, and not both");
      const unsendable = findUnsendableHeader(call.body.headers);
      if (unsendable !== undefined)
        throw unprocessable(
          `headers.${unsendable}`,
          call.body.headers![unsendable],
          "is not a header that HTTP can carry",
        );
      const { delivery } = call.params;
      if (call.server.receivers.forwarding.answer(world, id, delivery, call.body)) return;
      const detail = `No delivery waits for an answer to ${delivery.slice(0, 100)}: it was answered before, or its sender has given up.`;
      throw new Problem("nothing-waits", { detail, value: delivery });
    },
  }),
];

/** Shows whether the receiver has its own secret, but never the secret. */
function renderReceiver(
  { sandbox, site }: Pick<ControlContext, "sandbox" | "site">,
  receiver: Receiver,
): Static<typeof ReceiverBody> {
  const { id, answers, secret, served, leased } = receiver;
  return {
    id,
    url: `${site.url}/_receivers/${sandbox.name}/${id}`,
    answers: [...answers],
    has_secret: secret !== null,
    served,
    ...(leased && { leased }),
  };
}

function requireReceiver({ params: { id } }: { params: { id: string } }, tx: Transaction): Receiver {
  const receiver = tx.get(receivers, id);
  if (receiver !== undefined) return receiver;
  const ids = [...tx.index(receivers, "newest", "").page(0, 1000)].map((one) => one.id);
  throw unknownName("receiver", id, ids);
}

function requireReadableDelays(answers: readonly ReceiverAnswer[]): void {
  const position = findUnreadableDelay(answers);
  if (position === undefined) return;
  const { delay } = answers[position] as { delay: unknown };
  throw unprocessable(`answers[${position}].delay`, delay, "must be a duration such as 200ms");
}
