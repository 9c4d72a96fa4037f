import { invalidInput } from "../../engine/contract/errors.ts";
import { emit } from "../../engine/contract/event.ts";
import { parseInstant } from "../../engine/contract/instant.ts";
import { findInvalidField, parseNumber } from "../../engine/contract/invalid-field.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { isEqual, mapValues } from "../../engine/maps.ts";
import { BoundAccess, type BoundParts } from "./bound-access.ts";
import { addFile, type SentFile, toDownload } from "./bound-files.ts";
import { createLister } from "./bound-list.ts";
import { chooseMedia, coerceForm, listForeignFields } from "./declare-operation.ts";
import { generateValue } from "./generate-value.ts";
import { applyPatch } from "./json-patch.ts";
import { createBodyPresenter, createRecordPresenter, findSchema } from "./present-record.ts";
import type { Schemas } from "./schemas.ts";
import { fill, toValues } from "./templates.ts";

/** Handles the calls of one operation. */
export class BoundOperation {
  readonly access: BoundAccess;
  readonly handle: (call: Call, record: object, prepared: unknown) => unknown;
  private readonly parts: BoundParts;
  private readonly schemas: Schemas;
  /** The schema of the request's body. */
  private readonly body: unknown;
  /** Fields of a body that are not stored. */
  private readonly ignoredFields: ReadonlySet<string>;
  /** Whether a record has the described fields alone. */
  private readonly isClosed: boolean;
  private readonly presentRecord: ReturnType<typeof createRecordPresenter>;
  private readonly presentBody: ReturnType<typeof createBodyPresenter> | undefined;
  private readonly itemAt: string;
  /** A slash, if the path of one record ends with it. */
  private readonly endOfAddress: string;

  constructor(parts: BoundParts) {
    const { described, binding, target, context, success } = parts;
    this.parts = parts;
    this.schemas = context.reading.schemas;
    this.body = described.body && chooseMedia(described.body.media)?.schema?.node;
    this.ignoredFields = this.findIgnoredFields(this.body);
    const keywords = this.schemas.mergeKeywords(target.spec?.schema);
    const { additionalProperties, unevaluatedProperties, patternProperties } = keywords;
    this.isClosed =
      patternProperties === undefined && [additionalProperties, unevaluatedProperties].includes(false);
    const answer = success.json?.schema?.node;
    this.itemAt = binding.item_at ?? "";
    const inner = this.itemAt === "" ? answer : findSchema(answer, this.itemAt, this.schemas);
    this.presentRecord = createRecordPresenter(target, inner ?? {}, this.schemas);
    this.presentBody = this.itemAt === "" ? undefined : createBodyPresenter(answer, this.schemas);
    const start = `${described.path.replace(/\/$/, "")}/{`;
    const isPathOfOne = (path: string) =>
      path.startsWith(start) && /^[^/]+\/$/.test(path.slice(start.length));
    this.endOfAddress = context.reading.operations.some(({ path }) => isPathOfOne(path)) ? "/" : "";
    this.access = new BoundAccess(parts);
    this.handle = this.toHandler();
  }

  /**
   * Those that are `readOnly` by the body's schema, else the record's; the id always by the record's. And those that have
   * other types in a record.
   */
  private findIgnoredFields(body: unknown): ReadonlySet<string> {
    const { spec } = this.parts.target;
    const ownFields = this.schemas.listFields(spec?.schema);
    const fields = new Map([...ownFields, ...this.schemas.listFields(body)]);
    if (spec !== undefined && ownFields.has(spec.idField))
      fields.set(spec.idField, ownFields.get(spec.idField));
    const isReadOnly = ([, node]: [string, unknown]) => this.schemas.has(node, "readOnly");
    const names = [...fields].filter(isReadOnly).map(([name]) => name);
    return new Set([...names, ...listForeignFields(body, spec?.schema, this.schemas)]);
  }

  private toHandler(): BoundOperation["handle"] {
    switch (this.parts.action) {
      case "list":
        return createLister(this.parts, this.access, this.schemas);
      case "create":
        return (call, _record, prepared) => this.create(call, prepared as SentFile[] | undefined);
      case "retrieve":
        return (call, record) => this.present(record, call);
      case "download":
        return (_call, record) =>
          toDownload(record as JsonObject, this.parts.status, this.parts.success.media?.type);
      case "delete":
        return (call, record) => this.remove(call, record);
      default:
        return (call, record, prepared) => this.update(call, record, prepared as SentFile[] | undefined);
    }
  }

