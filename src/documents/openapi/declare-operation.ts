import type { ErrorCode } from "../../engine/contract/errors.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { describeAnswer } from "./declare-answer.ts";
import { toBodySpec } from "./declare-body.ts";
import { renderByDocument } from "./error-body.ts";
import type { DescribedOperation, OpenApiReading } from "./list-operations.ts";
import { ParameterReader, readCredential } from "./read-parameters.ts";

/** The part of an operation's declaration that does not depend on a binding. */
export function declareOperation(
  described: DescribedOperation,
  reading: OpenApiReading,
): Omit<AnyOperation, "handle" | "success" | "errors"> & { errors: ErrorCode[] } {
  const { schemas, root } = reading;
  const { id, method, path, node, isPublic } = described;
  const reader = new ParameterReader(schemas, described);
  const keyNames = new Set(described.securitySchemes.map(({ name }) => name));
  const body = toBodySpec(described, schemas);
  const description = toText(node["description"]);
  return {
    id,
    method,
    path,
    section: "own",
    errors: [],
    summary: toText(node["summary"]) ?? `${method} ${path}`,
    ...(description !== undefined && { description }),
    ...(body && { body }),
    ...(isPublic && { credentials: false }),
    ...(described.securitySchemes.length > 0 && {
      readCredential: (sent) => readCredential(sent, described.securitySchemes),
    }),
    readInput({ params, search, headers }) {
      const pathParams = reader.readPath(params);
      const { values, unknown: others } = reader.readQuery(search);
      const unknown = others.filter((name) => !keyNames.has(name));
      return { params: pathParams, query: { ...reader.readHeaders(headers), ...values }, unknown };
    },
    renderError: (error, context) => renderByDocument(error, context, { operation: described, schemas }),
    openapi: {
      operation: { ...node, parameters: described.parameters.map((one) => one.node) },
      document: root,
      answer: (status) => describeAnswer(described, status, reading),
    },
  };
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
