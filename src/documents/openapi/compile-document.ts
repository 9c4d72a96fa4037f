import type { AnyEvent } from "../../engine/contract/event.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import type { FixtureReader, Resource } from "../../engine/contract/resource.ts";
import { isJsonObject } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { DocumentProblem } from "../../engine/documents/document-error.ts";
import {
  locateProblem,
  type ProblemDetails,
  throwProblems,
  type UserDocument,
} from "../../engine/documents/user-document.ts";
import { getOrAdd } from "../../engine/maps.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { answerUnbound, listAnswersInOtherFormats, listEmptyAnswers } from "./answer-unbound.ts";
import { bindOperation } from "./bind-operation.ts";
import { type Action, type CollectionBinding, getAction, type OperationBinding } from "./binding-schema.ts";
import { findRecordPart, listUnstorableFields } from "./bound-body.ts";
import type { BoundCollection } from "./bound-collection.ts";
import { type AvailableDeclarations, BoundCollections } from "./bound-collections.ts";
import { takesFiles } from "./bound-files.ts";
import { BindingChecker } from "./check-bindings.ts";
import { chooseMedia, listUnreadBodies } from "./declare-body.ts";
import { toUnsupportedWarnings, type UnsupportedFeature } from "./document-report.ts";
import { type InferredPair, inferPairs, isSameSchema } from "./infer-bindings.ts";
import { type DescribedOperation, type OpenApiReading, readOpenApi } from "./list-operations.ts";
import { requireOpenApi } from "./open-document.ts";
import type { CollectionSpec } from "./own-collection.ts";
import { type LocatedBinding, type ParsedBindings, readBindings, toProblem } from "./read-bindings.ts";
import { listPathNames } from "./select-records.ts";

export interface CompiledDocument {
  collections: AnyCollection[];
  operations: AnyOperation[];
  events: AnyEvent[];
  /** By the name of the collection. */
  factories: NonNullable<Resource["factories"]>;
  /** By the name of the collection. */
  state: NonNullable<Resource["state"]>;
  /** By the name of the collection. */
  fieldGenerators: NonNullable<FixtureReader["fieldGenerators"]>;
  warnings: DocumentProblem[];
}

/**
 * Compiles an OpenAPI document and its bindings into declarations.
 * @throws DocumentError
 */
export function compileDocument(
  document: UserDocument,
  { bindings: file, available }: { bindings?: UserDocument | undefined; available: AvailableDeclarations },
): CompiledDocument {
  const others = available.resources.flatMap(({ operations }) => operations);
  const reading = readOpenApi(document, requireOpenApi(document), others);
  throwProblems(reading.problems, document);
  const bindings = readBindings(reading, file);
  throwProblems(bindings.problems, document, file);
  return new DocumentCompiler(reading, bindings, available).compile();
}

/** An operation that is bound to a collection. */
interface BindingUse {
  action: Action;
  binding: OperationBinding;
  operation: DescribedOperation;
}

class DocumentCompiler {
  private readonly problems: DocumentProblem[] = [];
  private readonly reading: OpenApiReading;
  private readonly bindings: ParsedBindings;
  private readonly available: AvailableDeclarations;
  private readonly targets: BoundCollections;
  /** By the name of the collection. */
  private readonly uses = new Map<string, BindingUse[]>();
  private readonly inferredBindings = new Set<LocatedBinding>();
  private readonly warnings: DocumentProblem[];

  constructor(reading: OpenApiReading, bindings: ParsedBindings, available: AvailableDeclarations) {
    this.reading = reading;
    this.bindings = bindings;
    this.available = available;
    this.targets = new BoundCollections(available, reading.schemas);
    this.warnings = [...reading.warnings];
  }

