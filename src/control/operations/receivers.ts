import Type, { type Static } from "typebox";
import { noContent } from "../../contract/operation.ts";
import { type ReceiverAnswer, ReceiverAnswers, unreadableDelay } from "../../receivers/receiver-answer.ts";
import { type Receiver, receivers } from "../../receivers/receiver-record.ts";
import type { Transaction } from "../../state/transaction.ts";
import { requireRoomAfter } from "../limits.ts";
import { type AnyControlOperation, type ControlCall, controlOperation, S } from "../operation.ts";
import { unknownName, unprocessable } from "../problem.ts";

const ReceiverInput = Type.Object(
  {
    answers: Type.Optional(ReceiverAnswers),
    secret: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()])),
  },
  { additionalProperties: false },
);
type ReceiverInput = Static<typeof ReceiverInput>;

export const createReceiver = controlOperation({
  id: "receivers.create",
  method: "POST",
  path: `${S}/receivers`,
  summary: "Open a webhook receiver inside the server",
  status: 201,
  body: { schema: ReceiverInput, optional: true },
  handle(call) {
    const { answers = [200], secret = null } = call.body ?? {};
    requireReadable(answers);
    const { world } = call.sandbox;
    const receiver = world.transact((tx) => {
      const id = tx.newestFirstId("rcv_");
      const made = tx.insert(receivers, { id, answers, secret, served: 0, created_at: tx.now });
      requireRoomAfter(call.server, world, tx);
      return made;
    });
    return present(call, receiver);
  },
});

export const listReceivers = controlOperation({
  id: "receivers.list",
  method: "GET",
  path: `${S}/receivers`,
  summary: "List the sandbox's receivers, newest first",
  handle(call) {
    const all = call.sandbox.world.read().index(receivers, "newest", "");
    return { items: [...all].map((receiver) => present(call, receiver)), total: all.size };
  },
});

export const retrieveReceiver = controlOperation({
  id: "receivers.retrieve",
  method: "GET",
  path: `${S}/receivers/{id}`,
  summary: "Show a receiver",
  handle: (call) => present(call, requireReceiver(call, call.sandbox.world.read())),
});

export const updateReceiver = controlOperation({
  id: "receivers.update",
  method: "PATCH",
  path: `${S}/receivers/{id}`,
  summary: "Change a receiver; a new list of answers begins with its first",
  body: { schema: ReceiverInput },
  handle(call) {
    const { answers, secret } = call.body as ReceiverInput;
    if (answers !== undefined) requireReadable(answers);
    const changed = call.sandbox.world.transact((tx) => {
      const before = requireReceiver(call, tx);
      return tx.put(receivers, {
        ...before,
        ...(answers === undefined ? {} : { answers, served: 0 }),
        ...(secret === undefined ? {} : { secret }),
      });
    });
    return present(call, changed);
  },
});

export const deleteReceiver = controlOperation({
  id: "receivers.delete",
  method: "DELETE",
  path: `${S}/receivers/{id}`,
  summary: "Close a receiver",
  handle(call) {
    call.sandbox.world.transact((tx) => tx.remove(receivers, requireReceiver(call, tx).id));
    return noContent();
  },
});

export const listReceivedRequests = controlOperation({
  id: "receivers.requests",
  method: "GET",
  path: `${S}/receivers/{id}/requests`,
  summary: "List what reached a receiver, in that order, with the verdict on each signature",
  handle(call) {
    const { world } = call.sandbox;
    const { id } = requireReceiver(call, world.read());
    const items = call.server.receivers.requests(world, id);
    return { items, total: items.length };
  },
});

export const RECEIVER_OPERATIONS: readonly AnyControlOperation[] = [
  createReceiver,
  listReceivers,
  retrieveReceiver,
  updateReceiver,
  deleteReceiver,
  listReceivedRequests,
];

/** A secret is never shown again; only whether the receiver has one of its own. */
function present({ sandbox, origin }: Pick<ControlCall, "sandbox" | "origin">, receiver: Receiver) {
  const { id, answers, secret, served } = receiver;
  return {
    id,
    url: `${origin}/_receivers/${sandbox.name}/${id}`,
    answers,
    has_secret: secret !== null,
    served,
  };
}

function requireReceiver({ params }: Pick<ControlCall, "params">, tx: Transaction): Receiver {
  const { id } = params as { id: string };
  const receiver = tx.get(receivers, id);
  if (receiver !== undefined) return receiver;
  const known = [...tx.index(receivers, "newest", "").page(0, 1000)].map((one) => one.id);
  throw unknownName("receiver", id, known);
}

function requireReadable(answers: readonly ReceiverAnswer[]): void {
  const position = unreadableDelay(answers);
  if (position === undefined) return;
  const { delay } = answers[position] as { delay: unknown };
  throw unprocessable(`answers[${position}].delay`, delay, "must be a duration such as 200ms");
}
