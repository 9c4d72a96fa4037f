import { invalidInput } from "../../engine/contract/errors.ts";
import { emit } from "../../engine/contract/event.ts";
import { findInvalidField } from "../../engine/contract/invalid-field.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { findReferredId } from "../../engine/own/make-record.ts";
import { BoundAccess, type BoundParts } from "./bound-access.ts";
import { BoundBody } from "./bound-body.ts";
import { type SentFile, toDownload } from "./bound-files.ts";
import { createLister } from "./bound-list.ts";
import { generateValue } from "./generate-value.ts";
import { createBodyPresenter, createRecordPresenter, findSchema } from "./present-record.ts";
import type { Schemas } from "./schemas.ts";
import { fillPlaceholders, toPlaceholderValues } from "./templates.ts";

const END_OF_PATH = /(\.json|\/)$/;

/** Handles the calls of one operation. */
export class BoundOperation {
  readonly access: BoundAccess;
  readonly handle: (call: Call, record: object, prepared: unknown) => unknown;
  private readonly parts: BoundParts;
  private readonly schemas: Schemas;
  private readonly body: BoundBody;
  private readonly presentRecord: ReturnType<typeof createRecordPresenter>;
  private readonly presentBody: ReturnType<typeof createBodyPresenter> | undefined;
  private readonly itemAt: string;
  /** A slash or `.json`, if the path of one record ends with it. */
  private readonly endOfAddress: string;

