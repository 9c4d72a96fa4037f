import type { Api } from "../../engine/contract/api.ts";
import { type AnyEvent, aboutRecords, event } from "../../engine/contract/event.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { isInternal } from "../../engine/contract/public-view.ts";
import type { Reference } from "../../engine/contract/references.ts";
import { nearest } from "../../engine/contract/text.ts";
import {
  DocumentError,
  type DocumentPath,
  type DocumentProblem,
} from "../../engine/documents/document-error.ts";
import { problemAt, type UserDocument } from "../../engine/documents/read-document.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { answerUnbound } from "./answer-unbound.ts";
import { bindOperation, findPlaces, listPathNames } from "./bind-operation.ts";
import { type CollectionBinding, getAction, type OperationBinding } from "./binding-schema.ts";
import { chooseMedia, findSuccess, listFileParts, listUnreadBodies } from "./declare-operation.ts";
import { inferPairs } from "./infer-bindings.ts";
import {
  type DescribedOperation,
  describeUnsupported,
  type ReadOpenApi,
  readOpenApi,
} from "./list-operations.ts";
import { isJson, requireOpenApi } from "./open-document.ts";
import { type CollectionSpec, toCollection } from "./own-collection.ts";
import { type Given, placed, type ReadBindings, readBindings } from "./read-bindings.ts";
import { Target } from "./target.ts";
import { listKnown, listUnknown } from "./templates.ts";

export interface CompiledDocument {
  collections: AnyCollection[];
  operations: AnyOperation[];
  events: AnyEvent[];
  warnings: DocumentProblem[];
}

/** The declarations that a document may name: the reference's, and those of other files. */
export type KnownDeclarations = Pick<Api, "resources" | "events">;

/**
 * An OpenAPI document with its bindings as declarations.
 * @throws DocumentError
 */
export function compileDocument(
  document: UserDocument,
  { bindings: file, known }: { bindings?: UserDocument | undefined; known: KnownDeclarations },
): CompiledDocument {
  const reading = readOpenApi(document, requireOpenApi(document));
  refuse(reading.problems, document);
  const bindings = readBindings(reading, file);
  refuse(bindings.problems, document, file);
  const compiling = new Compiling(reading, bindings, known);
  const compiled = compiling.compile();
  refuse(compiling.problems, document, file);
  return compiled;
}