  private create(call: Call, files: readonly SentFile[] | undefined): unknown {
    const { target, binding } = this.parts;
    const fields = this.readBody(call, files);
    const sentNames = Object.keys(fields);
    const values = toValues(call);
    Object.assign(fields, this.access.toConditions(call));
    if (target.spec !== undefined) this.addOwners(call, fields);
    const set = Object.entries(binding.set ?? {});
    const needsNewId = ([, template]: [string, unknown]) => JSON.stringify(template).includes("{id}");
    const withoutId = set.filter((entry) => !needsNewId(entry));
    const withId = set.filter(needsNewId);
    Object.assign(fields, fill(Object.fromEntries(withoutId), values));
    this.requireOwners(call, fields);
    let record = target.create(call, fields);
    record = this.toFitting(call, { record, sent: sentNames });
    if (withId.length > 0) {
      const valuesWithId = toValues(call, target.getId(record));
      record = target.set(call.world, record, fill(Object.fromEntries(withId), valuesWithId) as JsonObject);
    }
    this.emit(call, record);
    return this.withLocation(this.present(record, call), record, call);
  }

  /** Adds the address of a new record, if the document describes that header. */
  private withLocation({ status, body }: Reply, record: object, { request }: Call): Reply {
    const names = Object.keys((this.parts.success.node["headers"] ?? {}) as JsonObject);
    const name = names.find((one) => /^location$/i.test(one));
    if (name === undefined) return new Reply(status, body);
    const path = request.target.split("?", 1)[0]!.replace(/\/$/, "");
    const id = encodeURIComponent(this.parts.target.getId(record));
    return new Reply(status, body, { [name]: `${request.base_url}${path}/${id}${this.endOfAddress}` });
  }

  /** The fields of the body that the client may set, and its files. */
  private readBody(call: Call, files: readonly SentFile[] | undefined): JsonObject {
    const media = this.parts.described.body && chooseMedia(this.parts.described.body.media);
    const isForm = media?.type.startsWith("multipart/") === true;
    const body = isForm ? coerceForm(call.body, media.schema?.node, this.schemas) : call.body;
    const fields: JsonObject = {};
    const { target, context } = this.parts;
    const { isInferred } = context;
    const ownFields = this.schemas.listFields(target.spec?.schema);
    const bodyFields = this.schemas.listFields(this.body);
    for (const [name, sent] of Object.entries(isJsonObject(body) ? body : {})) {
      if (this.ignoredFields.has(name) || (this.isClosed && !ownFields.has(name))) continue;
      const node = ownFields.get(name);
      const types = this.schemas.listTypes(node);
      const isNothing = sent === null && types.size > 0 && !types.has("null");
      if (isNothing && isInferred && !isMergePatch(call)) continue;
      const typed = toTypes(sent, types);
      // A field that the body describes as a text may have any.
      const value = this.toTime(typed === undefined && !bodyFields.has(name) ? sent : typed, node);
      if (value !== undefined) fields[name] = value;
    }
    for (const file of files ?? []) addFile(fields, target.fieldNames, file);
    return fields;
  }

  /**
   * With an inferred binding, a text in the form of a record's times, which a request may describe as any text; undefined
   * for any other text.
   */
  private toTime(value: unknown, node: unknown): unknown {
    const { schemas } = this;
    const isTime = [node, ...schemas.listAlternatives(node)].some(
      (one) => schemas.mergeKeywords(one)["format"] === "date-time",
    );
    if (!this.parts.context.isInferred || !isTime || typeof value !== "string") return value;
    if (schemas.compileValidator(node, "answer")(value)) return value;
    const instant = parseInstant(value);
    return instant === undefined ? undefined : new Date(instant).toISOString();
  }

