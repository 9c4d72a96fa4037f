import type { TSchema } from "typebox";
import { type DescribedAnswer, isBodyless, type Success } from "../../engine/contract/operation.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import type { OperationBinding } from "./binding-schema.ts";
import { findResponse } from "./error-body.ts";
import { findExample, generateValue } from "./generate-value.ts";
import {
  type DescribedOperation,
  findJsonType,
  type Media,
  mayBeJson,
  type OpenApiReading,
} from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";

/** The answer of a success that the document describes. */
export interface DescribedSuccess {
  status: number;
  /** The answer's JSON; undefined if the document describes none. */
  json: Media | undefined;
  /** `json`, else the first media type of the answer. */
  media: Media | undefined;
  node: JsonObject;
}

/** The answer with the binding's status, else the lowest success, else a redirection, else the default answer. */
export function findSuccess(
  { responses }: DescribedOperation,
  binding: Pick<OperationBinding, "status"> = {},
): DescribedSuccess {
  const keys = [...responses.keys()];
  const key =
    keys.find((one) => one === String(binding.status)) ??
    keys.filter((one) => /^2/.test(one)).sort()[0] ??
    keys.filter((one) => /^3/.test(one)).sort()[0] ??
    keys.find((one) => one === "default");
  const response = key === undefined ? undefined : responses.get(key);
  const json = response?.media.find(({ type }) => mayBeJson(type));
  const isEmpty = response !== undefined && response.media.length === 0 && key !== "default";
  const defaultStatus = isEmpty ? 204 : 200;
  const status = key !== undefined && /^\d{3}$/.test(key) ? Number(key) : defaultStatus;
  return { status, json, media: json ?? response?.media[0], node: response?.node ?? {} };
}

/** The answer of a success, as operations declare it. */
export function declareSuccess({ json }: DescribedSuccess, status: number, schemas: Schemas): Success {
  if (isBodyless(status)) return { status };
  const type = json && findJsonType(json.type);
  return {
    status,
    ...(json?.schema && { schema: schemas.toOperationSchema(json.schema.node, "answer") as TSchema }),
    ...(type !== undefined && type !== "application/json" && { json_type: type }),
  };
}

/** The answer that the document describes for a status. A `default` beside a described success is for errors only. */
export function describeAnswer(
  described: DescribedOperation,
  status: number,
  reading: OpenApiReading,
): DescribedAnswer | undefined {
  const response = findResponse(described, status);
  if (response === undefined) return undefined;
  const isDefault = response === described.responses.get("default");
  if (isDefault && status < 400 && findSuccess(described).node !== response.node) return undefined;
  const { schemas } = reading;
  const json = response.media.find(({ type }) => mayBeJson(type));
  const media = json ?? response.media[0];
  return {
    status,
    content_types: response.media.map(({ type }) => type),
    ...(json?.schema && { schema: schemas.toOperationSchema(json.schema.node, "answer") as TSchema }),
    createReply(): ReturnType<DescribedAnswer["createReply"]> {
      const generate = () =>
        status < 400 && json?.schema ? generateValue(schemas, json.schema.node, status) : undefined;
      const example = media && findExample(media.node, reading);
      const body = example ? example.value : generate();
      const type = json ? findJsonType(json.type) : media?.type;
      const isDefaultType = type === undefined || type === "application/json" || type.includes("*");
      if (isBodyless(status) || body === undefined) return { body: undefined, headers: {} };
      return { body, headers: isDefaultType ? {} : { "Content-Type": type } };
    },
  };
}