function refuse(problems: readonly DocumentProblem[], ...documents: (UserDocument | undefined)[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const isOne = problems.every(({ file }) => file === first.file);
  throw new DocumentError(
    problems,
    isOne ? documents.find((one) => one?.file === first.file)?.text : undefined,
  );
}

class Compiling {
  readonly problems: DocumentProblem[] = [];
  private readonly reading: ReadOpenApi;
  private readonly bindings: ReadBindings;
  private readonly known: KnownDeclarations;
  private readonly targets = new Map<string, Target>();
  private readonly events = new Map<string, AnyEvent>();
  private readonly own: AnyCollection[] = [];
  /** Bindings that no one wrote: their answers need not fit, since documents contradict themselves. */
  private readonly inferred = new Set<Given<OperationBinding>>();
  private readonly warnings: DocumentProblem[];

  constructor(reading: ReadOpenApi, bindings: ReadBindings, known: KnownDeclarations) {
    this.reading = reading;
    this.bindings = bindings;
    this.known = known;
    this.warnings = [...reading.warnings];
  }

  compile(): CompiledDocument {
    const { operations: described } = this.reading;
    const bound = new Map<DescribedOperation, Given<OperationBinding>>();
    for (const operation of described) {
      const given = this.bindings.operations.get(operation.id);
      if (given !== undefined) bound.set(operation, given);
    }
    this.inferOthers(bound);
    for (const [name, given] of this.bindings.collections) this.addDeclared(name, given);
    for (const [operation, given] of bound) this.check(operation, given);
    if (this.problems.length > 0) return { collections: [], operations: [], events: [], warnings: [] };
    const context = {
      reading: this.reading,
      target: (name: string) => this.findTarget(name)!,
      event: (name: string) => this.events.get(name),
    };
    const operations = described.map((operation) => {
      const given = bound.get(operation);
      return given === undefined
        ? answerUnbound(operation, this.reading)
        : {
            ...bindOperation(operation, given.value, context),
            ...(this.inferred.has(given) && { check: false as const }),
          };
    });
    this.warnOfBodies(described);
    const events = [...this.events.values()].filter((one) => !this.known.events.includes(one));
    return { collections: this.own, operations, events, warnings: this.warnings };
  }

  /** Each kind of body once, with its first place. */
  private warnOfBodies(described: readonly DescribedOperation[]): void {
    const { schemas, document } = this.reading;
    const found = new Map<string, { path: DocumentPath; count: number }>();
    for (const operation of described)
      for (const { feature, path } of listUnreadBodies(operation, schemas)) {
        const known = found.get(feature);
        if (known === undefined) found.set(feature, { path, count: 1 });
        else known.count += 1;
      }
    for (const [feature, { path, count }] of found)
      this.warnings.push(problemAt(document, { path, message: describeUnsupported(feature, count) }));
  }

  /** Pairs of paths that need no binding; those of an operation with one are left to it. */
  private inferOthers(bound: Map<DescribedOperation, Given<OperationBinding>>): void {
    const { operations, schemas, document } = this.reading;
    const byId = new Map(operations.map((operation) => [operation.id, operation]));
    for (const { collection: name, schema, idField, bindings } of inferPairs({ operations, schemas })) {
      const open = [...bindings].filter(([id]) => !bound.has(byId.get(id)!));
      if (open.length === 0) continue;
      const present = this.findTarget(name);
      if (present !== undefined && present.spec === undefined && !this.agrees(present, schema)) {
        const path = byId.get(open[0]![0])!.place;
        const message = `${name} is a collection of the reference with another schema, so that ${open.map(([id]) => id).join(", ")} answer examples; bind them to a collection of another name`;
        this.warnings.push(problemAt(document, { path, message }));
        continue;
      }
      if (present === undefined && !this.bindings.collections.has(name)) {
        if (!/^[a-z][a-z0-9_]*$/.test(name)) continue;
        this.addOwn({
          name,
          schema,
          idField,
          prefix: undefined,
          belongs_to: {},
          soft: undefined,
          files: false,
        });
      }
      for (const [id, value] of open) {
        const operation = byId.get(id)!;
        const given = { value, path: operation.place, document };
        this.inferred.add(given);
        bound.set(operation, given);
      }
    }
  }

  /** Whether the fields that both have are of the same types. */
  private agrees({ collection }: Target, schema: unknown): boolean {
    const { schemas } = this.reading;
    const fields = (collection.schema as unknown as { properties: Record<string, unknown> }).properties;
    return [...schemas.properties(schema)].every(([name, node]) => {
      if (!Object.hasOwn(fields, name)) return true;
      const [own, described] = [schemas.types(fields[name]), schemas.types(node)];
      return (
        own.size === 0 ||
        described.size === 0 ||
        [...own].some((type) => type !== "null" && described.has(type))
      );
    });
  }

  private addDeclared(name: string, given: Given<CollectionBinding>): void {
    const { schema, prefix, id = "id", belongs_to = {} } = given.value;
    const { references, schemas, document } = this.reading;
    if (this.findTarget(name) !== undefined) {
      this.report(given, {
        path: [],
        atKey: true,
        message: `${name} is a collection already; bind operations to it, or choose another name`,
      });
      return;
    }
    const found = references.find(schema);
    if (found === undefined || !isJson(found.node)) {
      const names = Object.keys(
        (this.reading.root["components"] as { schemas?: object } | undefined)?.schemas ?? {},
      );
      const hint = nearest(
        schema,
        names.map((one) => `#/components/schemas/${one}`),
      );
      this.report(given, { path: ["schema"], message: `${document.file} has no schema ${schema}`, hint });
      return;
    }
    const uses = [...this.bindings.operations.values()].filter(
      ({ value }) => getAction(value)?.name === name,
    );
    const soft = uses.map(({ value }) => value.soft).find((one) => one !== undefined);
    const files = this.reading.operations.some((operation) => {
      const use = this.bindings.operations.get(operation.id)?.value;
      return (
        use !== undefined &&
        getAction(use)?.name === name &&
        (use.download !== undefined || this.takesFiles(operation))
      );
    });
    const fields = schemas.properties(found.node);
    for (const [field, owner] of Object.entries(belongs_to))
      if (this.findTarget(owner) === undefined && !this.bindings.collections.has(owner))
        this.report(given, {
          path: ["belongs_to", field],
          message: `there is no collection ${JSON.stringify(owner)}`,
          hint: nearest(owner, this.listCollections()),
        });
    if (!fields.has(id) && prefix === undefined && given.value.id !== undefined)
      this.report(given, {
        path: ["id"],
        message: `${schema} has no property ${JSON.stringify(id)}`,
        hint: nearest(id, fields.keys()),
      });
    this.addOwn({ name, schema: found.node, idField: id, prefix, belongs_to, soft, files });
  }

  private takesFiles({ body }: DescribedOperation): boolean {
    const type = body && chooseMedia(body.media)?.type;
    return (
      listFileParts(body, this.reading.schemas).size > 0 ||
      type === "application/octet-stream" ||
      /^(image|audio|video)\//.test(type ?? "")
    );
  }

  private addOwn(spec: CollectionSpec): void {
    const { schemas } = this.reading;
    const collection = toCollection(spec, schemas);
    this.own.push(collection);
    this.targets.set(spec.name, new Target(collection, { spec, schemas }));
  }

  private findTarget(name: string): Target | undefined {
    const found = this.targets.get(name);
    if (found !== undefined) return found;
    for (const resource of this.known.resources)
      for (const collection of resource.collections) {
        if (collection.name !== name || collection.internal === true) continue;
        const target = new Target(collection, { resource, schemas: this.reading.schemas });
        this.targets.set(name, target);
        return target;
      }
    return undefined;
  }

  private listCollections(): string[] {
    const known = this.known.resources.flatMap(({ collections }) =>
      collections.filter(({ internal }) => !internal),
    );
    return [
      ...known.map(({ name }) => name),
      ...this.bindings.collections.keys(),
      ...this.own.map(({ name }) => name),
    ];
  }

  private check(operation: DescribedOperation, given: Given<OperationBinding>): void {
    const { value } = given;
    const found = getAction(value);
    const names = listPathNames(operation);
    this.checkTemplates(operation, given, names);
    if (found === undefined) {
      this.checkAnswer(operation, given);
      return;
    }
    const target = this.findTarget(found.name);
    if (target === undefined) {
      this.report(given, {
        path: [found.action],
        message: `there is no collection ${JSON.stringify(found.name)}`,
        hint: nearest(found.name, this.listCollections()),
      });
      return;
    }
    for (const section of ["where", "set"] as const)
      for (const field of Object.keys(value[section] ?? {}))
        if (!target.fields.has(field))
          this.report(given, {
            path: [section, field],
            atKey: true,
            message: `${found.name} has no field ${JSON.stringify(field)}`,
            hint: nearest(field, target.fields),
          });
    this.checkParents(given, target);
    const { where, id } = findPlaces(operation, value, target);
    const needsOne = found.action !== "list" && found.action !== "create";
    if (needsOne && id === undefined && where.length === 0)
      this.report(given, {
        path: [found.action],
        message: `the path ${operation.path} names no record; say which with \`id\` or \`where\``,
      });
    this.checkPage(operation, given);
    this.checkEvent(given, target);
  }

  private checkParents(given: Given<OperationBinding>, { collection }: Target): void {
    const fields = (
      collection.schema as unknown as { properties: Record<string, { "x-refers-to"?: Reference }> }
    ).properties;
    for (const [field, conditions] of Object.entries(given.value.parents ?? {})) {
      const refers = Object.hasOwn(fields, field) ? fields[field]!["x-refers-to"] : undefined;
      const parent = refers && this.findTarget(refers.collection);
      if (parent === undefined) {
        const known = Object.keys(fields).filter((name) => fields[name]!["x-refers-to"] !== undefined);
        const message = `${collection.name} has no field ${JSON.stringify(field)} that names another record`;
        this.report(given, { path: ["parents", field], atKey: true, message, hint: nearest(field, known) });
        continue;
      }
      for (const name of Object.keys(conditions))
        if (!parent.fields.has(name))
          this.report(given, {
            path: ["parents", field, name],
            atKey: true,
            message: `${refers!.collection} has no field ${JSON.stringify(name)}`,
            hint: nearest(name, parent.fields),
          });
    }
  }

  private checkTemplates(
    operation: DescribedOperation,
    given: Given<OperationBinding>,
    names: readonly string[],
  ): void {
    for (const key of ["where", "parents", "set", "id", "answer", "sort"] as const)
      for (const name of listUnknown(given.value[key], names))
        this.report(given, {
          path: [key],
          message: `{${name}} stands for nothing in ${operation.method} ${operation.path}`,
          hint: nearest(name, listKnown(names)),
        });
  }

  private checkPage({ parameters }: DescribedOperation, given: Given<OperationBinding>): void {
    const queries = parameters.filter((one) => one.in === "query").map(({ name }) => name);
    for (const key of ["limit", "offset", "page", "cursor"] as const) {
      const name = given.value.page?.[key];
      if (name !== undefined && !queries.includes(name))
        this.report(given, {
          path: ["page", key],
          message: `the operation has no query parameter ${JSON.stringify(name)}`,
          hint: nearest(name, queries),
        });
    }
  }

  /** A new name declares an event of an own collection; an event of the reference's must exist. */
  private checkEvent(given: Given<OperationBinding>, target: Target): void {
    const { emit: name } = given.value;
    if (name === undefined || this.events.has(name)) return;
    const all = this.known.events;
    const declared = all.find((one) => one.name === name);
    const { collection } = target;
    const isAbout = declared?.about.collections.some((one: AnyCollection) => one.name === collection.name);
    if (isAbout === true) this.events.set(name, declared!);
    else if (declared !== undefined)
      this.report(given, {
        path: ["emit"],
        message: `${name} is an event about ${declared.about.collections.map((one: AnyCollection) => one.name).join(", ")}`,
      });
    else if (target.spec === undefined)
      this.report(given, {
        path: ["emit"],
        message: `there is no event ${JSON.stringify(name)} of ${collection.name}`,
        hint: nearest(
          name,
          all.map((one) => one.name),
        ),
      });
    else this.events.set(name, toEvent(name, collection));
  }

  private checkAnswer(operation: DescribedOperation, given: Given<OperationBinding>): void {
    const schema = findSuccess(operation).json?.schema;
    const { answer } = given.value;
    if (schema === undefined || JSON.stringify(answer ?? null).includes("{")) {
      if (schema === undefined || /"[^"]*\{[\w.-]+\}/.test(JSON.stringify(answer ?? null))) return;
    }
    const validate = this.reading.schemas.validator(schema!.node, "answer");
    if (validate(answer)) return;
    const { instancePath, message } = validate.errors![0]!;
    this.warnings.push(
      placed(given, {
        path: ["answer"],
        message: `the answer does not fit the document's schema: ${instancePath || "it"} ${message}`,
      }),
    );
  }

  private report<T>(given: Given<T>, details: Parameters<typeof placed>[1]): void {
    this.problems.push(placed(given, details));
  }
}

/** The event of an own collection: all fields of the record. */
function toEvent(name: string, collection: AnyCollection): AnyEvent {
  const { properties } = collection.schema as unknown as { properties: Record<string, never> };
  const data = Object.keys(properties).filter((field) => !isInternal(properties[field]!));
  return event({
    ...{ name, section: "own", data },
    summary: `${collection.name}: ${name.split(".").at(-1)!.replaceAll("_", " ")}`,
    about: aboutRecords<Record<string, unknown>>(collection as never, {}),
  }) as AnyEvent;
}
