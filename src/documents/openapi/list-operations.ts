import { METHODS, type Method } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import type { DocumentPath, DocumentProblem } from "../../engine/documents/document-error.ts";
import type { UserDocument } from "../../engine/documents/user-document.ts";
import { getOrAdd, getOwn } from "../../engine/maps.ts";
import { checkSchema, hasUselessEnum, isEmptyList } from "./check-schema.ts";
import { DistinctOperations, type NamedOperation, type OtherOperation, toId } from "./distinct-operations.ts";
import { DocumentReport } from "./document-report.ts";
import { MAX_COMBINED, References, type ResolvedNode } from "./references.ts";
import { isPattern, Schemas } from "./schemas.ts";
import { type Place, walk } from "./walk.ts";

/** An operation of a document, with its references followed. */
export interface DescribedOperation extends NamedOperation {
  parameters: readonly DescribedParameter[];
  body: { required: boolean; media: readonly Media[] } | undefined;
  /** By status: `200`, `4XX`, `default`. */
  responses: ReadonlyMap<string, { node: JsonObject; media: readonly Media[] }>;
  /** Whether it can be called without credentials. */
  isPublic: boolean;
  /** Where clients send credentials. */
  securitySchemes: readonly JsonObject[];
}

export interface DescribedParameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required: boolean;
  node: JsonObject;
  /** Undefined if any text is accepted. */
  schema: ResolvedNode<unknown> | undefined;
  /** Whether its value is JSON. */
  isJson: boolean;
}

export interface Media {
  type: string;
  node: JsonObject;
  schema: ResolvedNode<unknown> | undefined;
}

export interface OpenApiReading {
  document: UserDocument;
  root: JsonObject;
  references: References;
  schemas: Schemas;
  operations: readonly DescribedOperation[];
  problems: DocumentProblem[];
  /** Features that are not supported, each once, with its first place. */
  warnings: DocumentProblem[];
}

const MAX_PROBLEMS = 20;

/**
 * Reads and checks an OpenAPI document; `root` is its value.
 * @param others the built-in operations, and those of other documents
 */
export function readOpenApi(
  document: UserDocument,
  root: JsonObject,
  others: readonly OtherOperation[] = [],
): OpenApiReading {
  const reader = new DocumentReader(document, root);
  reader.check();
  const { references, schemas, report } = reader;
  const { problems } = report;
  const operations = problems.length === 0 ? reader.listOperations(others) : [];
  const warnings = report.listWarnings();
  return { document, root, references, schemas, operations, problems, warnings };
}

class DocumentReader {
  readonly references: References;
  readonly schemas: Schemas;
  readonly report: DocumentReport;
  private readonly root: JsonObject;

  constructor(document: UserDocument, root: JsonObject) {
    this.report = new DocumentReport(document);
    this.root = root;
    this.references = new References(root);
    this.schemas = new Schemas(this.references, String(root["openapi"]));
  }

  /** Checks the references and schemas of the whole document, used or not. */
  check(): void {
    const { paths, webhooks } = this.root;
    if (paths !== undefined && !isJsonObject(paths)) this.report.addProblem(["paths"], "paths must be a map");
    if (webhooks !== undefined)
      this.report.warnOfUnsupported("webhooks of the document (send them with `emit`)", ["webhooks"]);
    walk({ kind: "document", node: this.root, path: [] }, (place) => {
      if (this.report.problems.length < MAX_PROBLEMS) this.checkPlace(place);
    });
  }

  private checkPlace({ kind, node, path }: Place): void {
    const isSchema = kind === "schema";
    const { $ref: reference } = node;
    if (reference !== undefined && typeof reference !== "string")
      this.report.addProblem(
        [...path, "$ref"],
        'a reference must be a text such as "#/components/schemas/Tag"',
      );
    if (typeof reference === "string") {
      const problem = this.references.check(node, isSchema);
      if (problem?.isMissing)
        this.report.warnOfMissing(node, [...path, "$ref"], { isSchema, suggestion: problem.hint });
      else if (problem !== undefined)
        this.report.addProblem(
          [...path, "$ref"],
          `the reference ${JSON.stringify(reference)} ${problem.message}`,
          problem,
        );
    }
    if (isSchema) {
      if (this.report.problems.length === 0 && this.references.countCombined(node) > MAX_COMBINED)
        this.report.addProblem(
          path,
          `more than ${MAX_COMBINED} schemas are combined here, each by a reference within another`,
        );
      for (const { key, message } of checkSchema(node)) this.report.addProblem([...path, key], message);
      for (const key of ["allOf", "anyOf", "oneOf"])
        if (isEmptyList(node[key]))
          this.report.warnOfUnsupported("an allOf, anyOf or oneOf without a schema (any value fits it)", [
            ...path,
            key,
          ]);
      if (hasUselessEnum(node))
        this.report.warnOfUnsupported("an enum without a value of its type (any value of the type fits)", [
          ...path,
          "enum",
        ]);
      if (node["pattern"] !== undefined && !isPattern(node["pattern"]))
        this.report.warnOfUnsupported("a pattern that JavaScript cannot read (any text fits)", [
          ...path,
          "pattern",
        ]);
      if (node["$dynamicRef"] !== undefined)
        this.report.warnOfUnsupported("$dynamicRef (any value fits)", [...path, "$dynamicRef"]);
    }
    if (kind !== "operation") return;
    if (node["callbacks"] !== undefined)
      this.report.warnOfUnsupported("callbacks (nothing is called)", [...path, "callbacks"]);
    const method = path.at(-1);
    if (!METHODS.includes(String(method).toUpperCase() as Method))
      this.report.warnOfUnsupported(
        `operations with the method ${String(method).toUpperCase()} (they are not served)`,
        path,
      );
  }

