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
}

/** The bindings of a document: its own `x-understudy`, then those of a file beside it, which take precedence. */
export function readBindings(reading: OpenApiReading, file: UserDocument | undefined): ParsedBindings {
  const bindings: ParsedBindings = { collections: new Map(), operations: new Map(), problems: [] };
  const { document, root, operations } = reading;
  const ownBindings = root["x-understudy"];
  if (ownBindings !== undefined) {
    const part = toPart(document, ownBindings, ["x-understudy"]);
    const problems = areBindings(ownBindings) ? [] : findProblems(part, Bindings);
    bindings.problems.push(...problems);
    if (problems.length === 0) addSections(bindings, part);
  }
  for (const { id, node, place } of operations) {
    const ownBinding = node["x-understudy"];
    if (ownBinding === undefined) continue;
    const part = toPart(document, ownBinding, [...place, "x-understudy"]);
    const problems = isBinding(ownBinding) ? [] : findProblems(part, OperationBinding);
    bindings.problems.push(...problems);
    if (problems.length === 0)
      bindings.operations.set(id, { value: ownBinding as OperationBinding, path: [], document: part });
  }
  if (file !== undefined) {
    const { openapi: _document, ...sections } = file.value as JsonObject;
    const problems = areBindings(sections) ? [] : findProblems(file, BindingFile);
    bindings.problems.push(...problems);
    if (problems.length === 0) addSections(bindings, file);
  }
  const operationIds = new Set(operations.map(({ id }) => id));
  for (const [id, binding] of bindings.operations)
    if (!operationIds.has(id))
      bindings.problems.push(
        toProblem(binding, {
          path: [],
          atKey: true,
          message: `${document.file} has no operation ${JSON.stringify(id)}`,
          hint: findNearest(id, operationIds),
        }),
      );
  return bindings;
}

const ACTION_WORDS = [...ACTIONS, "answer"];

/** The problems of bindings; a misspelt action is named before all else, since it decides what else is allowed. */
function findProblems(part: UserDocument, schema: object): DocumentProblem[] {
  const { operations } = part.value as { operations?: unknown };
  const bindings: [DocumentPath, unknown][] =
    schema === OperationBinding
      ? [[[], part.value]]
      : Object.entries(isJsonObject(operations) ? operations : {}).map(([id, one]) => [
          ["operations", id],
          one,
        ]);
  const misspelt = bindings.flatMap(([path, binding]) => {
    const keys = isJsonObject(binding) ? Object.keys(binding) : [];
    const key = keys.find((one) => findNearest(one, ACTION_WORDS) !== undefined);
    if (key === undefined || keys.some((one) => ACTION_WORDS.includes(one))) return [];
    const message = `${JSON.stringify(key)} is not an action; the actions are ${ACTION_WORDS.join(", ")}`;
    const hint = findNearest(key, ACTION_WORDS);
    return [locateProblem(part, { path: [...path, key], atKey: true, message, hint })];
  });
  return misspelt.length > 0 ? misspelt : checkDocument(part, toValidator(schema));
}

function addSections(bindings: ParsedBindings, document: UserDocument): void {
  const { collections = {}, operations = {} } = document.value as {
    collections?: JsonObject;
    operations?: JsonObject;
  };
  for (const [name, value] of Object.entries(collections))
    bindings.collections.set(name, {
      value: value as CollectionBinding,
      path: ["collections", name],
      document,
    });
  for (const [id, value] of Object.entries(operations))
    bindings.operations.set(id, { value: value as OperationBinding, path: ["operations", id], document });
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
