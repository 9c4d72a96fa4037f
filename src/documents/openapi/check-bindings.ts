import { type AnyEvent, aboutRecords, event } from "../../engine/contract/event.ts";
import type { Method } from "../../engine/contract/operation.ts";
import { isInternal } from "../../engine/contract/public-view.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { DocumentPath, DocumentProblem } from "../../engine/documents/document-error.ts";
import type { ProblemDetails } from "../../engine/documents/user-document.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { type Action, getAction } from "./binding-schema.ts";
import type { BoundCollection } from "./bound-collection.ts";
import type { AvailableDeclarations, BoundCollections } from "./bound-collections.ts";
import { findSuccess } from "./declare-answer.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { listPlaces, listQueryNames } from "./page-names.ts";
import { type LocatedBinding, type ParsedBindings, toProblem } from "./read-bindings.ts";
import type { Schemas } from "./schemas.ts";
import { listPathNames, toSelector } from "./select-records.ts";
import { listPlaceholders, listUnknownPlaceholders } from "./templates.ts";

const READ_METHODS: readonly Method[] = ["GET", "POST"];
/** Clients repeat, cache and prefetch a GET, so GET is usual only for actions that read. */
const USUAL_METHODS: Readonly<Record<Action, readonly Method[]>> = {
  list: READ_METHODS,
  retrieve: READ_METHODS,
  download: READ_METHODS,
  create: ["POST", "PUT"],
  update: ["PATCH", "PUT", "POST"],
  replace: ["PUT", "PATCH", "POST"],
  delete: ["DELETE", "POST"],
};

/** Checks bindings against the operations and collections that they name, and collects the events that they emit. */
export class BindingChecker {
  readonly problems: DocumentProblem[] = [];
  readonly warnings: DocumentProblem[] = [];
  /** By name; also those that a binding declares. */
  readonly events = new Map<string, AnyEvent>();
  private readonly available: AvailableDeclarations;
  private readonly targets: BoundCollections;
  private readonly schemas: Schemas;
  /** Names of the collections that bindings declare. */
  private readonly declaredNames: readonly string[];

  constructor(
    available: AvailableDeclarations,
    targets: BoundCollections,
    schemas: Schemas,
    bindings: ParsedBindings,
  ) {
    this.available = available;
    this.targets = targets;
    this.schemas = schemas;
    this.declaredNames = [...bindings.collections.keys()];
  }

  check(operation: DescribedOperation, binding: LocatedBinding): void {
    const { value } = binding;
    const boundAction = getAction(value);
    this.checkTemplates(operation, binding);
    if (boundAction === undefined) {
      this.checkAnswer(operation, binding);
      return;
    }
    const target = this.targets.find(boundAction.name);
    if (target === undefined) {
      this.report(binding, {
        path: [boundAction.action],
        ...this.targets.describeMissing(boundAction.name, this.declaredNames),
      });
      return;
    }
    const usualMethods = USUAL_METHODS[boundAction.action];
    if (!usualMethods.includes(operation.method))
      this.warnings.push(
        toProblem(binding, {
          path: [boundAction.action],
          message: `${operation.method} ${operation.path} is bound to \`${boundAction.action}\`, which is usual for ${usualMethods.join(" and ")}: is another operation meant?`,
        }),
      );
    for (const section of ["where", "set"] as const)
      for (const field of Object.keys(value[section] ?? {}))
        this.requireField(binding, target, field, { path: [section, field], pointsAtKey: true });
    this.checkSort(binding, target);
    this.checkSoftDeletion(binding, target);
    this.checkPlaces(operation, binding);
    this.checkParents(binding, target);
    const { where, id } = toSelector(operation, value, target);
    const needsRecord = boundAction.action !== "list" && boundAction.action !== "create";
    if (needsRecord && id === undefined && where.length === 0)
      this.report(binding, {
        path: [boundAction.action],
        message: `the path ${operation.path} names no record; say which with \`id\` or \`where\``,
      });
    this.checkPage(operation, binding);
    this.checkEvent(binding, target);
  }

  private checkParents(binding: LocatedBinding, target: BoundCollection): void {
    for (const [field, conditions] of Object.entries(binding.value.parents ?? {})) {
      const reference = target.fieldNames.has(field) ? target.findReference(field) : undefined;
      const parent = reference && this.targets.find(reference.collection);
      if (parent === undefined) {
        const references = [...target.fieldNames].filter((name) => target.findReference(name) !== undefined);
        const message = `${target.collection.name} has no field ${JSON.stringify(field)} that names another record`;
        const hint = findNearest(field, references);
        this.report(binding, { path: ["parents", field], pointsAtKey: true, message, hint });
        continue;
      }
      for (const name of Object.keys(conditions))
        this.requireField(binding, parent, name, { path: ["parents", field, name], pointsAtKey: true });
    }
  }

  private checkSort(binding: LocatedBinding, target: BoundCollection): void {
    const field = binding.value.sort?.replace(/^[-+]/, "");
    if (field !== undefined && !field.includes("{"))
      this.requireField(binding, target, field, { path: ["sort"] });
  }

  private checkSoftDeletion(binding: LocatedBinding, { collection, spec }: BoundCollection): void {
    const { soft } = binding.value;
    if (soft === undefined || soft === spec?.soft) return;
    const problem =
      spec?.soft === undefined
        ? `cannot be softly deleted: ${collection.name} is not a collection of this document`
        : `are softly deleted by another field, ${JSON.stringify(spec.soft)}`;
    this.report(binding, { path: ["soft"], message: `records of ${collection.name} ${problem}` });
  }

