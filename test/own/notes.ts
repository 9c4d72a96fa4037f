import {
  array,
  defineCollection,
  defineEvent,
  defineOperation,
  id,
  instant,
  integer,
  optional,
  string,
  userId,
} from "../../src/client/operations.ts";

/** Declarations for tests: the notes of an organization. */
export const notes = defineCollection({
  name: "notes",
  fields: {
    organization_id: id("org_", { belongsTo: "organizations" }),
    author_id: userId(),
    text: string({ min: 1, max: 200 }),
    created_at: instant(),
  },
  emits: { insert: "note.created", remove: "note.deleted" },
});
export const noteCreated = defineEvent({
  name: "note.created",
  about: notes,
  data: ["id", "text", "created_at"],
});
export const noteDeleted = defineEvent({ name: "note.deleted", about: notes, data: ["id"] });

export const listNotes = defineOperation({
  id: "notes.list",
  method: "GET",
  path: "/v1/notes",
  query: { limit: integer({ min: 1, max: 100, default: 50 }), text: optional(string()) },
  response: { data: array(notes.record), total: integer() },
  uses: { notes },
  handle({ world, principal: { organization_id }, query }) {
    const found = world.notes.where({ organization_id });
    return { data: found.page(query), total: found.size };
  },
});
export const createNote = defineOperation({
  id: "notes.create",
  method: "POST",
  path: "/v1/notes",
  body: { text: string({ min: 1 }) },
  status: 201,
  response: notes.record,
  uses: { notes },
  handle: ({ world, principal: { organization_id, user_id }, body }) =>
    world.notes.insert({ ...body, organization_id, author_id: user_id }),
});
export const deleteNote = defineOperation({
  id: "notes.delete",
  method: "DELETE",
  path: "/v1/notes/{note_id}",
  status: 204,
  access: "admin",
  errors: ["RESOURCE_NOT_FOUND"],
  uses: { notes },
  handle: ({ world, params }) => world.notes.remove(params.note_id),
});
