import { readUserText } from "../../documents/files.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { getPrefix } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import type { Warn } from "../../engine/documents/user-document.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { InputError } from "../input.ts";
import type { ObjectNames } from "./contract.ts";
import { inventId, isInventedId } from "./exchange.ts";
import { findIdField, findItems, listParameters, listPathParameters } from "./own-operation.ts";

const MAX_SEEN = 20;

export type PathParams = Readonly<Record<string, string>>;

/** The objects that checks may use: named by the user, else found in an Understudy, else seen in an answer. */
export class KnownObjects {
  private readonly names: ObjectNames;
  private readonly givenIds: ReadonlyMap<string, readonly string[]>;
  private readonly relatedIds: PathParams[] = [];
  private readonly seenIds = new Map<string, Set<string>>();

  constructor(names: ObjectNames, givenIds: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.names = names;
    this.givenIds = givenIds;
  }

  /** Ids that belong together, such as a file and its store. */
  addRelatedIds(ids: PathParams): void {
    this.relatedIds.push(ids);
  }

  /** Looks for ids among the values of an answer's JSON. */
  collectIds(value: unknown): void {
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (this.names.withoutPrefix.has(key) && typeof inner === "string") this.add(key, inner);
        this.collectIds(inner);
      }
      return;
    }
    if (typeof value !== "string" || isInventedId(value)) return;
    const name = this.names.findParameter(value);
    if (name !== undefined) this.add(name, value);
  }

  private add(name: string, id: string): void {
    const ids = getOrAdd(this.seenIds, name, () => new Set<string>());
    if (ids.size < MAX_SEEN) ids.add(id);
  }

  findOne(name: string): string | undefined {
    return this.listCandidates(name)[0];
  }

  /** Whether the user named one. */
  isGiven(name: string): boolean {
    return this.givenIds.has(name);
  }

  listCandidates(name: string): readonly string[] {
    const mainName = this.names.getMainName(name);
    const given = this.givenIds.get(mainName);
    if (given !== undefined) return given;
    const related = this.relatedIds.flatMap((ids) => (ids[mainName] === undefined ? [] : [ids[mainName]]));
    return [...new Set([...related, ...(this.seenIds.get(mainName) ?? [])])];
  }

  /** Adds the ids of a list's items, if paths of own operations name them, each with the ids in the list's own path. */
  collectListIds(operation: AnyOperation, params: PathParams, json: unknown): void {
    const list = this.names.findList(operation.path);
    if (list === undefined || list.key === "organization_id") return;
    const parentIds = Object.fromEntries(
      [...this.names.findObjects(operation)].map(([name, key]) => [key, params[name]!]),
    );
    for (const item of findItems(json)?.slice(0, MAX_SEEN) ?? []) {
      const field = findIdField(item, list.parameter);
      if (field !== undefined) this.addRelatedIds({ ...parentIds, [list.key]: String(item[field]) });
    }
  }

  listPathValues(operation: AnyOperation, limit?: number): PathParams[] {
    const objects = [...this.names.findObjects(operation)];
    const names = [...new Set(objects.map(([, key]) => key))];
    return this.combineValues(names, limit).map((params) =>
      Object.fromEntries(objects.map(([name, key]) => [name, params[key]!])),
    );
  }

  /** Why an operation cannot be called, and what the user can do about it. */
  describeMissingFor(operation: AnyOperation): string {
    return this.describeMissing([...new Set(this.names.findObjects(operation).values())]);
  }

  /** Those of the objects that are not known, and how the user can name them. */
  describeMissing(names: readonly string[]): string {
    const missing = names.filter((name) => this.listCandidates(name).length === 0);
    const options = missing.map((name) => {
      const isOwn = this.names.findOwnName(name) !== undefined;
      const meaning = USABLE_NAMES[name] ?? (isOwn ? "no answer lists one" : undefined);
      return meaning === undefined ? name : `--use ${name}=… (${meaning})`;
    });
    return `not known: ${options.join(", ")}`;
  }

  /** Lists values for all the parameters: first those known to belong together, then any. */
  combineValues(names: readonly string[], limit = 6): PathParams[] {
    const together = this.relatedIds
      .filter((ids) => names.every((name) => this.fits(ids, name)))
      .map((ids) => Object.fromEntries(names.map((name) => [name, this.getValue(ids, name)!])));
    let combinations: PathParams[] = [{}];
    for (const name of names) {
      const values = this.listCandidates(name);
      combinations = combinations.flatMap((params) =>
        values.slice(0, limit).map((value) => ({ ...params, [name]: value })),
      );
    }
    const unique = new Map([...together, ...combinations].map((params) => [JSON.stringify(params), params]));
    return [...unique.values()].slice(0, limit);
  }

  private getValue(ids: PathParams, name: string): string | undefined {
    const mainName = this.names.getMainName(name);
    return mainName === "organization_id" ? this.findOne(mainName) : ids[mainName];
  }

  private fits(ids: PathParams, name: string): boolean {
    const value = this.getValue(ids, name);
    const given = this.givenIds.get(this.names.getMainName(name));
    return value !== undefined && (given === undefined || given.includes(value));
  }
}

export function listParameterNames(operation: AnyOperation): string[] {
  return listPathParameters(operation).map(({ name }) => name);
}

/**
 * Invented ids for all path parameters except those given; undefined if a parameter of an own operation has values, a
 * pattern or a format for which no id can be invented.
 * @param examples existing ids, whose prefixes the invented ones get
 */
