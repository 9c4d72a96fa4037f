import type { ValidateFunction } from "ajv";
import type { AnyDeclaration } from "../../../src/engine/contract/operation.ts";
import { makeAjv } from "../../../src/engine/contract/validator.ts";

/** The validated parts of a response. */
export interface CheckedAnswer {
  status: number;
  headers: Headers;
  text: string;
}

interface Media {
  schema?: object;
}
interface DocumentedResponse {
  headers?: Record<string, object>;
  content?: Record<string, Media>;
}

/** Headers of the transport, of CORS or of the media type, which no operation documents. */
const TRANSPORT = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
]);

/** Compares responses with what an OpenAPI document promises for their operations. */
export class AnswerValidator {
  // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON
  private readonly document: any;
  private readonly ajv = makeAjv({ allErrors: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(document: object) {
    this.document = document;
    this.ajv.addSchema(document, "document:/");
  }

  /** Lists the differences; empty if the response is as documented. */
  problems(
    { id, path, method }: Pick<AnyDeclaration, "id" | "path" | "method">,
    answer: CheckedAnswer,
  ): string[] {
    const verb = method.toLowerCase();
    const written = this.document.paths[path]?.[verb]?.responses?.[answer.status];
    if (written === undefined) return [`${id} does not document status ${answer.status}: ${answer.text}`];
    const name = written.$ref?.split("/").at(-1);
    const place = name
      ? ["components", "responses", name]
      : ["paths", path, verb, "responses", String(answer.status)];
    const response: DocumentedResponse = name ? this.document.components.responses[name] : written;
    return [...this.bodyProblems(response, place, answer), ...this.headerProblems(response, place, answer)];
  }

  private bodyProblems(
    { content = {} }: DocumentedResponse,
    place: string[],
    answer: CheckedAnswer,
  ): string[] {
    const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
    if (Object.keys(content).length === 0) {
      return answer.text === "" ? [] : [`a body where none is documented: ${answer.text.slice(0, 200)}`];
    }
    const media = content[type];
    if (media === undefined) return [`content type ${type} is not among ${Object.keys(content).join(", ")}`];
    if (!type.endsWith("json") || media.schema === undefined) return [];
    const validate = this.validatorAt([...place, "content", type, "schema"]);
    if (validate(JSON.parse(answer.text))) return [];
    return validate.errors!.map(
      ({ instancePath, message }) => `body${instancePath} ${message}: ${answer.text.slice(0, 300)}`,
    );
  }

  private headerProblems(
    { headers: documented = {} }: DocumentedResponse,
    place: string[],
    { headers }: CheckedAnswer,
  ): string[] {
    const names = new Map(Object.keys(documented).map((name) => [name.toLowerCase(), name]));
    const problems: string[] = [];
    for (const [name, value] of headers) {
      if (TRANSPORT.has(name) || name.startsWith("access-control-")) continue;
      const written = names.get(name);
      if (written === undefined) problems.push(`header ${name} is not documented`);
      else problems.push(...this.valueProblems(documented[written]!, [...place, "headers", written], value));
    }
    return problems;
  }

  private valueProblems(header: object, place: string[], text: string): string[] {
    const reference = (header as { $ref?: string }).$ref;
    const resolved = reference ? reference.slice("#/".length).split("/") : place;
    const validate = this.validatorAt([...resolved, "schema"]);
    if (validate(text) || (/^-?\d+$/.test(text) && validate(Number(text)))) return [];
    return [`header ${place.at(-1)} has the value ${text}: ${validate.errors![0]!.message}`];
  }

  private validatorAt(place: readonly string[]): ValidateFunction {
    const pointer = place
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    let validate = this.compiled.get(pointer);
    if (validate === undefined) {
      validate = this.ajv.compile({ $ref: `document:/#/${pointer}` });
      this.compiled.set(pointer, validate);
    }
    return validate;
  }
}