  compile(): CompiledDocument {
    const { operations: described } = this.reading;
    const bindingsByOperation = new Map<DescribedOperation, LocatedBinding>();
    for (const operation of described) {
      const binding = this.bindings.operations.get(operation.idInDocument ?? operation.id);
      if (binding === undefined) continue;
      bindingsByOperation.set(operation, binding);
      this.addUse(operation, binding.value);
    }
    this.inferBindings(bindingsByOperation);
    for (const [name, binding] of this.bindings.collections) this.declareCollection(name, binding);
    const checker = new BindingChecker(this.available, this.targets, this.reading.schemas, this.bindings);
    for (const [operation, binding] of bindingsByOperation) checker.check(operation, binding);
    this.problems.push(...checker.problems);
    this.warnings.push(...checker.warnings);
    throwProblems(this.problems, this.reading.document, this.bindings.file);
    const context = {
      reading: this.reading,
      getTarget: (name: string) => this.targets.find(name)!,
      findEvent: (name: string) => checker.events.get(name),
    };
    const operations = described.map((operation) => {
      const binding = bindingsByOperation.get(operation);
      return binding === undefined
        ? answerUnbound(operation, this.reading)
        : bindOperation(operation, binding.value, {
            ...context,
            isInferred: this.inferredBindings.has(binding),
          });
    });
    const unsupported = described.flatMap((operation) => {
      const binding = bindingsByOperation.get(operation);
      return [
        ...listUnreadBodies(operation, this.reading.schemas),
        ...(binding === undefined
          ? listEmptyAnswers(operation, this.reading)
          : [
              ...this.listUnstoredFields(operation, binding),
              ...listAnswersInOtherFormats(operation, binding.value),
            ]),
      ];
    });
    this.warnings.push(...toUnsupportedWarnings(this.reading.document, unsupported));
    const events = [...checker.events.values()].filter((one) => !this.available.events.includes(one));
    return {
      collections: this.targets.declaredCollections,
      operations,
      events,
      factories: this.targets.createFactories(),
      state: this.targets.createRules(),
      fieldGenerators: this.targets.createFieldGenerators(),
      warnings: this.warnings,
    };
  }

  private listUnstoredFields({ body }: DescribedOperation, binding: LocatedBinding): UnsupportedFeature[] {
    const { schemas } = this.reading;
    const { name } = getAction(binding.value) ?? {};
    const target = name === undefined ? undefined : this.targets.find(name);
    const schema = body && chooseMedia(body.media)?.schema;
    if (target === undefined || schema === undefined) return [];
    const { spec, fieldNames } = target;
    const { node } = findRecordPart(body, fieldNames, schemas);
    const isInferred = this.inferredBindings.has(binding);
    if (spec !== undefined)
      return listUnstorableFields(node, spec.schema, { schemas, isInferred }).map((field) => ({
        feature: `the field ${field} of a body, as its type in a record is another (it is not stored)`,
        path: schema.path,
      }));
    // Without a warning for a binding that a user wrote: its placeholders may read such fields.
    const fields = isInferred ? [...schemas.listPossibleFields(node)] : [];
    return fields
      .filter(([field, one]) => !fieldNames.has(field) && !schemas.has(one, "readOnly"))
      .map(([field]) => ({
        feature: `the field ${field} of a body, which records of ${name} do not have (it is not stored)`,
        path: schema.path,
      }));
  }