export function inventParams(
  operation: AnyOperation,
  fixed: PathParams = {},
  examples: PathParams = {},
): PathParams | undefined {
  const schemas = new Map(listParameters(operation, "path").map((one) => [one.name, one.schema]));
  const isOwn = operation.sourceFile !== undefined;
  const invented = listParameterNames(operation).map((name): [string, string | undefined] => {
    const schema = schemas.get(name) ?? {};
    const prefix = getPrefix(schema) ?? /^[a-z]+_/.exec(examples[name] ?? "")?.[0] ?? "";
    return [name, fixed[name] ?? (isOwn ? inventOwnId(schema, prefix) : inventId(prefix))];
  });
  if (invented.some(([, id]) => id === undefined)) return undefined;
  return Object.fromEntries(invented) as PathParams;
}

/** An id of a parameter's form that no object has; undefined if none can be invented. */
function inventOwnId(schema: Record<string, unknown>, prefix: string): string | undefined {
  const { type, format, pattern, enum: values } = schema;
  if (prefix === "" && (values !== undefined || pattern !== undefined)) return undefined;
  if (type === "integer" || type === "number") return String(2_000_000_000 + Math.floor(Math.random() * 1e8));
  if (format === "uuid") return globalThis.crypto.randomUUID();
  return format === undefined ? inventId(prefix) : undefined;
}

/** The names that `--use` takes, and their meaning. */
const USABLE_NAMES: Readonly<Record<string, string>> = {
  organization_id: "the organization to read; by default the one that the key acts in",
  session_id: "a meeting session that has ended",
  transcription_id: "a completed transcription",
  pending_transcription_id: "a transcription that is not completed",
  collection_id: "a music collection that the key's user owns",
  assistant_id: "an assistant with a history",
  store_id: "a knowledge store",
  file_id: "a file in that store",
  job_id: "a connector job",
  webhook_id: "a webhook",
  slug: "the slug of an active share link",
  foreign_organization_id: "an organization that the key's user is not a member of",
  foreign_session_id: "a meeting session of such an organization",
  other_organization_id: "another organization that the key's user is a member of",
  department_id: "a department that --write may move to the top and back",
  parent_department_id: "the parent that it has now",
  webhook_url: "a receiver that the service may call during --write",
  scratch_store_id: "a store that --write may put a small file into, for good",
  scratch_connection_id: "a connection whose sync --write may start and cancel",
  model: "the key of a model that --write may ask for one short, billed answer",
  provider: "the image provider that extends by pixels (provider_a), which --write may ask once",
};

/** Returns the usable name for a written one. A model is named by its key, for which there is no parameter. */
function findUsableName(names: ObjectNames, written: string): string | undefined {
  const name = written === "models" ? "model" : names.getMainName(written);
  return Object.hasOwn(USABLE_NAMES, name) ? name : names.findOwnName(written);
}

/**
 * `NAME=ID` (several with commas), or a YAML or JSON file of such pairs.
 * @throws InputError, DocumentError
 */
export function readIdsToUse(
  options: readonly string[],
  names: ObjectNames,
  warn?: Warn,
): Map<string, string[]> {
  const idsToUse = new Map<string, string[]>();
  const add = (written: string, values: readonly string[]) => {
    const name = findUsableName(names, written);
    if (name === undefined) throw unknownName(written, names);
    const ids = values.map((value) => value.trim()).filter((value) => value !== "");
    if (ids.length === 0) throw new InputError(`--use ${written} is empty`);
    idsToUse.set(name, [...(idsToUse.get(name) ?? []), ...ids]);
  };
  for (const option of options) {
    const [, name, value] = /^([\w-]+)=(.*)$/s.exec(option) ?? [];
    if (name === undefined) for (const [key, ids] of readPairs(option, warn)) add(key, ids);
    // A URL may contain commas; ids do not.
    else if (name === "webhook_url") add(name, [value!]);
    else {
      const ids = value!.split(",");
      const isPair = (id: string) =>
        id.includes("=") && findUsableName(names, id.split("=")[0]!.trim()) !== undefined;
      const otherPair = ids.find(isPair);
      if (otherPair !== undefined)
        throw new InputError(`--use takes one name: write --use ${otherPair.trim()} apart from ${name}`);
      add(name, ids);
    }
  }
  return idsToUse;
}

function readPairs(file: string, warn: Warn | undefined): [string, string[]][] {
  const { value } = readDocument(readUserText(file), { file, warn });
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InputError(`${file} must contain names and ids, such as \`transcription_id: trans_short\``);
  // Null names the parent of a department at the top; with any other name, the id is missing.
  const toText = (name: string, id: unknown) =>
    name === "parent_department_id" ? String(id) : String(id ?? "");
  return Object.entries(value).map(([name, ids]) => [name, [ids].flat().map((id) => toText(name, id))]);
}

function unknownName(written: string, names: ObjectNames): InputError {
  const others = [...names.otherNames].filter((other) => findUsableName(names, other) !== undefined);
  const nearest = findNearest(written, [...Object.keys(USABLE_NAMES), ...others, "models"]);
  const hint =
    nearest === undefined
      ? `It takes ${Object.keys(USABLE_NAMES).join(", ")}.`
      : `Did you mean "${nearest}"?`;
  return new InputError(`--use does not know "${written}". ${hint}`);
}
