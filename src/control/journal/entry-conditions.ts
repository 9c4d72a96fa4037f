import Type from "typebox";
import { typed } from "../../engine/contract/schema.ts";

const Status = typed(
  "StatusPattern",
  Type.Unsafe<string | number>({
    type: ["string", "integer"],
    pattern: "^[1-5](\\d\\d|xx|XX)$",
    minimum: 100,
    maximum: 599,
    title: "a status such as 404, or a class such as 4xx",
    description: "A status such as 404, or a class such as `4xx`",
  }),
);
export const Text = (description: string, type = "string") =>
  Type.Optional(typed(type, Type.String({ minLength: 1, description })));

export const conditions = {
  operation: Text("An operation id, or a glob of them", "OperationPattern"),
  status: Type.Optional(Status),
  code: Text("A code of the catalogue", "ErrorCode"),
  method: Text("In any case"),
  path: Text("A glob of paths, without sandbox prefix and query"),
};

/** Of attempts to deliver (interfaces 14). */
export const delivered = {
  event: Text("Of deliveries: an event name, or a glob of them", "EventPattern"),
  webhook: Text("Of deliveries: the id of the webhook"),
};
