import { concatBytes, fromBase64, toBase64 } from "../../engine/bytes.ts";
import type { ErrorCode } from "../../engine/contract/errors.ts";
import { ApiError, invalidInput, resourceNotFound } from "../../engine/contract/errors.ts";
import { type AnyEvent, emit } from "../../engine/contract/event.ts";
import { once } from "../../engine/contract/fixture-record.ts";
import type { AnyOperation, Call } from "../../engine/contract/operation.ts";
import { visitReferences } from "../../engine/contract/references.ts";
import { RawBody, Reply } from "../../engine/contract/reply.ts";
import {
  ADMINISTRATOR_ERRORS,
  MEMBER_ERRORS,
  requireAdministrator,
  requireMember,
} from "../../engine/resources/organizations/access.ts";
import type { Order, View } from "../../engine/state/view.ts";
import { type Action, getAction, type OperationBinding } from "./binding-schema.ts";
import {
  chooseMedia,
  coerceForm,
  type DescribedSuccess,
  declareOperation,
  findSuccess,
  listFileParts,
} from "./declare-operation.ts";
import type { DescribedOperation, ReadOpenApi } from "./list-operations.ts";
import { ECHOED, findPageNames, matches, readPage, sortBy } from "./list-records.ts";
import { isJson, type Json } from "./open-document.ts";
import { ALL, CONTENT } from "./own-collection.ts";
import { BodyPresenter, RecordPresenter } from "./present-record.ts";
import type { Schemas } from "./schemas.ts";
import type { Target } from "./target.ts";
import { fill, toValues } from "./templates.ts";

export interface BindingContext {
  reading: ReadOpenApi;
  target(name: string): Target;
  /** The event of a binding's `emit`. */
  event(name: string): AnyEvent | undefined;
}

interface Stored {
  bytes: Uint8Array;
  filename: string | undefined;
  mime_type: string;
}

/** One operation of a document, with the collection that it works on. The first call makes the parts that only calls need. */
export function bindOperation(
  described: DescribedOperation,
  binding: OperationBinding,
  context: BindingContext,
): AnyOperation {
  const found = getAction(binding);
  if (found === undefined) return answerFixed(described, binding, context);
  const { action, name } = found;
  const target = context.target(name);
  const { access = described.open ? "anyone" : "caller" } = binding;
  const places = findPlaces(described, binding, target);
  const success = findSuccess(described);
  const status = binding.status ?? success.status;
  const schema = success.json?.schema;
  const bound = once(
    () => new BoundOperation(described, { binding, action, target, context, places, success, status }),
  );
  return {
    ...declareOperation(described, context.reading),
    credentials: access !== "anyone",
    reads: action === "list" || action === "retrieve" || action === "download",
    errors: listErrors({ access, action, target, places }),
    success: {
      status,
      ...(schema && { schema: context.reading.schemas.declare(schema, "answer") }),
    } as never,
    access: (call: Call) => bound().authorize(call, access),
    ...(takesBytes(described, action, context.reading.schemas) && {
      prepare: (call, _loaded, { stream }) => bound().receive(call, stream),
    }),
    handle: ((call, record, prepared) =>
      bound().handle(call, record as object, prepared)) as AnyOperation["handle"],
  };
}

type Places = ReturnType<typeof findPlaces>;

function listErrors({
  access,
  action,
  target,
  places,
}: {
  access: string;
  action: Action;
  target: Target;
  places: Places;
}): ErrorCode[] {
  const found: ErrorCode[] = [];
  if (access === "member") found.push(...MEMBER_ERRORS);
  if (access === "admin") found.push(...ADMINISTRATOR_ERRORS);
  if (action !== "list" && action !== "create") found.push("RESOURCE_NOT_FOUND");
  else if (places.where.some(([field]) => target.findOwner(field) !== undefined))
    found.push("RESOURCE_NOT_FOUND");
  return found;
}

function takesBytes({ body }: DescribedOperation, action: Action, schemas: Schemas): boolean {
  const media = body && chooseMedia(body.media);
  if (media === undefined || !["create", "update", "replace"].includes(action)) return false;
  return listFileParts(body, schemas).size > 0 || isStream(media.type);
}

interface Binding {
  binding: OperationBinding;
  action: Action;
  target: Target;
  context: BindingContext;
  places: Places;
  success: DescribedSuccess;
  status: number;
}

