import fc from "fast-check";
import type { AnyOperation } from "../../../src/engine/contract/operation.ts";
import { type Caller, KEYS } from "../harness.ts";
import { breakValue, HOSTILE_TEXTS, hostileJson, type Schema, Values } from "./values.ts";

/** One request as bytes, so that a failing case is complete. */
export interface FuzzedRequest {
  method: string;
  /** The path of the operation that the request is generated for. */
  template: string;
  target: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  schema: Schema;
}
interface DocumentedOperation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const BOUNDARY = "fuzz-boundary";
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND"];
const SEGMENTS = ["%", "%zz", "%ff", "%00", "%2f", "%2e%2e", "..", ".", "", "a;b=c", "*"];

/** Values that are created before each request, for operations that continue an earlier one. */
export interface Prepared {
  upload_id: string;
  refresh_token: string;
  gcs_path: string;
}

/** Generates requests for the operations of an OpenAPI document. Most are valid; others have one or more errors. */
export function generateRequests(
  // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON
  document: any,
  operations: readonly AnyOperation[],
  prepared: Prepared,
): fc.Arbitrary<FuzzedRequest> {
  const values = new Values(document.components.schemas);
  return fc.oneof(
    ...operations.map((operation) => {
      const described = document.paths[operation.path][operation.method.toLowerCase()] as DocumentedOperation;
      return generateRequest({ operation, described, values, prepared });
    }),
  );
}

interface Source {
  operation: AnyOperation;
  described: DocumentedOperation;
  values: Values;
  prepared: Prepared;
}

function generateRequest(source: Source): fc.Arbitrary<FuzzedRequest> {
  const { operation, described } = source;
  const parameters = described.parameters ?? [];
  return fc
    .record({
      method: makeMostly(operation.method, fc.constantFrom(...METHODS)),
      path: fc.record(
        Object.fromEntries(
          filterByPlace(parameters, "path").map((one) => [one.name, generateSegment(one, source)]),
        ),
      ),
      query: generateQuery(filterByPlace(parameters, "query"), source),
      who: generateCaller(),
      headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, generateOddHeaders()),
      content: generateContent(source),
    })
    .map(({ method, path, query, who, headers, content }) => ({
      method,
      template: operation.path,
      target:
        operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name]!) +
        (query ? `?${query}` : ""),
      headers: { ...who, ...content.headers, ...headers },
      body: content.body,
    }));
}

const filterByPlace = (parameters: readonly Parameter[], place: Parameter["in"]) =>
  parameters.filter((parameter) => parameter.in === place);

/** The usual value in nine of ten cases. */
function makeMostly<T>(usual: T, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, odd);
}

/** Encodes a text. Goes through bytes, which replaces lone surrogates: these cannot be encoded. */
const encodeText = (text: unknown) => encodeURIComponent(Buffer.from(String(text)).toString());

function generateSegment({ name, schema }: Parameter, { values }: Source): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: values.fitting(schema, name).map(encodeText) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map(encodeText) },
    { weight: 1, arbitrary: fc.constantFrom(...SEGMENTS) },
  );
}

function generateQuery(parameters: readonly Parameter[], { values, prepared }: Source): fc.Arbitrary<string> {
  const pairs = parameters.map(({ name, schema, required }) => {
    const good = name === "upload_id" ? fc.constant(prepared.upload_id) : values.fitting(schema, name);
    const pair = fc.oneof(
      { weight: 8, arbitrary: good.map((value) => `${name}=${encodeText(value)}`) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map((text) => `${name}=${encodeText(text)}`),
      },
      { weight: 1, arbitrary: fc.constantFrom(`${name}=%`, `${name}=%ff`, name, `${name}=1&${name}=2`) },
    );
    return required ? pair : fc.option(pair, { nil: "", freq: 1 });
  });
  const extra = makeMostly(
    "",
    fc.constantFrom("surprise=1", "__proto__=1", "a[b]=c", "=", "&&", "limit[]=1"),
  );
  return fc.tuple(...pairs, extra).map((found) => found.filter((pair) => pair !== "").join("&"));
}

function generateCaller(): fc.Arbitrary<Record<string, string>> {
  const makeKeyHeader = (who: Caller) => ({ "api-key": KEYS[who] });
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom(
        makeKeyHeader("ada"),
        makeKeyHeader("dan"),
        makeKeyHeader("cleo"),
        makeKeyHeader("ben"),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        makeKeyHeader("eve"),
        makeKeyHeader("finn"),
        makeKeyHeader("ci"),
        makeKeyHeader("expired"),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { authorization: `Bearer ${KEYS.dan}` },
        { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c3JfYWRhIn0." },
        { authorization: "Basic YTpi" },
        { "x-api-key": "ak_", authorization: `Bearer ${KEYS.ada}` },
        { "api-key": "\u00ff\u00fe" },
      ),
    },
  );
}

