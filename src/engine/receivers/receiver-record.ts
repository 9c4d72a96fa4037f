import Type from "typebox";
import { collection } from "../state/collection.ts";
import { type ReceiverAnswer, ReceiverAnswers } from "./receiver-answer.ts";

/** A receiver inside the server (interfaces 4). It is part of the world, so that it survives a restart. */
export interface Receiver {
  id: string;
  answers: readonly ReceiverAnswer[];
  /** Null: that of the webhook which the payload names. */
  secret: string | null;
  /** Requests answered with the present list of answers. */
  served: number;
  created_at: number;
}

export const receivers = collection<Receiver>({
  name: "_receivers",
  prefix: "rcv_",
  idField: "id",
  internal: true,
  counted: true,
  schema: Type.Object({
    id: Type.String(),
    answers: ReceiverAnswers,
    secret: Type.Union([Type.String(), Type.Null()]),
    served: Type.Integer({ minimum: 0 }),
    created_at: Type.Integer(),
  }),
  indexes: { newest: { groups: () => [""], order: ({ created_at }) => -created_at } },
});