class BoundOperation {
  readonly handle: (call: Call, record: object, prepared: unknown) => unknown;
  private readonly described: DescribedOperation;
  private readonly binding: OperationBinding;
  private readonly action: Action;
  private readonly target: Target;
  private readonly context: BindingContext;
  private readonly schemas: Schemas;
  private readonly success: DescribedSuccess;
  private readonly status: number;
  /** Fields that must be equal, with their templates. */
  private readonly where: Places["where"];
  /** The template of the record's id; undefined: the record is found by `where` alone. */
  private readonly id: string | undefined;
  /** Properties of the body that the server sets. */
  private readonly ignored: ReadonlySet<string>;
  private readonly presenter: RecordPresenter;
  private readonly around: BodyPresenter | undefined;
  private readonly itemAt: string;

  constructor(
    described: DescribedOperation,
    { binding, action, target, context, places, success, status }: Binding,
  ) {
    this.described = described;
    this.binding = binding;
    this.action = action;
    this.target = target;
    this.context = context;
    this.schemas = context.reading.schemas;
    this.success = success;
    this.status = status;
    this.where = places.where;
    this.id = places.id;
    const body = described.body && chooseMedia(described.body.media)?.schema?.node;
    const properties = [...this.schemas.properties(body)];
    this.ignored = new Set(
      properties.filter(([, one]) => this.schemas.has(one, "readOnly")).map(([name]) => name),
    );
    const answer = this.success.json?.schema?.node;
    this.itemAt = binding.item_at ?? "";
    const inner = this.itemAt === "" ? answer : findSchema(answer, this.itemAt, this.schemas);
    this.presenter = new RecordPresenter(target, inner ?? {}, this.schemas);
    this.around = this.itemAt === "" ? undefined : new BodyPresenter(answer, this.schemas);
    this.handle = this.toHandler();
  }

  /** Permission, then existence, as in the reference (G03). Returns the record. */
  authorize(call: Call, access: string): object | undefined {
    const params = call.params as Json;
    const wanted = this.toWanted(call);
    const organization = params["organization_id"] ?? params["org_id"] ?? wanted["organization_id"];
    if (typeof organization === "string") this.permit(call, access, organization);
    this.requireParents(call, wanted);
    const record =
      this.action === "list" || this.action === "create" ? undefined : this.findRecord(call, wanted);
    if (organization === undefined && (access === "member" || access === "admin")) {
      const own =
        (record as Json | undefined)?.["organization_id"] ?? this.findOrganization(call, record ?? wanted);
      this.permit(call, access, typeof own === "string" ? own : call.principal.organization_id);
    }
    return record;
  }

  private permit(call: Call, access: string, organization: string): void {
    if (access === "admin") requireAdministrator(call, organization);
    else if (access === "member") requireMember(call, organization);
  }

  /** The organization of a record that belongs to one by way of others. */
  private findOrganization(call: Call, record: object): string | undefined {
    let own: string | undefined;
    visitReferences(this.target.collection.schema, record, ({ reference, id }) => {
      if (!reference.owned || own !== undefined) return;
      const owner = call.world.get(this.context.target(reference.collection).collection, id) as
        | Json
        | undefined;
      if (typeof owner?.["organization_id"] === "string") own = owner["organization_id"];
    });
    return own;
  }

  private toWanted(call: Call): Json {
    if (this.where.length === 0) return {};
    const values = toValues(call, call.params as Json, call.body);
    return Object.fromEntries(this.where.map(([field, template]) => [field, fill(template, values)]));
  }

  /** A nested resource exists if what it is nested in does. @throws ApiError RESOURCE_NOT_FOUND */
  private requireParents(call: Call, wanted: Json): void {
    for (const [field, template] of this.where) {
      const owner = this.target.findOwner(field);
      const id = wanted[field];
      if (owner === undefined || id === undefined || id === null) continue;
      const target = this.context.target(owner);
      const found = target.find(call.world, id);
      if (found === undefined || target.isGone(found) || !this.isVisible(call, field, found))
        throw resourceNotFound(toName(template) ?? field, id);
    }
  }

