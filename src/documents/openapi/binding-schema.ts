import { Optional, type Static, type TProperties, Type } from "typebox";
import { ClosedObject, isJsonObject, MapOf } from "../../engine/contract/schema.ts";
import { toValidator } from "../../engine/contract/validator.ts";

const text = (description: string) => Type.String({ minLength: 1, description });

const Place = (description: string) =>
  Optional(text(`${description}; a name, or a path such as \`meta.next\``));
const Values = (description: string) => Optional(MapOf(Type.Unknown(), { description }));

/** The keys that every binding may have. */
const shared = {
  access: Optional(
    Type.Unsafe<"anyone" | "caller" | "member" | "admin">({
      enum: ["anyone", "caller", "member", "admin"],
      description:
        "Who may call it: `anyone` without credentials, any `caller`, a `member` or an `admin` of the organization. Default: as the document's `security` says",
    }),
  ),
  status: Optional(
    Type.Integer({ minimum: 200, maximum: 399, description: "Default: the first success of the document" }),
  ),
};
const parents = Optional(
  MapOf(MapOf(Type.Unknown()), {
    description:
      "By a field that names another record: conditions on that record. Records whose parents break them are not found; a body that names such a parent is 422",
  }),
);
const commonKeys = {
  where: Values(
    'Equality of fields, such as `project_id: "{project_id}"`. Placeholders: path parameters, query.NAME, body.NAME, caller.user_id, caller.organization_id, now, base_url',
  ),
  item_at: Place("Where the answer has the record"),
  parents,
};
const recordKeys = {
  ...commonKeys,
  id: Optional(text("The record's id. Default: the last parameter of the path")),
};
const deleted = Optional(Type.Boolean({ description: "Whether softly deleted records count too" }));
const emit = Optional(
  text("The event that the change emits. For a collection of your own, a new name declares an event"),
);
const set = Values("Fields that the server sets; placeholders as in `where`, and id for a new record");

const Page = ClosedObject(
  {
    limit: Optional(text("The query parameter with the page size")),
    offset: Optional(text("The query parameter with the position of the first record")),
    page: Optional(text("The query parameter with the number of the page, from 1 on")),
    cursor: Optional(text("The query parameter with the cursor")),
    next: Place("Where the answer has the cursor of the next page"),
    total: Place("Where the answer has the number of all records"),
    more: Place("Where the answer says whether there are more"),
  },
  { description: "Default: parameters with usual names, and places of the answer with usual names" },
);

const binding = <P extends TProperties>(properties: P) => ClosedObject({ ...properties, ...shared });
const collection = text("The name of a collection: a built-in one, or one of `collections`");

/** By the key that each must have. */
const FORMS = {
  list: binding({
    list: collection,
    where: commonKeys.where,
    parents,
    deleted,
    items_at: Place("Where the answer has the list; by default the answer itself, or its only list"),
    page: Optional(Page),
    sort: Optional(text("A field to order by; `-field` for descending. Default: newest first")),
  }),
  create: binding({ create: collection, ...commonKeys, set, emit }),
  retrieve: binding({ retrieve: collection, ...recordKeys, deleted }),
  update: binding({ update: collection, ...recordKeys, set, emit, deleted }),
  replace: binding({ replace: collection, ...recordKeys, set, emit }),
  delete: binding({
    delete: collection,
    where: commonKeys.where,
    id: recordKeys.id,
    item_at: commonKeys.item_at,
    emit,
    soft: Optional(
      text("A field that gets the time of the deletion; the record stays, but is no longer found"),
    ),
  }),
  download: binding({ download: collection, where: commonKeys.where, id: recordKeys.id }),
  answer: binding({ answer: Type.Unknown({ description: "The body; placeholders as in `where`" }) }),
};
export const OperationBinding = Type.Union(Object.values(FORMS));

export const CollectionBinding = ClosedObject({
  schema: text("The schema of a record, such as `#/components/schemas/Tag`"),
  prefix: Optional(text("How ids begin, such as `tag_`")),
  id: Optional(text("The field with the id. Default: `id`")),
  belongs_to: Optional(
    MapOf(Type.String(), {
      description:
        "By field: the collection whose record's id it contains. If that record is deleted, so is this one",
    }),
  ),
});

const sections = {
  collections: Optional(
    MapOf(CollectionBinding, {
      description: "Collections of your own",
      propertyNames: { pattern: "^[a-z][a-z0-9_]*$", title: "a name such as shared_notes" },
    }),
  ),
  operations: Optional(MapOf(OperationBinding, { description: "By the operationId of the document" })),
};

/** `x-understudy` at the top of a document. */
export const Bindings = ClosedObject(sections);
/** `x-understudy` whose operations pass unchecked: `isBinding` checks each by its own form. */
const UncheckedOperations = ClosedObject({
  collections: sections.collections,
  operations: Optional(MapOf(Type.Unknown())),
});
/** A file beside the document. */
export const BindingFile = ClosedObject(
  { openapi: text("The OpenAPI document, relative to this file"), ...sections },
  { $id: "binding", title: "Bindings of an OpenAPI document to a sandbox's collections" },
);

export type CollectionBinding = Static<typeof CollectionBinding>;
/** All keys that any of the forms has. */
export type OperationBinding = Partial<
  Static<typeof FORMS.list> &
    Static<typeof FORMS.create> &
    Static<typeof FORMS.retrieve> &
    Static<typeof FORMS.update> &
    Static<typeof FORMS.replace> &
    Static<typeof FORMS.delete> &
    Static<typeof FORMS.download> &
    Static<typeof FORMS.answer>
>;

export type Access = NonNullable<OperationBinding["access"]>;

export const ACTIONS = ["list", "create", "retrieve", "update", "replace", "delete", "download"] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * Whether all bindings of a document are right. Checks each by the schema of its own form only: the whole schemas, which
 * say what is wrong, take longer to compile than a document takes to read.
 */
export function areBindings(value: unknown): boolean {
  if (!toValidator(UncheckedOperations)(value)) return false;
  const { operations = {} } = value as { operations?: object };
  return Object.values(operations).every(isBinding);
}

export function isBinding(value: unknown): boolean {
  const form = isJsonObject(value) && Object.entries(FORMS).find(([key]) => key in value)?.[1];
  return form ? toValidator(form)(value) : false;
}

/** The action of a binding and its collection; undefined for a fixed answer. */
export function getAction(binding: OperationBinding): { action: Action; name: string } | undefined {
  const action = ACTIONS.find((key) => binding[key] !== undefined);
  return action && { action, name: binding[action]! };
}
