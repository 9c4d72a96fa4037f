// The endpoints that every frontend of the service calls and the published reference lacks:
//   understudy start --operations operations.ts
import {
  array,
  defineOperation,
  integer,
  type OwnCall,
  object,
  record,
  refuse,
  string,
} from "understudy-sandbox/operations";

const page = {
  limit: integer({ min: 1, max: 100, default: 50 }),
  offset: integer({ min: 0, default: 0 }),
};
const listed = <S extends Parameters<typeof array>[0]>(items: S) => ({
  data: array(items),
  total: integer(),
});

export const whoAmI = defineOperation({
  id: "me.show",
  method: "GET",
  path: "/v1/me",
  summary: "Show the caller",
  access: "caller",
  response: record("users"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle: ({ world, principal }) => world.users.require(principal.user_id),
});

export const getOrganization = defineOperation({
  id: "organizations.retrieve",
  method: "GET",
  path: "/v1/organizations/{organization_id}",
  summary: "Show an organization to its members",
  response: record("organizations"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle: ({ world, params }) => world.organizations.require(params.organization_id),
});

export const listDepartments = defineOperation({
  id: "departments.list",
  method: "GET",
  path: "/v1/organizations/{organization_id}/departments",
  summary: "List the departments of an organization",
  query: page,
  response: listed(record("departments")),
  handle({ world, params, query }) {
    const found = world.departments.where(params).orderBy("path");
    return { data: found.page(query), total: found.size };
  },
});

export const getDepartment = defineOperation({
  id: "departments.retrieve",
  method: "GET",
  path: "/v1/organizations/{organization_id}/departments/{department_id}",
  summary: "Show a department",
  response: record("departments"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle({ world, params: { organization_id, department_id } }) {
    const department = world.departments.require(department_id);
    if (department.organization_id === organization_id) return department;
    throw refuse("RESOURCE_NOT_FOUND", { details: { department_id } });
  },
});

/** The caller's own thread; others do not learn that it exists. */
function requireThread({ world, principal, params: { thread_id } }: OwnCall<{ thread_id: string }>) {
  const thread = world.threads.require(thread_id);
  if (thread.owner_id === principal.user_id) return thread;
  throw refuse("RESOURCE_NOT_FOUND", { details: { thread_id } });
}

export const listThreads = defineOperation({
  id: "threads.list",
  method: "GET",
  path: "/v1/threads",
  summary: "List the caller's threads, the newest first",
  query: page,
  response: listed(record("threads")),
  handle({ world, principal: { organization_id, user_id }, query }) {
    const found = world.threads.where({ organization_id, owner_id: user_id }).orderBy("created_at", "desc");
    return { data: found.page(query), total: found.size };
  },
});

export const createThread = defineOperation({
  id: "threads.create",
  method: "POST",
  path: "/v1/threads",
  summary: "Begin a thread",
  body: object({ title: string({ min: 1, max: 200 }) }),
  status: 201,
  response: record("threads"),
  handle: ({ world, principal: { organization_id, user_id }, body }) =>
    world.threads.insert({ ...body, organization_id, owner_id: user_id }),
});

export const getThread = defineOperation({
  id: "threads.retrieve",
  method: "GET",
  path: "/v1/threads/{thread_id}",
  summary: "Show a thread",
  access: requireThread,
  response: record("threads"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle: (_call, thread) => thread,
});

export const renameThread = defineOperation({
  id: "threads.update",
  method: "PATCH",
  path: "/v1/threads/{thread_id}",
  summary: "Rename a thread",
  access: requireThread,
  body: { title: string({ min: 1, max: 200 }) },
  response: record("threads"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle: ({ world, body }, { id }) => world.threads.update(id, body),
});

export const listMessages = defineOperation({
  id: "messages.list",
  method: "GET",
  path: "/v1/threads/{thread_id}/messages",
  summary: "List the messages of a thread, the oldest first",
  access: requireThread,
  query: page,
  response: listed(record("messages")),
  errors: ["RESOURCE_NOT_FOUND"],
  handle({ world, query }, { id }) {
    const found = world.messages.where({ thread_id: id }).orderBy("created_at");
    return { data: found.page(query), total: found.size };
  },
});

export const postMessage = defineOperation({
  id: "messages.create",
  method: "POST",
  path: "/v1/threads/{thread_id}/messages",
  summary: "Post a message",
  access: requireThread,
  body: { content: string({ min: 1, max: 10_000 }) },
  status: 201,
  response: record("messages"),
  errors: ["RESOURCE_NOT_FOUND"],
  handle: ({ world, body }, { id }) => world.messages.insert({ ...body, thread_id: id, role: "user" }),
});

export const listFiles = defineOperation({
  id: "files.list",
  method: "GET",
  path: "/v1/files",
  summary: "List the files of the organization that the key acts in",
  query: page,
  response: listed(record("files")),
  handle({ world, principal: { organization_id }, query }) {
    const found = world.files.where({ organization_id }).orderBy("created_at", "desc");
    return { data: found.page(query), total: found.size };
  },
});

export const listAssistants = defineOperation({
  id: "assistants.list",
  method: "GET",
  path: "/v1/assistants",
  summary: "List the assistants of the organization that the key acts in",
  response: listed(record("assistants")),
  handle({ world, principal: { organization_id } }) {
    const found = world.assistants.where({ organization_id });
    return { data: found.page(), total: found.size };
  },
});