  /** Binds the operations of pairs of paths, such as `/xs` and `/xs/{id}`, except those that have a binding. */
  private inferBindings(bindingsByOperation: Map<DescribedOperation, LocatedBinding>): void {
    const { operations, schemas, document } = this.reading;
    const byId = new Map(operations.map((operation) => [operation.id, operation]));
    const specs = new Map<string, CollectionSpec>();
    const boundPairs: InferredPair[] = [];
    for (const pair of inferPairs(this.reading)) {
      const { collection: name, schema, idField, where, bindings } = pair;
      const unbound = [...bindings].filter(([id]) => !bindingsByOperation.has(byId.get(id)!));
      if (unbound.length === 0) continue;
      const conflict = this.explainConflict(pair, specs.get(name)?.schema);
      if (conflict !== undefined) {
        const path = byId.get(unbound[0]![0])!.place;
        const message = `${conflict}, so these operations answer with examples: ${unbound.map(([id]) => id).join(", ")}; bind them to a collection with another name`;
        this.warnings.push(locateProblem(document, { path, message }));
        continue;
      }
      if (this.targets.find(name) === undefined && !this.bindings.collections.has(name)) {
        // Records that several pairs share need the outer ids of all their paths, as far as they do not describe these.
        const outerIdFields = new Set([...(specs.get(name)?.outerIdFields ?? []), ...Object.keys(where)]);
        for (const field of schemas.listPossibleFields(schema).keys()) outerIdFields.delete(field);
        const spec = { name, schema, idField, belongs_to: {}, ...specs.get(name) };
        specs.set(name, { ...spec, outerIdFields });
      }
      // The collection may identify its records by another field than this pair's paths do.
      const { id: ownIdField = "id" } = this.bindings.collections.get(name)?.value ?? {
        id: specs.get(name)?.idField ?? idField,
      };
      boundPairs.push(pair);
      for (const [id, inferred] of unbound) {
        const operation = byId.get(id)!;
        const value = ownIdField === idField ? inferred : replaceId(inferred, idField);
        const binding = { value, path: operation.place, document };
        this.inferredBindings.add(binding);
        bindingsByOperation.set(operation, binding);
        this.addUse(operation, value);
      }
    }
    this.relateToOuterRecords(boundPairs, specs);
    for (const [name, spec] of specs) this.targets.add({ ...spec, ...this.readUses(name) });
  }

  /** Lets records belong to the outer records of their paths, such as `/users/{user_id}/rules`, if clients can create users. */
  private relateToOuterRecords(
    pairs: readonly InferredPair[],
    specs: ReadonlyMap<string, CollectionSpec>,
  ): void {
    const { schemas } = this.reading;
    const canCreate = ({ bindings }: InferredPair) => [...bindings.values()].some((one) => "create" in one);
    const owners = new Map(pairs.filter(canCreate).map(({ path, collection }) => [path, collection]));
    for (const { collection, outerPaths } of pairs)
      for (const [field, outerPath] of outerPaths) {
        const [spec, owner] = [specs.get(collection), owners.get(outerPath)];
        const types = schemas.listTypes(schemas.listPossibleFields(spec?.schema).get(field));
        const isScalar = !types.has("object") && !types.has("array");
        if (spec !== undefined && isScalar && owner !== undefined) spec.belongs_to[field] = owner;
      }
  }

  private addUse(operation: DescribedOperation, binding: OperationBinding): void {
    const boundAction = getAction(binding);
    if (boundAction === undefined) return;
    const { action, name } = boundAction;
    getOrAdd(this.uses, name, () => []).push({ action, binding, operation });
  }

  /** The facts of a collection that follow from its operations. */
  private readUses(name: string): Pick<CollectionSpec, "soft" | "hasFiles" | "idParameter"> {
    const uses = this.uses.get(name) ?? [];
    const hasFiles = uses.some(
      ({ action, operation }) => action === "download" || takesFiles(operation, action, this.reading.schemas),
    );
    const soft = uses.find(({ binding }) => binding.soft !== undefined)?.binding.soft;
    return { soft, hasFiles, idParameter: findIdParameter(uses) };
  }

