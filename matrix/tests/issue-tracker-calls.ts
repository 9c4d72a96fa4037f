/** The functions of a client that was generated from `docs/examples/issue-tracker/openapi.yaml`, by operationId. */
export type Sdk = Record<string, (options?: Options) => Promise<Result>>;

interface Options {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: of every operation
  data?: any;
  // biome-ignore lint/suspicious/noExplicitAny: of every operation
  error?: any;
  response?: Response;
}

/** Makes sixty calls of a typical day. @throws Error for the first unexpected response @returns their number */
export async function makeCalls(sdk: Sdk): Promise<number> {
  let count = 0;
  const expect = (name: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new Error(
        `call ${count}, ${name}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`,
      );
  };
  const call = async (name: string, status: number, options?: Options): Promise<Result> => {
    count += 1;
    const result = await sdk[name]!(options);
    if (result.response?.status !== status)
      throw new Error(
        `call ${count}, ${name}: ${result.response?.status} instead of ${status}: ${JSON.stringify(result.error)}`,
      );
    return result;
  };
  const names = (list: Record<string, unknown>[], field: string) => list.map((one) => one[field]);

  expect("health", (await call("health", 200)).data, { status: "ok" });
  expect("me", (await call("getMe", 200)).data.id, "usr_dan");
  expect("an example", (await call("getStatistics", 200)).data.closed, 30);
  expect("no projects", (await call("listProjects", 200)).data, { data: [], page: { total: 0, next: null } });

  // Projects
  const { data: project } = await call("createProject", 201, { body: { key: "APP", name: "Application" } });
  expect(
    "the rest of a record",
    [project.archived, project.description, project.owner_id],
    [false, null, "usr_dan"],
  );
  const refused = await call("createProject", 422, { body: { key: "app", name: "Application" } });
  expect(
    "a problem",
    [refused.error.type, refused.error.status, refused.error.errors[0].field],
    ["about:blank", 422, "key"],
  );
  await call("createProject", 422, { body: { key: "APP" } });
  const { data: other } = await call("createProject", 201, {
    body: { key: "WEB", name: "Website", description: "www" },
  });
  const ids = { path: { project_id: project.id } };
  expect("as stored", (await call("getProject", 200, ids)).data, project);
  expect(
    "another's",
    (await call("getProject", 404, { path: { project_id: "prj_none" } })).error.title,
    "The requested resource was not found.",
  );
  expect(
    "a new name",
    (await call("updateProject", 200, { ...ids, body: { name: "App" } })).data.name,
    "App",
  );
  await call("updateProject", 422, { ...ids, body: {} });
  const first = await call("listProjects", 200, { query: { limit: 1 } });
  expect("newest first", names(first.data.data, "name"), ["Website"]);
  const second = await call("listProjects", 200, { query: { limit: 1, cursor: first.data.page.next } });
  expect("the next page", [names(second.data.data, "name"), second.data.page.next], [["App"], null]);
  await call("listProjects", 422, { query: { cursor: "nonsense" } });
  await call("listProjects", 422, { query: { limit: 0 } });

  // Issues
  const create = async (body: Record<string, unknown>) =>
    (await call("createIssue", 201, { ...ids, body })).data;
  const crash = await create({ title: "Crash", labels: ["bug"], priority: 1 });
  expect(
    "of its project",
    [crash.project_id, crash.state, crash.reporter_id],
    [project.id, "open", "usr_dan"],
  );
  const slow = await create({ title: "Slow", labels: ["bug", "speed"], assignee_id: "usr_eva" });
  const idea = await create({ title: "Idea", due_on: "2026-05-01" });
  expect("a default", [idea.priority, idea.labels, idea.assignee_id], [3, [], null]);
  await call("createIssue", 422, { ...ids, body: { title: "" } });
  await call("createIssue", 422, { ...ids, body: { title: "A", urgent: true } });
  await call("createIssue", 404, { path: { project_id: "prj_none" }, body: { title: "A" } });
  const at = (issue: { id: string }) => ({ path: { project_id: project.id, issue_id: issue.id } });
  expect("one issue", (await call("getIssue", 200, at(crash))).data, crash);
  await call("getIssue", 404, { path: { project_id: other.id, issue_id: crash.id } });
  const all = await call("listIssues", 200, ids);
  expect("all", [names(all.data.data, "title"), all.data.page.total], [["Idea", "Slow", "Crash"], 3]);
  const bugs = await call("listIssues", 200, { ...ids, query: { labels: ["speed", "none"] } });
  expect("by label", names(bugs.data.data, "title"), ["Slow"]);
  const sorted = await call("listIssues", 200, { ...ids, query: { sort: "title", limit: 2 } });
  expect("sorted", names(sorted.data.data, "title"), ["Crash", "Idea"]);
  const rest = await call("listIssues", 200, {
    ...ids,
    query: { sort: "title", limit: 2, cursor: sorted.data.page.next },
  });
  expect("the rest", names(rest.data.data, "title"), ["Slow"]);
  await call("listIssues", 422, { ...ids, query: { state: "done" } });
  expect("none elsewhere", (await call("listIssues", 200, { path: { project_id: other.id } })).data.data, []);
  const patched = await call("updateIssue", 200, {
    ...at(slow),
    body: { custom: { os: "mac", ram: 8 }, priority: 2 },
  });
  expect("changed", [patched.data.priority, patched.data.title], [2, "Slow"]);
  const merged = await call("updateIssue", 200, {
    ...at(slow),
    body: { custom: { ram: null }, assignee_id: null },
  });
  expect("merged", [merged.data.custom, merged.data.assignee_id], [{ os: "mac" }, null]);
  const closed = await call("closeIssue", 200, at(crash));
  expect("closed", [closed.data.state, typeof closed.data.closed_at], ["closed", "string"]);
  const open = await call("listIssues", 200, { ...ids, query: { state: "open" } });
  expect("open", names(open.data.data, "title"), ["Idea", "Slow"]);
  await call("deleteIssue", 204, at(idea));
  await call("getIssue", 404, at(idea));
  await call("deleteIssue", 404, at(idea));
  expect("without it", (await call("listIssues", 200, ids)).data.page.total, 2);
  expect("back", (await call("restoreIssue", 200, at(idea))).data.deleted_at, null);
  expect("with it", (await call("listIssues", 200, ids)).data.page.total, 3);

  // Comments
  const on = { path: { issue_id: slow.id } };
  const { data: comment } = await call("createComment", 201, { ...on, body: { text: "Why?" } });
  await call("createComment", 201, { ...on, body: { text: "Because." } });
  await call("createComment", 404, { path: { issue_id: "iss_none" }, body: { text: "?" } });
  const comments = await call("listComments", 200, { ...on, query: { limit: 1 } });
  expect(
    "one of two",
    [comments.data.total_count, comments.data.has_more, comments.data.comments.length],
    [2, true, 1],
  );
  const reply = { path: { comment_id: comment.id } };
  expect(
    "edited",
    (await call("updateComment", 200, { ...reply, body: { text: "How?" } })).data.text,
    "How?",
  );
  await call("deleteComment", 204, reply);
  const left = await call("listComments", 200, { ...on, query: { offset: 0 } });
  expect("one is left", names(left.data.comments, "text"), ["Because."]);

  // Labels and milestones
  const body = { name: "bug", color: "#aa0000", description: "broken" };
  const { data: label } = await call("createLabel", 201, { ...ids, body });
  const named = { path: { project_id: project.id, label_id: label.id } };
  const replaced = await call("replaceLabel", 200, { ...named, body: { name: "defect", color: "#aa0000" } });
  expect(
    "replaced",
    [replaced.data.id, replaced.data.name, replaced.data.description],
    [label.id, "defect", undefined],
  );
  expect("all labels", names((await call("listLabels", 200, ids)).data, "name"), ["defect"]);
  expect("gone", (await call("deleteLabel", 200, named)).data, { id: label.id, deleted: true });
  await call("createMilestone", 422, {
    ...ids,
    body: { title: "1.0", due_on: "2026-06-01", goal: { kind: "count" } },
  });
  const goal = { kind: "count", issues: 4 };
  const { data: milestone } = await call("createMilestone", 201, {
    ...ids,
    body: { title: "1.0", due_on: "2026-06-01", goal },
  });
  const milestones = await call("listMilestones", 200, { ...ids, query: { page: 1, per_page: 5 } });
  expect("a page", [milestones.data.total, milestones.data.page, milestones.data.per_page], [1, 1, 5]);
  const due = { title: "1.1", due_on: "2026-07-01" };
  await call("replaceMilestone", 200, { path: { milestone_id: milestone.id }, body: due });

  // Attachments
  const file = new File(["hello"], "log.txt", { type: "text/plain" });
  const { data: upload } = await call("uploadAttachment", 201, { ...on, body: { file, caption: "The log" } });
  expect(
    "the file",
    [upload.filename, upload.size, upload.caption, upload.pinned],
    ["log.txt", 5, "The log", false],
  );
  expect("one file", names((await call("listAttachments", 200, on)).data.data, "id"), [upload.id]);
  const bytes = await call("downloadAttachment", 200, { path: { attachment_id: upload.id } });
  expect("its bytes", await bytes.data.text(), "hello");
  await call("deleteProject", 204, ids);
  await call("deleteAttachment", 404, { path: { attachment_id: upload.id } });
  return count;
}