  private requireField(
    binding: LocatedBinding,
    { collection, fieldNames }: BoundCollection,
    field: string,
    place: Pick<ProblemDetails, "path" | "pointsAtKey">,
  ): void {
    if (fieldNames.has(field)) return;
    const message = `${collection.name} has no field ${JSON.stringify(field)}`;
    this.report(binding, { ...place, message, hint: findNearest(field, fieldNames) });
  }

  /** A place that the answer's schema lacks would be left out of every answer. */
  private checkPlaces(operation: DescribedOperation, binding: LocatedBinding): void {
    const answer = findSuccess(operation, binding.value).json?.schema?.node;
    if (answer === undefined) return;
    const { items_at, item_at, page } = binding.value;
    const places: [DocumentPath, string | undefined][] = [
      [["items_at"], items_at],
      [["item_at"], item_at],
      [["page", "next"], page?.next],
      [["page", "total"], page?.total],
      [["page", "more"], page?.more],
    ];
    for (const [path, place] of places)
      if (place !== undefined && lacksPlace(answer, place, this.schemas))
        this.report(binding, {
          path,
          message: `the answer of ${operation.method} ${operation.path} has no ${JSON.stringify(place)}`,
          hint: findNearest(place, listPlaces(answer, this.schemas)),
        });
  }

  private checkTemplates(operation: DescribedOperation, binding: LocatedBinding): void {
    // `query.NAME` also reads headers and cookies.
    const queries = operation.parameters.filter((one) => one.in !== "path").map(({ name }) => name);
    const pathNames = listPathNames(operation.path);
    const { value } = binding;
    for (const key of ["where", "parents", "set", "id", "answer", "sort"] as const) {
      const newId = key === "set" && value.create !== undefined ? ["id"] : [];
      const names = { params: [...pathNames, ...newId], queries };
      for (const name of listUnknownPlaceholders(value[key], names))
        this.report(binding, {
          path: [key],
          message: `{${name}} is not a placeholder of ${operation.method} ${operation.path}`,
          hint: findNearest(name, listPlaceholders(names)),
        });
    }
  }

  private checkPage(operation: DescribedOperation, binding: LocatedBinding): void {
    const queries = listQueryNames(operation, this.schemas);
    for (const key of ["limit", "offset", "page", "cursor"] as const) {
      const name = binding.value.page?.[key];
      if (name !== undefined && !queries.includes(name))
        this.report(binding, {
          path: ["page", key],
          message: `the operation has no query parameter ${JSON.stringify(name)}`,
          hint: findNearest(name, queries),
        });
    }
  }

  /** A new name declares an event of an own collection; an event of the reference's collections must exist. */
  private checkEvent(binding: LocatedBinding, target: BoundCollection): void {
    const { emit: name } = binding.value;
    if (name === undefined) return;
    const availableEvents = this.available.events;
    const existing = this.events.get(name) ?? availableEvents.find((one) => one.name === name);
    const { collection } = target;
    const isAbout = existing?.about.collections.some((one: AnyCollection) => one.name === collection.name);
    if (isAbout === true) this.events.set(name, existing!);
    else if (existing !== undefined)
      this.report(binding, {
        path: ["emit"],
        message: `${name} is an event about ${existing.about.collections.map((one: AnyCollection) => one.name).join(", ")}, not about ${collection.name}`,
      });
    else if (target.spec === undefined)
      this.report(binding, {
        path: ["emit"],
        message: `there is no event ${JSON.stringify(name)} of ${collection.name}`,
        hint: findNearest(
          name,
          availableEvents.map((one) => one.name),
        ),
      });
    else this.events.set(name, toEvent(name, collection));
  }

  private checkAnswer(operation: DescribedOperation, binding: LocatedBinding): void {
    const { answer } = binding.value;
    const schema = findSuccess(operation, binding.value).json?.schema;
    // The values of placeholders are not known yet.
    if (schema === undefined || /"[^"]*\{[\w.-]+\}/.test(JSON.stringify(answer ?? null))) return;
    const validate = this.schemas.compileValidator(schema.node, "answer");
    if (validate(answer)) return;
    const { instancePath, message } = validate.errors![0]!;
    this.warnings.push(
      toProblem(binding, {
        path: ["answer"],
        message: `the answer does not fit the document's schema: ${instancePath || "it"} ${message}`,
      }),
    );
  }

  private report(binding: LocatedBinding, details: ProblemDetails): void {
    this.problems.push(toProblem(binding, details));
  }
}

/** Whether a schema lists properties, but none at this place, such as `meta.next`. */
function lacksPlace(node: unknown, place: string, schemas: Schemas): boolean {
  const [step = "", ...others] = place.split(".");
  const properties = schemas.listProperties(node);
  const isOpen = properties.size === 0 && !schemas.listTypes(node).has("array");
  if (isOpen || place === "") return false;
  return (
    !properties.has(step) ||
    (others.length > 0 && lacksPlace(properties.get(step), others.join("."), schemas))
  );
}

/** The event of an own collection; its data is all public fields of the record. */
function toEvent(name: string, collection: AnyCollection): AnyEvent {
  const { properties } = collection.schema as unknown as { properties: Record<string, never> };
  const data = Object.keys(properties).filter((field) => !isInternal(properties[field]!));
  return event({
    name,
    section: "own",
    data,
    summary: `${collection.name}: ${name.split(".").at(-1)!.replaceAll("_", " ")}`,
    about: aboutRecords<Record<string, unknown>>(collection as never, {}),
  }) as AnyEvent;
}