  /**
   * Why a pair can have no collection: the name is taken, or no collection can have it.
   * @param inferred the schema of the collection that earlier pairs have given this name
   */
  private explainConflict(
    { collection: name, schema, idField, where }: InferredPair,
    inferred: unknown,
  ): string | undefined {
    const { schemas, references } = this.reading;
    const existing = this.targets.find(name);
    const outerIdFields = Object.keys(where);
    const describe = (source: string) => `${source} has a collection ${name} with another schema`;
    if (existing !== undefined) {
      const agrees =
        idField === existing.collection.idField &&
        outerIdFields.every((field) => existing.fieldNames.has(field)) &&
        this.doFieldsAgree(existing, schema);
      return agrees ? undefined : describe("the built-in API or another document");
    }
    const declared = this.bindings.collections.get(name)?.value.schema;
    const other = declared === undefined ? inferred : references.find(declared)?.node;
    const isName = /^[a-z][a-z0-9_]*$/.test(name);
    if (other === undefined) return isName ? undefined : `no collection can have the name "${name}"`;
    const hasOuterFields =
      declared === undefined || outerIdFields.every((field) => schemas.listPossibleFields(other).has(field));
    return hasOuterFields && isSameSchema(other, schema, schemas) ? undefined : describe("the document");
  }

  /** Whether the types of all fields that both have overlap, and an id of the collection is valid in described records. */
  private doFieldsAgree({ fieldSchemas, collection }: BoundCollection, schema: unknown): boolean {
    const { schemas } = this.reading;
    const fields = schemas.listPossibleFields(schema);
    const [id] = fieldSchemas[collection.idField]?.examples ?? [];
    if (id !== undefined && !schemas.compileValidator(fields.get(collection.idField), "answer")(id))
      return false;
    return [...fields].every(
      ([name, node]) =>
        !Object.hasOwn(fieldSchemas, name) || schemas.doTypesOverlap(fieldSchemas[name], node),
    );
  }

  private declareCollection(name: string, binding: LocatedBinding<CollectionBinding>): void {
    const { schema, prefix, id = "id", belongs_to = {} } = binding.value;
    const { references, schemas, document } = this.reading;
    if (this.targets.find(name) !== undefined) {
      this.report(binding, {
        path: [],
        pointsAtKey: true,
        message: `${name} is a collection already; bind operations to it, or choose another name`,
      });
      return;
    }
    const resolved = references.find(schema);
    if (resolved === undefined || !isJsonObject(resolved.node)) {
      const names = Object.keys(
        (this.reading.root["components"] as { schemas?: object } | undefined)?.schemas ?? {},
      );
      const hint = findNearest(
        schema,
        names.map((one) => `#/components/schemas/${one}`),
      );
      this.report(binding, { path: ["schema"], message: `${document.file} has no schema ${schema}`, hint });
      return;
    }
    const fields = schemas.listPossibleFields(resolved.node);
    for (const [field, owner] of Object.entries(belongs_to))
      if (this.targets.find(owner) === undefined && !this.bindings.collections.has(owner))
        this.report(binding, {
          path: ["belongs_to", field],
          ...this.targets.describeMissing(owner, this.bindings.collections.keys()),
        });
    if (!fields.has(id) && prefix === undefined && binding.value.id !== undefined)
      this.report(binding, {
        path: ["id"],
        message: `${schema} has no property ${JSON.stringify(id)}`,
        hint: findNearest(id, fields.keys()),
      });
    this.targets.add({
      name,
      schema: resolved.node,
      idField: id,
      prefix,
      belongs_to,
      ...this.readUses(name),
    });
  }

  private report<T>(binding: LocatedBinding<T>, details: ProblemDetails): void {
    this.problems.push(toProblem(binding, details));
  }
}

/** The binding of an operation that finds its record by a field other than the collection's id. */
function replaceId({ id, ...binding }: OperationBinding, field: string): OperationBinding {
  return id === undefined ? binding : { ...binding, where: { ...binding.where, [field]: id } };
}

/** The schema of the path parameter with the id of a record. */
function findIdParameter(uses: readonly BindingUse[]): unknown {
  const { operation, binding } = uses.find(({ action }) => action !== "list" && action !== "create") ?? {};
  const names = listPathNames(operation?.path ?? "");
  const parameter = binding?.id === undefined ? names.at(-1) : names.find((one) => binding.id === `{${one}}`);
  return operation?.parameters.find((one) => one.in === "path" && one.name === parameter)?.schema?.node;
}
