import { resourceNotFound } from "../../engine/contract/errors.ts";
import type { AnyEvent } from "../../engine/contract/event.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { findOrganization } from "../../engine/contract/references.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { requireAdministrator, requireMember } from "../../engine/resources/organizations/access.ts";
import type { Access, Action, OperationBinding } from "./binding-schema.ts";
import type { BoundCollection } from "./bound-collection.ts";
import type { DescribedSuccess } from "./declare-answer.ts";
import type { DescribedOperation, OpenApiReading } from "./list-operations.ts";
import { createRecordSource, type RecordSource, type Selector } from "./select-records.ts";
import { fillPlaceholders, toPlaceholderValues } from "./templates.ts";

export interface BindingContext {
  reading: OpenApiReading;
  getTarget(name: string): BoundCollection;
  /** Whether the binding is inferred: no document contains it, and the described schemas may contradict each other. */
  isInferred: boolean;
  /** The event of a binding's `emit`. */
  findEvent(name: string): AnyEvent | undefined;
}

export interface BoundParts {
  described: DescribedOperation;
  binding: OperationBinding;
  target: BoundCollection;
  success: DescribedSuccess;
  status: number;
  action: Action;
  context: BindingContext;
  selector: Selector;
}

/** Authorizes calls, and finds the record that each is about. */
export class BoundAccess {
  readonly records: RecordSource;
  /** Fields of `parents` that neither the path nor `where` names, so that they are checked record by record. */
  readonly parentFields: readonly string[];
  private readonly parts: BoundParts;

  constructor(parts: BoundParts) {
    this.parts = parts;
    const whereFields = new Set(parts.selector.where.map(([field]) => field));
    this.parentFields = Object.keys(parts.binding.parents ?? {}).filter((field) => !whereFields.has(field));
    this.records = createRecordSource(parts.target, parts.binding);
  }

  /** Permission, then existence, as in the reference (G03). Returns the record, if the action has one. */
  authorize(call: Call, access: Access): object | undefined {
    const params = call.params as JsonObject;
    const conditions = this.toConditions(call);
    const organization = params["organization_id"] ?? params["org_id"] ?? conditions["organization_id"];
    if (typeof organization === "string") requireRole(call, access, organization);
    this.requireParents(call, conditions);
    const record =
      this.parts.action === "list" || this.parts.action === "create"
        ? undefined
        : this.findRecord(call, conditions);
    if (typeof organization !== "string" && (access === "member" || access === "admin")) {
      const organizationOfRecord = this.findOrganization(call, record ?? conditions);
      requireRole(call, access, organizationOfRecord ?? call.principal.organization_id);
    }
    return record;
  }

  /** The organization that the record or its owner names. */
  findOrganization(call: Call, record: object): string | undefined {
    return findOrganization(record, this.parts.target.collection, {
      world: call.world,
      findCollection: (name) => this.parts.context.getTarget(name).collection,
    });
  }

  toConditions(call: Call): JsonObject {
    if (this.parts.selector.where.length === 0) return {};
    const values = toPlaceholderValues(call);
    return Object.fromEntries(
      this.parts.selector.where.map(([field, template]) => [field, fillPlaceholders(template, values)]),
    );
  }

  /** A nested resource exists only if its parents do. @throws ApiError RESOURCE_NOT_FOUND */
  private requireParents(call: Call, conditions: JsonObject): void {
    for (const [field, template] of this.parts.selector.where) {
      const id = conditions[field];
      if (id === undefined || id === null || this.hasParent(call, field, id)) continue;
      throw resourceNotFound(toParameterName(template) ?? field, id);
    }
  }

  /** The collection of the record that a field names, if this record must exist: an owner, or one with conditions. */
  findParent(field: string): BoundCollection | undefined {
    const { target, binding, context } = this.parts;
    const reference = target.findReference(field);
    const isRequired = reference?.owned === true || binding.parents?.[field] !== undefined;
    return reference !== undefined && isRequired ? context.getTarget(reference.collection) : undefined;
  }

  /** Whether the record that a field names exists and meets the binding's conditions; true for a field without such a record. */
  hasParent(call: Call, field: string, id: unknown): boolean {
    const target = this.findParent(field);
    if (target === undefined) return true;
    const parent = target.find(call.world, id);
    if (parent === undefined || target.isDeleted(parent)) return false;
    const conditions = fillPlaceholders(
      this.parts.binding.parents?.[field] ?? {},
      toPlaceholderValues(call),
    ) as JsonObject;
    return target.hasValues(parent, conditions, call.world);
  }

  /** Whether a record that is not found by its parents has the right ones. */
  hasParents(call: Call, record: object): boolean {
    return this.parentFields.every((field) => this.hasParent(call, field, (record as JsonObject)[field]));
  }

  /** @throws ApiError RESOURCE_NOT_FOUND */
  private findRecord(call: Call, conditions: JsonObject): object {
    const { target, selector } = this.parts;
    const { id: idTemplate } = selector;
    const id = idTemplate === undefined ? undefined : fillPlaceholders(idTemplate, toPlaceholderValues(call));
    const fits = (record: object | undefined): record is object =>
      record !== undefined &&
      (this.parts.binding.deleted === true || !target.isDeleted(record)) &&
      target.hasValues(record, conditions, call.world) &&
      this.hasParents(call, record);
    if (idTemplate !== undefined) {
      const record = target.find(call.world, id);
      if (fits(record)) return record;
    } else {
      for (const record of this.records.list(call.world, conditions)) if (fits(record)) return record;
    }
    const field =
      (idTemplate === undefined ? Object.keys(conditions)[0] : toParameterName(idTemplate)) ?? "id";
    throw resourceNotFound(field, id ?? conditions[field] ?? null);
  }
}

/** The name of the parameter, if the template is that parameter alone, such as `{note_id}`. */
function toParameterName(template: unknown): string | undefined {
  return typeof template === "string" ? /^\{([\w-]+)\}$/.exec(template)?.[1] : undefined;
}

/** @throws ApiError if the caller lacks the role that `access` requires in the organization */
export function requireRole(call: Call, access: Access, organization: string): void {
  if (access === "admin") requireAdministrator(call, organization);
  else if (access === "member") requireMember(call, organization);
}