  private isVisible(call: Call, field: string, parent: object): boolean {
    const conditions = this.binding.parents?.[field];
    if (conditions === undefined) return true;
    const wanted = fill(conditions, toValues(call, call.params as Json, call.body)) as Json;
    return Object.entries(wanted).every(([name, value]) => matches((parent as Json)[name], value));
  }

  /** @throws ApiError RESOURCE_NOT_FOUND */
  private findRecord(call: Call, wanted: Json): object {
    const { target, id } = this;
    const values = toValues(call, call.params as Json, call.body);
    const key = id === undefined ? undefined : fill(id, values);
    const fits = (record: object | undefined): record is object =>
      record !== undefined &&
      (this.binding.deleted === true || !target.isGone(record)) &&
      Object.entries(wanted).every(([field, value]) => matches((record as Json)[field], value));
    if (id !== undefined) {
      const record = target.find(call.world, key);
      if (fits(record)) return record;
    } else {
      for (const record of this.listRows(call, wanted)) if (fits(record)) return record;
    }
    const [field = "id"] = id === undefined ? Object.keys(wanted) : [toName(id) ?? "id"];
    throw resourceNotFound(field, key ?? wanted[field] ?? null);
  }

  private toHandler(): BoundOperation["handle"] {
    switch (this.action) {
      case "list":
        return this.toLister();
      case "create":
        return (call, _record, prepared) => this.create(call, prepared as Stored[] | undefined);
      case "retrieve":
        return (call, record) => this.present(record, call);
      case "download":
        return (_call, record) => download(record as Json, this.status, this.success.media?.type);
      case "delete":
        return (call, record) => this.remove(call, record);
      default:
        return (call, record, prepared) => this.update(call, record, prepared as Stored[] | undefined);
    }
  }

  private toLister(): (call: Call) => unknown {
    const { schemas, target, binding, described } = this;
    const answer = this.success.json?.schema?.node;
    const itemsAt = binding.items_at ?? findItems(answer, target, schemas);
    const list = itemsAt === "" ? answer : findSchema(answer, itemsAt, schemas);
    const presenter = new RecordPresenter(target, schemas.plain(list)["items"] ?? {}, schemas);
    const names = findPageNames(described, answer, { schemas, given: binding.page });
    const around = itemsAt === "" ? undefined : new BodyPresenter(answer, schemas);
    const nullNext =
      names.next !== undefined && schemas.types(findSchema(answer, names.next, schemas)).has("null");
    const paging = new Set(Object.values(names));
    const filters = described.parameters
      .filter(({ in: place, name }) => place === "query" && target.fields.has(name) && !paging.has(name))
      .map(({ name }) => name);
    const echoed = [...schemas.properties(answer).keys()].filter(
      (name) => ECHOED.test(name) && !isMapped(name, names),
    );
    const ranks = {
      order: (record: object) => this.toRank(record),
      getId: (record: object) => target.getId(record),
    };
    return (call) => {
      const query = call.query as Json;
      const rows = this.chooseRows(call, filters);
      const find = (id: string) => target.find(call.world, id);
      const { records, total, next } = readPage(rows, query, names, { ...ranks, find });
      const items = records.map((record) => presenter.present(record, call.world));
      if (around === undefined) return toReply(this.status, items);
      const places: [string, unknown][] = [[itemsAt, items]];
      if (names.total !== undefined) places.push([names.total, total]);
      if (names.next !== undefined && (next !== undefined || nullNext))
        places.push([names.next, next ?? null]);
      if (names.more !== undefined) places.push([names.more, next !== undefined]);
      for (const name of echoed) if (query[name] !== undefined) places.push([name, query[name]]);
      return toReply(this.status, around.present(places, call.world));
    };
  }

  private chooseRows(call: Call, filters: readonly string[]): View<object> | readonly object[] {
    const wanted = this.toWanted(call);
    const query = call.query as Json;
    const asked = filters.filter((name) => query[name] !== undefined);
    for (const name of asked) wanted[name] = query[name];
    const rows = this.listRows(call, wanted);
    const sort =
      this.binding.sort === undefined
        ? undefined
        : fill(this.binding.sort, toValues(call, call.params as Json, undefined));
    return typeof sort === "string" && sort !== "" ? sortBy(rows, sort) : rows;
  }