  /** Sets fields that name an organization or a user to the caller's, where the request leaves them out. */
  private addOwners({ principal }: Call, fields: JsonObject): void {
    if (principal === undefined) return;
    for (const [field, owner] of Object.entries(this.parts.target.spec!.belongs_to)) {
      if (fields[field] !== undefined) continue;
      if (owner === "organizations") fields[field] = principal.organization_id;
      if (owner === "users") fields[field] = principal.user_id;
    }
  }

  /** @throws ApiError INVALID_INPUT for a field that names a missing record */
  private requireOwners({ world }: Call, fields: JsonObject): void {
    for (const [field, id] of Object.entries(fields)) {
      const owner = this.parts.target.findOwner(field);
      if (owner === undefined || id === null) continue;
      const target = this.parts.context.getTarget(owner);
      const parent = target.find(world, id);
      if (parent === undefined || target.isDeleted(parent))
        throw invalidInput(field, id, `${field} must name one of the ${owner}`);
    }
  }

  private update(call: Call, record: object, prepared: SentFile[] | undefined): unknown {
    const { target, binding, action } = this.parts;
    const fields = Array.isArray(call.body) ? this.readPatch(call, record) : this.readBody(call, prepared);
    const sentNames = Object.keys(fields);
    const { idField } = target.collection;
    if (fields[idField] !== undefined && String(fields[idField]) !== target.getId(record))
      throw invalidInput(idField, fields[idField], `${idField} cannot change`);
    delete fields[idField];
    Object.assign(fields, fill(binding.set ?? {}, toValues(call)));
    this.requireOwners(call, fields);
    if (action === "replace") this.keepConditions(call, record, fields);
    const changes = isMergePatch(call)
      ? this.mergePatch(target.toPublic(record, call.world), fields)
      : fields;
    const replaced = action === "replace" ? this.schemas.listFields(this.body) : undefined;
    const changed = target.update(call, record, changes, replaced);
    const after = this.toFitting(call, { record: changed, sent: sentNames, before: record as JsonObject });
    this.emit(call, after);
    return this.present(after, call);
  }

  /** Keeps the fields by which the record is found at its path, where the request leaves them out. */
  private keepConditions(call: Call, record: object, fields: JsonObject): void {
    const before = this.parts.target.toPublic(record, call.world);
    for (const name of Object.keys(this.access.toConditions(call)))
      if (fields[name] === undefined) fields[name] = before[name];
  }

  private mergePatch(before: JsonObject, fields: JsonObject): JsonObject {
    const { target } = this.parts;
    const entries = Object.entries(mergeFields(before, fields));
    return Object.fromEntries(
      entries.map(([name, value]) => [name, value === null ? target.getRemovedValue(name) : value]),
    );
  }

  /** The fields that a JSON patch changes; what the server sets stays. @throws ApiError INVALID_INPUT */
  private readPatch({ body, world }: Call, record: object): JsonObject {
    const { target } = this.parts;
    const patch = body as JsonObject[];
    const before = target.toPublic(record, world);
    const after = applyPatch(before, patch);
    if (!isJsonObject(after)) throw invalidInput("body", after, "the patched record must be an object");
    const changedNames = Object.keys({ ...before, ...after }).filter(
      (name) => !target.isSetByServer(name) && !isEqual(before[name], after[name]),
    );
    // Fields that a new whole record lacks become undefined, as in PUT, and not null.
    const replacesRecord = target.spec !== undefined && patch.some(({ path }) => path === "");
    const toValue = (name: string) =>
      Object.hasOwn(after, name) ? after[name] : replacesRecord ? undefined : target.getRemovedValue(name);
    return Object.fromEntries(changedNames.map((name) => [name, toValue(name)]));
  }

