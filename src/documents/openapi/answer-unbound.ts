import type { AnyOperation, Call } from "../../engine/contract/operation.ts";
import { RawBody, Reply } from "../../engine/contract/reply.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { hash32 } from "../../engine/state/random.ts";
import { declareOperation, findSuccess } from "./declare-operation.ts";
import { findExample, generateValue } from "./generate-value.ts";
import type { DescribedOperation, ReadOpenApi } from "./list-operations.ts";

/** An operation without a binding: it answers its example, else a value that its schema describes. */
export function answerUnbound(described: DescribedOperation, reading: ReadOpenApi): AnyOperation {
  const { references, schemas } = reading;
  const { status, json, media, node } = findSuccess(described);
  const headers = toHeaders(node, reading);
  const chosen = json ?? media;
  const example =
    chosen && findExample(chosen.node, schemas, (one) => references.follow({ node: one, path: [] }).node);
  const reply = (body: unknown, decision: string) => new Reply(status, body, headers, decision);
  const handle = ({ world, params }: Call) => {
    if (chosen === undefined) return reply(undefined, "generated");
    if (example !== undefined) return reply(toBody(example.value, json, chosen.type), "example");
    // The same request has the same answer; another request has another.
    const seed = hash32(`${world.seed} ${described.id} ${JSON.stringify(params)}`);
    const value = chosen.schema === undefined ? {} : generateValue(schemas, chosen.schema.node, seed);
    return reply(toBody(value, json, chosen.type), "generated");
  };
  return {
    ...declareOperation(described, reading),
    success: { status, ...(json?.schema && { schema: schemas.declare(json.schema, "answer") }) },
    // An example is the author's, and may not fit its own schema.
    check: false,
    reads: true,
    handle,
  } as AnyOperation;
}

function toBody(value: unknown, json: object | undefined, type: string): unknown {
  if (json !== undefined) return value;
  return new RawBody(
    type.includes("*") ? "application/octet-stream" : type,
    typeof value === "string" ? value : "",
  );
}

/** The headers of the answer that have an example. */
function toHeaders({ headers }: JsonObject, { references, schemas }: ReadOpenApi): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, header] of Object.entries((headers ?? {}) as JsonObject)) {
    const { node } = references.follow({ node: header as JsonObject, path: [] });
    const keywords = schemas.mergeKeywords(node["schema"]);
    const value = node["example"] ?? keywords["example"] ?? keywords["default"];
    if (["string", "number", "boolean"].includes(typeof value) && !/^content-(type|length)$/i.test(name))
      values[name] = String(value);
  }
  return values;
}