  /** By an index as far as one serves; newest first. */
  private listRows(call: Call, wanted: Json): View<object> | readonly object[] {
    const { collection, spec } = this.target;
    const { world } = call;
    const fields = Object.keys(wanted);
    const includesGone = this.binding.deleted === true;
    const indexed =
      includesGone && spec?.soft !== undefined
        ? undefined
        : fields.find((field) => this.findIndex(field) !== undefined);
    const rest = fields.filter((field) => field !== indexed);
    const base: View<object> =
      indexed !== undefined
        ? world.index(collection, this.findIndex(indexed)!, String(wanted[indexed]))
        : spec !== undefined && !includesGone
          ? world.index(collection, ALL, "")
          : world.all(collection);
    if (rest.length === 0 && (indexed !== undefined || (spec !== undefined && !includesGone))) return base;
    const rows: object[] = [];
    for (const record of base)
      if (rest.every((field) => matches((record as Json)[field], wanted[field]))) rows.push(record);
    return indexed === undefined && (spec === undefined || includesGone)
      ? rows.sort((a, b) => compareRanks(this.toRank(a), this.toRank(b)))
      : rows;
  }

  private findIndex(field: string): string | undefined {
    const { collection, spec } = this.target;
    if (spec !== undefined) return Object.hasOwn(spec.belongs_to, field) ? `by_${field}` : undefined;
    return Object.entries(collection.indexes).find(([, index]) => index.field === field)?.[0];
  }

  private toRank(record: object): Order {
    const { collection, spec } = this.target;
    const index = spec === undefined ? undefined : collection.indexes[ALL];
    if (index !== undefined) return index.order(record) as Order;
    const created = (record as Json)["created_at"];
    return typeof created === "number" ? -created : 0;
  }

  private create(call: Call, files: readonly Stored[] | undefined): unknown {
    const { target, binding } = this;
    const given = this.readBody(call, files);
    const values = toValues(call, call.params as Json, call.body);
    Object.assign(given, this.toWanted(call));
    if (target.spec !== undefined) this.addOwners(call, given);
    const early = binding.set === undefined ? {} : withoutNewId(binding.set);
    Object.assign(given, fill(early, values));
    this.requireOwners(call, given);
    let record = target.create(call, given);
    const late = Object.entries(binding.set ?? {}).filter(([field]) => !Object.hasOwn(early, field));
    if (late.length > 0) {
      const set = fill(
        Object.fromEntries(late),
        toValues(call, call.params as Json, call.body, target.getId(record)),
      ) as Json;
      record = target.set(call.world, record, set);
    }
    this.emit(call, record);
    return this.present(record, call);
  }

  /** Without what the client may not set. */
  private readBody(call: Call, files: readonly Stored[] | undefined): Json {
    const media = this.described.body && chooseMedia(this.described.body.media);
    const isForm = media?.type.startsWith("multipart/") === true;
    const body = isForm ? coerceForm(call.body, media.schema?.node, this.schemas) : call.body;
    const given: Json = {};
    if (isJson(body)) for (const name in body) if (!this.ignored.has(name)) given[name] = body[name];
    if (
      this.target.spec !== undefined &&
      this.schemas.has(
        this.schemas.properties(this.target.spec.schema).get(this.target.spec.idField),
        "readOnly",
      )
    )
      delete given[this.target.spec.idField];
    for (const file of files ?? []) this.addFile(given, file);
    return given;
  }

  private addFile(given: Json, { bytes, filename, mime_type }: Stored): void {
    const { fields } = this.target;
    const put = (pattern: RegExp, value: unknown) => {
      const field = [...fields].find((name) => pattern.test(name));
      if (field !== undefined && value !== undefined && given[field] === undefined) given[field] = value;
    };
    put(FILE_NAME, filename);
    put(MIME_TYPE, mime_type);
    put(FILE_SIZE, bytes.length);
    given[CONTENT] = toBase64(bytes);
  }

  /** The caller's own, where a record belongs to an organization or a user that no one named. */
  private addOwners({ principal }: Call, given: Json): void {
    if (principal === undefined) return;
    for (const [field, owner] of Object.entries(this.target.spec!.belongs_to)) {
      if (given[field] !== undefined) continue;
      if (owner === "organizations") given[field] = principal.organization_id;
      if (owner === "users") given[field] = principal.user_id;
    }
  }