  listOperations(others: readonly OtherOperation[]): DescribedOperation[] {
    const operations: DescribedOperation[] = [];
    const distinct = new DistinctOperations(others, this.report);
    /** The first place of each path of a server that is not used. */
    const reservedPaths = new Map<string, DocumentPath>();
    for (const [path, pathItem] of Object.entries((this.root["paths"] ?? {}) as JsonObject)) {
      if (path.startsWith("x-") || !isJsonObject(pathItem)) continue;
      if (!path.startsWith("/")) {
        this.report.addProblem(["paths", path], `the path ${path} must begin with a slash`, {
          pointsAtKey: true,
        });
        continue;
      }
      const item = this.references.follow({ node: pathItem, path: ["paths", path] });
      const unserved = new Set<string>();
      for (const method of METHODS) {
        const node = item.node[method.toLowerCase()];
        if (!isJsonObject(node)) continue;
        const place = [...item.path, method.toLowerCase()];
        const serverPath = readBase(node, item.node, this.root);
        const isReserved = serverPath.startsWith("/_");
        if (isReserved) getOrAdd(reservedPaths, serverPath, () => ["paths", path]);
        const wholePath = isReserved ? path : serverPath + path;
        const kind = findUnserved(wholePath);
        if (kind !== undefined) {
          unserved.add(kind);
          continue;
        }
        const operation = distinct.add(this.describe({ method, path: wholePath, node, place }, item));
        if (operation !== undefined) operations.push(operation);
      }
      for (const kind of unserved)
        this.report.warnOfUnsupported(`${kind} (they are not served)`, ["paths", path]);
    }
    for (const [path, place] of reservedPaths)
      this.report.warnOfUnsupported(
        `the path ${path} of a server, as paths that begin with /_ are Understudy's own (its operations are served without it)`,
        place,
      );
    return operations;
  }

  private describe(
    { method, path, node, place }: Pick<DescribedOperation, "method" | "path" | "node" | "place">,
    item: ResolvedNode,
  ): DescribedOperation {
    const { operationId, requestBody, responses, security = this.root["security"] } = node;
    const body = isJsonObject(requestBody)
      ? this.references.follow({ node: requestBody, path: [...place, "requestBody"] })
      : undefined;
    const answers = Object.entries(isJsonObject(responses) ? responses : {}).flatMap(([status, response]) => {
      if (!isJsonObject(response) || status.startsWith("x-")) return [];
      const resolved = this.references.follow({ node: response, path: [...place, "responses", status] });
      return [
        [
          status.toUpperCase().replace("DEFAULT", "default"),
          { node: resolved.node, media: this.listMedia(resolved) },
        ] as const,
      ];
    });
    const id = typeof operationId === "string" && operationId !== "" ? operationId : toId(method, path);
    return {
      id,
      idInDocument: id,
      method,
      path,
      node,
      place,
      parameters: this.listParameters(path, { node, path: place }, item),
      body: body && { required: body.node["required"] === true, media: this.listMedia(body) },
      responses: new Map(answers),
      securitySchemes: this.listSecuritySchemes(security),
      isPublic:
        !Array.isArray(security) ||
        security.length === 0 ||
        security.some((one) => isJsonObject(one) && Object.keys(one).length === 0),
    };
  }

  private listSecuritySchemes(security: unknown): JsonObject[] {
    const { securitySchemes } = (this.root["components"] ?? {}) as JsonObject;
    const names = [security].flat().flatMap((one) => (isJsonObject(one) ? Object.keys(one) : []));
    return names.flatMap((name) => {
      const node = isJsonObject(securitySchemes) ? getOwn(securitySchemes, name) : undefined;
      return isJsonObject(node) ? [this.references.follow({ node, path: [] }).node] : [];
    });
  }

