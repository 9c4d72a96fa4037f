import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { checkDocument } from "../../engine/documents/check-document.ts";
import type { DocumentPath, DocumentProblem } from "../../engine/documents/document-error.ts";
import {
  locateProblem,
  type ProblemDetails,
  type UserDocument,
} from "../../engine/documents/user-document.ts";
import {
  ACTIONS,
  areBindings,
  BindingFile,
  Bindings,
  type CollectionBinding,
  isBinding,
  OperationBinding,
} from "./binding-schema.ts";
import type { OpenApiReading } from "./list-operations.ts";

/** A binding, with the document that it is written in. */
export interface LocatedBinding<T = OperationBinding> {
  value: T;
  path: DocumentPath;
  document: UserDocument;
}

export interface ParsedBindings {
  collections: Map<string, LocatedBinding<CollectionBinding>>;
  operations: Map<string, LocatedBinding>;
  problems: DocumentProblem[];
  file: UserDocument | undefined;
}

/** The bindings of a document: its own `x-understudy`, then its operations', then a file's; the last one counts. */
export function readBindings(reading: OpenApiReading, file: UserDocument | undefined): ParsedBindings {
  const bindings: ParsedBindings = { collections: new Map(), operations: new Map(), problems: [], file };
  const { document, root, operations } = reading;
  const ownBindings = root["x-understudy"];
  if (ownBindings !== undefined) {
    const part = toPart(document, ownBindings, ["x-understudy"]);
    // Only wrong bindings need the schema, which is slow to compile, to list their problems.
    addSections(bindings, part, areBindings(ownBindings) ? undefined : Bindings);
  }
  for (const { id: ownId, idInDocument: id = ownId, node, place } of operations) {
    if (node["x-understudy"] === undefined) continue;
    const part = toPart(document, node["x-understudy"], [...place, "x-understudy"]);
    const problems = isBinding(part.value) ? [] : findProblems(part, OperationBinding, [[[], part.value]]);
    bindings.problems.push(...problems);
    if (problems.length === 0)
      bindings.operations.set(id, { value: part.value as OperationBinding, path: [], document: part });
  }
  if (file !== undefined) {
    const { openapi: _document, ...sections } = file.value as JsonObject;
    addSections(bindings, file, areBindings(sections) ? undefined : BindingFile);
  }
  const operationIds = new Set(operations.map(({ id, idInDocument = id }) => idInDocument));
  for (const [id, binding] of bindings.operations)
    if (!operationIds.has(id))
      bindings.problems.push(
        toProblem(binding, {
          path: [],
          pointsAtKey: true,
          message: `${document.file} has no operation ${JSON.stringify(id)}`,
          hint: findNearest(id, operationIds),
        }),
      );
  return bindings;
}

const ACTION_WORDS = [...ACTIONS, "answer"];

/** The problems of bindings; misspelt actions hide all others, since the action decides what else is allowed. */
function findProblems(
  part: UserDocument,
  schema: object,
  operationBindings: readonly (readonly [DocumentPath, unknown])[],
): DocumentProblem[] {
  const misspelt = operationBindings.flatMap(([path, binding]) => {
    const keys = isJsonObject(binding) ? Object.keys(binding) : [];
    if (keys.some((one) => ACTION_WORDS.includes(one))) return [];
    const key = keys.find((one) => findNearest(one, ACTION_WORDS) !== undefined);
    if (key === undefined) return [];
    const message = `${JSON.stringify(key)} is not an action; the actions are ${ACTION_WORDS.join(", ")}`;
    const hint = findNearest(key, ACTION_WORDS);
    return [locateProblem(part, { path: [...path, key], pointsAtKey: true, message, hint })];
  });
  return misspelt.length > 0 ? misspelt : checkDocument(part, toValidator(schema));
}

/** @param violatedSchema if the bindings are wrong: the schema by which the problems are listed */
function addSections(bindings: ParsedBindings, document: UserDocument, violatedSchema?: object): void {
  const operations = listSection<OperationBinding>(document, "operations");
  const located = operations.map(([id, one]) => [["operations", id], one] as const);
  const problems = violatedSchema === undefined ? [] : findProblems(document, violatedSchema, located);
  bindings.problems.push(...problems);
  if (problems.length > 0) return;
  for (const [name, value] of listSection<CollectionBinding>(document, "collections"))
    bindings.collections.set(name, { value, path: ["collections", name], document });
  for (const [id, value] of operations)
    bindings.operations.set(id, { value, path: ["operations", id], document });
}

/** Empty for a document that is not a map, which its schema refuses. */
function listSection<T>({ value }: UserDocument, name: "collections" | "operations"): [string, T][] {
  const section = isJsonObject(value) ? value[name] : undefined;
  return Object.entries(isJsonObject(section) ? section : {}) as [string, T][];
}

/** A part of a document as a document of its own, with the positions of the whole. */
function toPart(document: UserDocument, value: unknown, at: DocumentPath): UserDocument {
  return {
    ...document,
    value,
    locate: (path) => document.locate([...at, ...path]),
    locateKey: (path) => document.locateKey([...at, ...path]),
  };
}

export function toProblem<T>(binding: LocatedBinding<T>, details: ProblemDetails): DocumentProblem {
  return locateProblem(binding.document, { ...details, path: [...binding.path, ...details.path] });
}