  /** @throws ApiError INVALID_INPUT for a field that names a missing record */
  private requireOwners({ world }: Call, given: Json): void {
    for (const [field, id] of Object.entries(given)) {
      const owner = this.target.findOwner(field);
      if (owner === undefined || id === null) continue;
      const target = this.context.target(owner);
      const found = target.find(world, id);
      if (found === undefined || target.isGone(found))
        throw invalidInput(field, id, `${field} must name one of the ${owner}`);
    }
  }

  private update(call: Call, record: object, prepared: Stored[] | undefined): unknown {
    const { target, binding, action } = this;
    const given = this.readBody(call, prepared);
    const { idField } = target.collection;
    if (given[idField] !== undefined && String(given[idField]) !== target.getId(record))
      throw invalidInput(idField, given[idField], `${idField} cannot change`);
    delete given[idField];
    Object.assign(given, fill(binding.set ?? {}, toValues(call, call.params as Json, call.body)));
    this.requireOwners(call, given);
    const isPatch = String(call.headers["content-type"] ?? "").startsWith("application/merge-patch+json");
    const fields = isPatch ? mergeInto(target.toPublic(record, call.world), given) : given;
    const after = target.update(call, record, fields, { whole: action === "replace" });
    this.emit(call, after);
    return this.present(after, call);
  }

  private remove(call: Call, record: object): unknown {
    const { target, binding } = this;
    if (binding.soft === undefined) {
      this.emit(call, record);
      target.remove(call, record);
      return this.presentRemoved(record, call);
    }
    const gone = target.set(call.world, record, { [binding.soft]: call.world.iso(call.world.now) });
    this.emit(call, gone);
    return this.presentRemoved(gone, call);
  }

  private presentRemoved(record: object, call: Call): unknown {
    if (this.success.json === undefined) return this.present(record, call);
    const body = this.presenter.present(record, call.world);
    const names = this.schemas.properties(this.success.json.schema?.node);
    for (const name of ["deleted", "success", "ok"])
      if (this.schemas.types(names.get(name)).has("boolean")) body[name] = true;
    return this.wrap(body, call);
  }

  private present(record: object, call: Call): unknown {
    if (this.success.json === undefined)
      return new Reply(this.status === 200 && this.success.media === undefined ? 204 : this.status);
    return this.wrap(this.presenter.present(record, call.world), call);
  }

  private wrap(body: Json, call: Call): unknown {
    if (this.around === undefined) return toReply(this.status, body);
    return toReply(this.status, this.around.present([[this.itemAt, body]], call.world));
  }

  /** Unless the rules of the reference's collection have sent it already. */
  private emit(call: Call, record: object): void {
    const { emit: name } = this.binding;
    const declared = name === undefined ? undefined : this.context.event(name);
    if (declared === undefined || call.world.emitted.some(({ event }) => event === name)) return;
    const heard = declared.about.heardBy(record, call.world);
    const own = this.findOrganization(call, record) ?? call.principal?.organization_id;
    emit(call.world, declared, record, heard.length > 0 || own === undefined ? heard : [own]);
  }

  async receive(call: Call, stream: AsyncIterable<Uint8Array>): Promise<Stored[]> {
    const most = call.settings.json_limit_mb * 1024 * 1024;
    const files = Object.values(call.files);
    if (files.length > 0)
      return Promise.all(
        files.map(async (file) => ({
          bytes: await file.read(most),
          filename: file.filename,
          mime_type: file.mime_type,
        })),
      );
    const media = chooseMedia(this.described.body!.media)!;
    if (!isStream(media.type)) return [];
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of stream) {
      size += piece.length;
      if (size > most) throw new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_bytes: most } });
      pieces.push(piece);
    }
    const mime_type = String(call.headers["content-type"] ?? media.type);
    return [{ bytes: concatBytes(pieces), filename: undefined, mime_type }];
  }
}

const isStream = (type: string) => !/json|multipart|x-www-form-urlencoded|^text\//.test(type);