  /** Parameters of the operation replace those of its path. Parts of the path that neither describes are texts. */
  private listParameters(path: string, operation: ResolvedNode, item: ResolvedNode): DescribedParameter[] {
    const parameters = new Map<string, DescribedParameter>();
    for (const { node, path: parentPath } of [item, operation]) {
      const entries: unknown[] = Array.isArray(node["parameters"]) ? node["parameters"] : [];
      for (const [index, entry] of entries.entries()) {
        if (!isJsonObject(entry)) continue;
        const parameter = this.references.follow({ node: entry, path: [...parentPath, "parameters", index] });
        if (this.references.isMissing(parameter.node)) continue;
        const { name, in: place } = parameter.node;
        if (place === "querystring") {
          this.report.warnOfUnsupported(
            "a parameter of the whole query string (it is not read)",
            parameter.path,
          );
          continue;
        }
        if (typeof name !== "string" || !["path", "query", "header", "cookie"].includes(place as string)) {
          const message = "a parameter needs a `name`, and `in`: path, query, header or cookie";
          this.report.addProblem(parameter.path, message);
          continue;
        }
        if (place === "path" && !path.includes(`{${name}}`))
          this.report.warnOfUnsupported(
            "path parameters that their path does not have (they are not read)",
            parameter.path,
          );
        else parameters.set(`${String(place)} ${name}`, this.describeParameter(parameter));
      }
    }
    for (const [, name] of path.matchAll(/\{([^{}]+)\}/g))
      if (!parameters.has(`path ${name}`)) {
        const node = { name, in: "path", required: true, schema: { type: "string" } };
        parameters.set(`path ${name}`, this.describeParameter({ node, path: operation.path }));
      }
    return [...parameters.values()];
  }

  private describeParameter({ node, path }: ResolvedNode): DescribedParameter {
    const { name, in: place, required } = node;
    const [media] = this.listMedia({ node, path });
    const schema = findOwnSchema(node, path);
    return {
      name: name as string,
      in: place as DescribedParameter["in"],
      required: required === true || place === "path",
      node,
      schema: schema ?? media?.schema,
      isJson: schema === undefined && media !== undefined && mayBeJson(media.type),
    };
  }

  private listMedia({ node, path }: ResolvedNode): Media[] {
    const { content } = node;
    return Object.entries(isJsonObject(content) ? content : {}).flatMap(([type, entry]) => {
      if (!isJsonObject(entry)) return [];
      const media = this.references.follow({ node: entry, path: [...path, "content", type] });
      const schema = findOwnSchema(media.node, media.path);
      return [{ type: type.toLowerCase(), node: media.node, schema }];
    });
  }
}

/**
 * The path of the first server: what clients have between the host and the paths of the document. The servers of an
 * operation replace those of its path, and these those of the document.
 */
function readBase(...nodes: readonly JsonObject[]): string {
  const lists = nodes.map((node) => node["servers"]);
  const [server] = lists.find((one): one is unknown[] => Array.isArray(one) && one.length > 0) ?? [];
  if (!isJsonObject(server) || typeof server["url"] !== "string") return "";
  const variables = isJsonObject(server["variables"]) ? server["variables"] : {};
  const url = server["url"].replace(/\{([^}]*)\}/g, (_, name: string) => {
    const variable = variables[name];
    return isJsonObject(variable) ? String(variable["default"] ?? "") : "";
  });
  const path = /^(?:[a-z][\w+.-]*:)?\/\/[^/]*(\/[^?#]*)?/i.exec(url)?.[1] ?? (url.startsWith("/") ? url : "");
  return path.replace(/\/+$/, "");
}

/** The schema of a parameter or media type; undefined if its key is missing or empty. */
function findOwnSchema({ schema }: JsonObject, path: DocumentPath): ResolvedNode<unknown> | undefined {
  return schema === undefined || schema === null ? undefined : { node: schema, path: [...path, "schema"] };
}

/** The kind of a path that is not served, for a warning; undefined for one that is served. */
function findUnserved(path: string): string | undefined {
  if (path.startsWith("/_")) return "paths that begin with /_, which are Understudy's own";
  const isMalformed = /[?#{}]/.test(path.replace(/\{[^{}?#]+\}/g, ""));
  return isMalformed ? "paths with a query, a fragment, or braces without a name in them" : undefined;
}

/** Whether content of this media type may be JSON, as with a wildcard type. */
export function mayBeJson(type: string): boolean {
  return /^(application\/([\w.+*-]+\+)?json|text\/json|\*\/\*|application\/\*)\s*(;|$)/.test(type);
}

/** The type that JSON of a described type is sent as: the usual one for a wildcard, and for a type that no header can have. */
export function findJsonType(type: string): string {
  const isUsual = /^application\/json\s*(;|$)/.test(type) || /[*]|[^\x20-\x7e]/.test(type);
  return isUsual ? "application/json" : type;
}
