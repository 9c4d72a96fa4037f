import type { TSchema } from "typebox";
import { findInvalidField } from "../../engine/contract/invalid-field.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { diagnose } from "../../engine/documents/check-document.ts";
import { addDefaults, readQuery } from "../../engine/pipeline/read-query.ts";
import { isMasked } from "./check-answer.ts";
import type { Exchange } from "./target.ts";

/** Names of the fields of a request that its declaration does not allow (G08). */
export function listMalformedFields({
  operation,
  path,
  sent,
}: Pick<Exchange, "operation" | "path" | "sent">): string[] {
  const { params, query, body } = operation!;
  const { search } = new URL(path, "http://localhost");
  const checkedBody = body?.kind === "json" && body.validated === undefined ? sent.body : undefined;
  return [
    ...listInvalidFields(params, sent.params),
    ...listInvalidFields(query, readQuery(query, search, { unknown: "drop", outOfRange: "reject" })),
    ...(checkedBody === undefined
      ? []
      : listInvalidFields((body as { schema: TSchema }).schema, checkedBody)),
  ];
}

function listInvalidFields(schema: TSchema | undefined, value: unknown): string[] {
  if (schema === undefined) return [];
  const validate = toValidator(schema);
  const valueWithDefaults = addDefaults(schema, value, "reject");
  if (validate(valueWithDefaults)) return [];
  return diagnose(valueWithDefaults, validate)
    .filter(({ data }) => !isMasked(data))
    .map((error) => findInvalidField(valueWithDefaults, [error]).field);
}