function answerFixed(
  described: DescribedOperation,
  binding: OperationBinding,
  { reading }: BindingContext,
): AnyOperation {
  const { status: usual, json } = findSuccess(described);
  const status = binding.status ?? usual;
  const { access = described.open ? "anyone" : "caller" } = binding;
  return {
    ...declareOperation(described, reading),
    credentials: access !== "anyone",
    errors: access === "member" ? [...MEMBER_ERRORS] : access === "admin" ? [...ADMINISTRATOR_ERRORS] : [],
    success: {
      status,
      ...(json?.schema && { schema: reading.schemas.declare(json.schema, "answer") }),
    } as never,
    access(call: Call) {
      const { organization_id = call.principal?.organization_id } = call.params as {
        organization_id?: string;
      };
      if (access === "admin") requireAdministrator(call, organization_id);
      if (access === "member") requireMember(call, organization_id);
    },
    handle: (call: Call) =>
      toReply(status, fill(binding.answer, toValues(call, call.params as Json, call.body))),
  } as AnyOperation;
}

/** The fields that must be equal, and the id, by the binding and the names of path parameters. */
export function findPlaces(
  { parameters, path }: Pick<DescribedOperation, "parameters" | "path">,
  binding: OperationBinding,
  target: Pick<Target, "fields">,
): { where: [string, unknown][]; id: string | undefined } {
  const names = listPathNames({ parameters, path });
  const where = new Map<string, unknown>();
  for (const name of names)
    if (target.fields.has(name) && binding.id !== `{${name}}`) where.set(name, `{${name}}`);
  for (const [field, template] of Object.entries(binding.where ?? {})) where.set(field, template);
  const used = JSON.stringify([...where.values()]);
  const last = names.filter((name) => !used.includes(`{${name}}`)).at(-1);
  const id =
    binding.id ?? (last === undefined || getAction(binding)?.action === "create" ? undefined : `{${last}}`);
  return { where: [...where], id: getAction(binding)?.action === "list" ? undefined : id };
}

export function listPathNames({ path }: Pick<DescribedOperation, "parameters" | "path">): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
}

/** The only list of an answer, or the one with a usual name. */
export function findItems(answer: unknown, target: Pick<Target, "collection">, schemas: Schemas): string {
  if (schemas.types(answer).has("array")) return "";
  const lists = [...schemas.properties(answer)]
    .filter(([, node]) => schemas.types(node).has("array"))
    .map(([name]) => name);
  if (lists.length === 1) return lists[0]!;
  return (
    [target.collection.name, "data", "items", "results", "records"].find((name) => lists.includes(name)) ??
    lists[0] ??
    ""
  );
}

/** The schema at a place such as `meta.next`. */
export function findSchema(node: unknown, place: string, schemas: Schemas): unknown {
  return place.split(".").reduce<unknown>((inside, step) => schemas.properties(inside).get(step), node);
}

const isMapped = (name: string, names: object) =>
  Object.entries(names).some(([key, place]) => place === name && ["total", "next", "more"].includes(key));

function toReply(status: number, body: unknown): unknown {
  return new Reply(status, body);
}

/** The parameter that a template consists of. */
function toName(template: unknown): string | undefined {
  return typeof template === "string" ? /^\{([\w-]+)\}$/.exec(template)?.[1] : undefined;
}

/** The part of `set` that needs no id of the new record. */
function withoutNewId(set: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(
    Object.entries(set).filter(([, template]) => !JSON.stringify(template).includes("{id}")),
  );
}

/** RFC 7396, for the fields that are given. */
function mergeInto(before: Json, given: Json): Json {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const old = before[name];
      if (!isJson(value) || !isJson(old)) return [name, value];
      const merged = { ...old, ...mergeInto(old, value) };
      return [name, Object.fromEntries(Object.entries(merged).filter(([key]) => value[key] !== null))];
    }),
  );
}

function compareRanks(a: Order, b: Order): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The bytes of a file, as the type that the document describes, or as that of the upload. */
function download(record: Json, status: number, described = "*/*"): unknown {
  const field = Object.keys(record).find((name) => MIME_TYPE.test(name));
  const type = described.includes("*") ? ((field && record[field]) ?? "application/octet-stream") : described;
  const content = record[CONTENT];
  const bytes = typeof content === "string" ? fromBase64(content) : new Uint8Array(0);
  return new Reply(status, new RawBody(String(type), bytes));
}

const FILE_NAME = /^(file_?name|name|title)$/i;
const MIME_TYPE = /^(mime_?type|content_?type|media_?type)$/i;
const FILE_SIZE = /^(size|bytes|size_?(in_)?bytes|content_length)$/i;