  constructor(parts: BoundParts) {
    const { described, binding, target, context, success } = parts;
    this.parts = parts;
    this.schemas = context.reading.schemas;
    this.body = new BoundBody(parts);
    this.itemAt = binding.item_at ?? "";
    const whole = success.json?.schema?.node;
    const hasItem = (one: unknown) => this.schemas.listProperties(one).has(this.itemAt.split(".")[0]!);
    const answer = [whole, ...this.schemas.listAlternatives(whole)].find(hasItem) ?? whole;
    const inner = this.itemAt === "" ? answer : findSchema(answer, this.itemAt, this.schemas);
    this.presentRecord = createRecordPresenter(target, inner ?? {}, this.schemas);
    this.presentBody = this.itemAt === "" ? undefined : createBodyPresenter(answer, this.schemas);
    const start = `${described.path.replace(END_OF_PATH, "")}/{`;
    const ends = context.reading.operations.map(({ path }) =>
      path.startsWith(start) ? path.slice(start.length).replace(/^[^{}/]+\}/, "") : "",
    );
    this.endOfAddress = ends.find((end) => end === "/" || end === ".json") ?? "";
    this.access = new BoundAccess(parts);
    this.handle = this.toHandler();
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
    const fields = this.body.read(call, files);
    const sentNames = Object.keys(fields);
    const values = toPlaceholderValues(call);
    Object.assign(fields, this.access.toConditions(call));
    if (target.spec !== undefined) this.addOwners(call, fields);
    const set = Object.entries(binding.set ?? {});
    const needsNewId = ([, template]: [string, unknown]) => JSON.stringify(template).includes("{id}");
    const withoutId = set.filter((entry) => !needsNewId(entry));
    const withId = set.filter(needsNewId);
    Object.assign(fields, fillPlaceholders(Object.fromEntries(withoutId), values));
    if (target.spec !== undefined) this.addMissingOwners(call, fields);
    const missing = this.access.parentFields.filter((field) => fields[field] === undefined);
    this.requireOwners(call, { ...fields, ...Object.fromEntries(missing.map((field) => [field, null])) });
    let record = this.toFitting(call, { record: target.create(call, fields), sent: sentNames });
    if (withId.length > 0) {
      const valuesWithId = toPlaceholderValues(call, target.getId(record));
      record = target.set(
        call.world,
        record,
        fillPlaceholders(Object.fromEntries(withId), valuesWithId) as JsonObject,
      );
    }
    this.emit(call, record);
    return this.withLocation(this.present(record, call), record, call);
  }

  /** Adds the address of a new record, if the document describes that header. */
  private withLocation({ status, body }: Reply, record: object, { request }: Call): Reply {
    const names = Object.keys((this.parts.success.node["headers"] ?? {}) as JsonObject);
    const name = names.find((one) => /^location$/i.test(one));
    if (name === undefined) return new Reply(status, body);
    const path = request.target.split("?", 1)[0]!.replace(END_OF_PATH, "");
    const id = encodeURIComponent(this.parts.target.getId(record));
    return new Reply(status, body, { [name]: `${request.base_url}${path}/${id}${this.endOfAddress}` });
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

  /** Sets the other owners that a record needs to records that the caller may see. @throws ApiError INVALID_INPUT */
  private addMissingOwners({ world, principal }: Call, fields: JsonObject): void {
    const { user_id: actor_id, organization_id: actor_organization_id } = principal ?? {};
    const context = { world, actor_id, actor_organization_id };
    const collectionsByName = new Map(world.listCollections().map((one) => [one.name, one]));
    const { belongs_to, schema } = this.parts.target.spec!;
    const required = this.schemas.listRequired(schema);
    const organization_id = fields["organization_id"] as string | undefined;
    for (const [field, collection] of Object.entries(belongs_to)) {
      if (fields[field] !== undefined || !required.has(field)) continue;
      // The caller names a parent that must meet conditions.
      if (this.access.parentFields.includes(field)) continue;
      const id = findReferredId({ collection }, { context, collectionsByName, organization_id });
      if (id === null) throw invalidInput(field, null, `${field} is required: there are no ${collection}`);
      fields[field] = id;
    }
  }

  /** @throws ApiError INVALID_INPUT for a field that names a missing record, or one without the binding's conditions */
  private requireOwners(call: Call, fields: JsonObject): void {
    for (const [field, id] of Object.entries(fields)) {
      const parent = this.access.findParent(field);
      // A field may be null, unless the binding has conditions on its record.
      const isUnset = id === null && !this.access.parentFields.includes(field);
      if (parent === undefined || isUnset || this.access.hasParent(call, field, id)) continue;
      throw invalidInput(field, id, `${field} must name one of the ${parent.collection.name}`);
    }
  }

  private update(call: Call, record: object, prepared: SentFile[] | undefined): unknown {
    const { target, binding, action } = this.parts;
    const fields = Array.isArray(call.body)
      ? this.body.readPatch(call, record)
      : this.body.read(call, prepared);
    const sentNames = Object.keys(fields);
    const { idField } = target.collection;
    if (fields[idField] !== undefined && String(fields[idField]) !== target.getId(record))
      throw invalidInput(idField, fields[idField], `${idField} cannot change`);
    delete fields[idField];
    // Ids of outer records are ignored: a record cannot move.
    for (const name of target.outerIdFields) delete fields[name];
    Object.assign(fields, fillPlaceholders(binding.set ?? {}, toPlaceholderValues(call)));
    this.requireOwners(call, fields);
    if (action === "replace") this.keepConditions(call, record, fields);
    const changes = this.body.toChanges(call, record, fields);
    const bodyFields = action === "replace" ? this.body.fields : undefined;
    const changed = target.update(call, record, changes, bodyFields);
    const after = this.toFitting(call, { record: changed, sent: sentNames, before: record as JsonObject });
    this.emit(call, after);
    return this.present(after, call);
  }

  /** Keeps the fields by which the record is found at its path, where the request leaves them out. */
  private keepConditions(call: Call, record: object, fields: JsonObject): void {
    const before = this.parts.target.toPublic(record, call.world);
    for (const name of Object.keys(this.access.toConditions(call)))
      if (fields[name] === undefined && before[name] !== undefined) fields[name] = before[name];
  }

  /**
   * Refuses sent fields that fit the request's schema, but not the record's. With an inferred binding, objects and lists
   * that a record has in another form get the value before, with the sent parts where that fits, or an invented one.
   * @throws ApiError INVALID_INPUT
   */
  private toFitting(
    call: Call,
    { record, sent, before }: { record: object; sent: readonly string[]; before?: JsonObject | undefined },
  ): object {
    const { target, context } = this.parts;
    const publicRecord = target.toPublic(record, call.world);
    if (target.spec === undefined) {
      if (sent.length > 0) target.checkRecord(publicRecord);
      return record;
    }
    const validate = this.schemas.compileValidator(target.spec.schema, "answer");
    if (validate(publicRecord)) return record;
    const { field, pointer, value, message } = findInvalidField(publicRecord, validate.errors!);
    const name = field.split(/[.[]/)[0]!;
    const breaksRule = pointer === "" && sent.length > 0 && !context.isInferred;
    if (breaksRule && (before === undefined || validate(target.toPublic(before, call.world))))
      throw invalidInput("body", call.body, `body ${message}`);
    if (!sent.includes(name)) return record;
    const place = this.body.toPlace(field);
    if (!context.isInferred || field === name) throw invalidInput(place, value, `${place} ${message}`);
    const oldValue = before?.[name];
    const merged = { ...(oldValue as object), ...(publicRecord[name] as object) };
    const node = this.schemas.listPossibleFields(target.spec.schema).get(name);
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
    for (const name of ["deleted", "success", "ok", "data"])
      if (this.schemas.listTypes(properties.get(name)).has("boolean")) body[name] = true;
    return this.wrap(body, call);
  }

  private present(record: object, call: Call): Reply {
    const { status, success } = this.parts;
    if (success.json === undefined)
      return new Reply(status === 200 && success.media === undefined ? 204 : status);
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
    const own = event.about.listOrganizations(record, call.world);
    const organization = this.access.findOrganization(call, record) ?? call.principal?.organization_id;
    emit(call.world, event, record, own.length > 0 || organization === undefined ? own : [organization]);
  }
}