  /**
   * Refuses sent fields that fit the request's schema, but not the record's. With an inferred binding, objects and lists
   * that a record has in another form get the value before, with the sent parts where that fits, or an invented one.
   * @throws ApiError INVALID_INPUT
   */
  private toFitting(
    call: Call,
    { record, sent, before = {} }: { record: object; sent: readonly string[]; before?: JsonObject },
  ): object {
    const { target, context } = this.parts;
    const publicRecord = target.toPublic(record, call.world);
    const validate = this.schemas.compileValidator(target.spec?.schema ?? true, "answer");
    if (validate(publicRecord)) return record;
    const { field, pointer, value, message } = findInvalidField(publicRecord, validate.errors!);
    const name = field.split(/[.[]/)[0]!;
    const breaksRule = pointer === "" && sent.length > 0 && !context.isInferred;
    if (breaksRule && validate(target.toPublic(before, call.world)))
      throw invalidInput("body", call.body, `body ${message}`);
    if (!sent.includes(name)) return record;
    if (!context.isInferred || field === name) throw invalidInput(field, value, `${field} ${message}`);
    const oldValue = before[name];
    const merged = { ...(oldValue as object), ...(publicRecord[name] as object) };
    const node = this.schemas.listFields(target.spec?.schema).get(name);
    const fits = isJsonObject(oldValue) && this.schemas.compileValidator(node, "answer")(merged);
    const newValue = fits ? merged : oldValue;
    const replaced = target.replaceField(call.world, record as JsonObject, { name, value: newValue });
    return this.toFitting(call, { record: replaced, sent: sent.filter((one) => one !== name), before });
  }

  private remove(call: Call, record: object): unknown {
    const { target, binding } = this.parts;
    if (binding.soft === undefined) {
      this.emit(call, record);
      target.remove(call, record);
      return this.presentRemoved(record, call);
    }
    const deleted = target.set(call.world, record, { [binding.soft]: call.world.toIso(call.world.now) });
    this.emit(call, deleted);
    return this.presentRemoved(deleted, call);
  }

  private presentRemoved(record: object, call: Call): unknown {
    if (this.parts.success.json === undefined) return this.present(record, call);
    const body = this.presentRecord(record, call.world);
    const properties = this.schemas.listProperties(this.parts.success.json.schema?.node);
    // The answer may give a name of the record another meaning, such as `object: tag.deleted`.
    for (const [name, node] of properties)
      if (body[name] !== undefined && !this.schemas.compileValidator(node, "answer")(body[name]))
        body[name] = generateValue(this.schemas, node, 0);
    for (const name of ["deleted", "success", "ok"])
      if (this.schemas.listTypes(properties.get(name)).has("boolean")) body[name] = true;
    return this.wrap(body, call);
  }

  private present(record: object, call: Call): Reply {
    if (this.parts.success.json === undefined)
      return new Reply(
        this.parts.status === 200 && this.parts.success.media === undefined ? 204 : this.parts.status,
      );
    return this.wrap(this.presentRecord(record, call.world), call);
  }

  private wrap(body: JsonObject, call: Call): Reply {
    if (this.presentBody === undefined) return new Reply(this.parts.status, body);
    return new Reply(this.parts.status, this.presentBody([[this.itemAt, body]], call.world));
  }

  /** Emits the binding's event, unless the rules of the reference's collection have emitted it already. */
  private emit(call: Call, record: object): void {
    const { emit: name } = this.parts.binding;
    const event = name === undefined ? undefined : this.parts.context.findEvent(name);
    if (event === undefined || call.world.events.some((one) => one.event === name)) return;
    const organizations = event.about.listRecipients(record, call.world);
    const organization = this.access.findOrganization(call, record) ?? call.principal?.organization_id;
    emit(
      call.world,
      event,
      record,
      organizations.length > 0 || organization === undefined ? organizations : [organization],
    );
  }
}

/** A number as a text, or a text as a number, where a record has only that; undefined for any other text. */
function toTypes(value: unknown, types: ReadonlySet<string>): unknown {
  const hasNumbers = types.has("number") || types.has("integer");
  if (typeof value === "number" && types.has("string") && !hasNumbers) return String(value);
  return typeof value === "string" && hasNumbers && !types.has("string") ? parseNumber(value) : value;
}

const isMergePatch = ({ headers }: Call) =>
  String(headers["content-type"] ?? "").startsWith("application/merge-patch+json");

/** A merge patch (RFC 7396), applied to the fields that it names. */
function mergeFields(before: JsonObject, patch: JsonObject): JsonObject {
  return mapValues(patch, (value, name) => {
    const old = before[name];
    if (!isJsonObject(value) || !isJsonObject(old)) return value;
    const merged = { ...old, ...mergeFields(old, value) };
    return Object.fromEntries(Object.entries(merged).filter(([key]) => value[key] !== null));
  });
}