function generateOddHeaders(): fc.Arbitrary<Record<string, string>> {
  return fc.constantFrom<Record<string, string>>(
    { "if-none-match": '*, W/"x", "' },
    { "if-none-match": "*" },
    { "last-event-id": "99999999999999999999" },
    { "last-event-id": "-1" },
    { "content-range": "bytes 0-4/12" },
    { "content-range": "bytes */*" },
    { "content-range": "bytes 5-1/0" },
    { "content-range": "bytes 99999999999999-99999999999999/999999999999999" },
    { prefer: "respond-async" },
    { accept: "text/html;q=0", "accept-encoding": "br" },
    { "x-forwarded-for": "127.0.0.1", "x-http-method-override": "DELETE" },
    { "content-encoding": "gzip" },
    { origin: "null" },
    { cookie: "__proto__=1", "x-request-id": "mine" },
    { expect: "200-ok" },
  );
}

type Content = { headers: Record<string, string>; body: Buffer | undefined };
const NO_CONTENT: Content = { headers: {}, body: undefined };

function generateContent(source: Source): fc.Arbitrary<Content> {
  const content = source.described.requestBody?.content ?? {};
  const [[type, media] = []] = Object.entries(content);
  const garbage = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
  if (type === undefined || media === undefined) return fc.constant(NO_CONTENT);
  const good =
    type === "application/json"
      ? generateJsonContent(media.schema, source)
      : type === "multipart/form-data"
        ? generateFormContent(media.schema, source)
        : fc.constantFrom("twelve bytes", "twelve", "", "far more than twelve bytes").map((text) => ({
            headers: { "content-type": "text/plain" },
            body: Buffer.from(text),
          }));
  return fc.oneof(
    { weight: 20, arbitrary: good },
    { weight: 1, arbitrary: garbage.map((body) => ({ headers: { "content-type": type }, body })) },
    { weight: 1, arbitrary: good.map(({ body }) => ({ headers: { "content-type": "text/plain" }, body })) },
    { weight: 1, arbitrary: good.map(({ headers, body }) => ({ headers, body: body?.subarray(0, -3) })) },
    { weight: 1, arbitrary: fc.constant(NO_CONTENT) },
  );
}

function generateJsonContent(schema: Schema, { values, prepared }: Source): fc.Arbitrary<Content> {
  const good = values.fitting(schema).map((value) => withPrepared(value, prepared));
  return fc
    .oneof(
      { weight: 5, arbitrary: good },
      { weight: 4, arbitrary: good.chain(breakValue) },
      { weight: 1, arbitrary: hostileJson },
    )
    .map((value) => ({
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(value)),
    }));
}

function withPrepared(value: unknown, { refresh_token, gcs_path }: Prepared): unknown {
  const fields = value as Record<string, unknown>;
  if ("refresh_token" in fields) return { ...fields, refresh_token };
  if ("gcs_path" in fields) return { filename: "ready.txt", file_size: 5, mime_type: "text/plain", gcs_path };
  return value;
}

/** The smallest PNG: one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function generateFormContent(
  { properties = {}, required = [] }: Schema,
  { values }: Source,
): fc.Arbitrary<Content> {
  const parts = Object.entries(properties).map(([name, schema]) => {
    const part =
      schema.format === "binary" ? generateFilePart(name) : generateFieldPart(name, schema, values);
    return fc.oneof(
      { weight: required.includes(name) ? 12 : 1, arbitrary: part },
      { weight: required.includes(name) ? 1 : 4, arbitrary: fc.constant("") },
    );
  });
  const surprise = makeMostly(
    "",
    fc.constantFrom(writePart("surprise", "1"), writePart("__proto__", "1"), "--\r\n"),
  );
  return fc.tuple(...parts, surprise).map((found) => ({
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    body: Buffer.from(`${found.join("")}--${BOUNDARY}--\r\n`, "latin1"),
  }));
}

function generateFieldPart(name: string, schema: Schema, values: Values): fc.Arbitrary<string> {
  return fc
    .oneof(
      { weight: 6, arbitrary: values.fitting(schema, name).map(String) },
      fc.constantFrom(...HOSTILE_TEXTS),
    )
    .map((text) => writePart(name, Buffer.from(text).toString("latin1")));
}

function generateFilePart(name: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(PIXEL) },
        fc.constantFrom(PIXEL.subarray(0, 40), Buffer.alloc(0)),
      ),
      makeMostly("image/png", fc.constantFrom("text/plain", "image/svg+xml", "")),
      makeMostly("a.png", fc.constantFrom("../../a", "", "\u0000", 'a"b', "\u00e9".repeat(300))),
    )
    .map(([bytes, type, filename]) =>
      writePart(name, bytes.toString("latin1"), `; filename="${filename}"\r\nContent-Type: ${type}`),
    );
}

function writePart(name: string, content: string, rest = ""): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n${content}\r\n`;
}
