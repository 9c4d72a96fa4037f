import { abortAfter } from "../../engine/state/concurrency.ts";
import type { Answer } from "./exchange.ts";
import type { KnownObjects } from "./known-objects.ts";

type Row = Readonly<Record<string, unknown>>;
interface Discovery {
  target: string;
  key: string;
  organization_id: string;
  known: KnownObjects;
  signal: AbortSignal;
}

/**
 * Asks the state calls of an Understudy without a token for objects that the key's user can reach, and for foreign ones.
 * The calls only read, and count against no rate limit. Returns false for any other service, and if a call fails; what the
 * earlier calls found stays in `known`.
 */
export async function discoverInUnderstudy(discovery: Discovery): Promise<boolean> {
  const fetchRows = async (collection: string, query = ""): Promise<Row[]> => {
    const signal = AbortSignal.any([discovery.signal, abortAfter(5_000)]);
    const path = `/state/${collection}?limit=100${query}`;
    return ((await fetchControl(discovery.target, path, signal)) as { items: Row[] }).items;
  };
  try {
    await addKnownObjects(discovery, fetchRows);
    return true;
  } catch {
    discovery.signal.throwIfAborted();
    return false;
  }
}

/** Whether a rate limit refused a request and never ends, since the service is an Understudy whose clock stands still. */
export async function isRefusedByFrozenClock(
  target: string,
  { status, headers }: Pick<Answer, "status" | "headers">,
): Promise<boolean> {
  if (status !== 429 || headers.get("x-sandbox-decision") !== "rate-limit") return false;
  try {
    const clock = await fetchControl(target, "/clock", AbortSignal.timeout(5_000));
    return (clock as { mode: string }).mode === "frozen";
  } catch {
    return false;
  }
}

/** Gets a path of the sandbox's control API. The port of one sandbox answers 421 to other names, with its own as the hint. */
async function fetchControl(target: string, path: string, signal: AbortSignal): Promise<unknown> {
  const { base, sandbox } = splitTarget(target);
  const get = (name: string) => fetch(`${base}/_control/sandboxes/${name}${path}`, { signal });
  let response = await get(sandbox);
  if (response.status === 421) response = await get(((await response.json()) as { hint: string }).hint);
  if (!response.ok) throw new Error(`the control API answers ${response.status}`);
  return await response.json();
}

/** The address of the console for the sandbox that a base URL leads to. */
export function findConsoleUrl(target: string): string {
  const { base, sandbox } = splitTarget(target);
  return `${base}/_console/s/${sandbox}`;
}

function splitTarget(target: string): { base: string; sandbox: string } {
  const [, base, name] = /^(.*?)(?:\/_s\/([a-z0-9-]+))?$/.exec(target)!;
  const [, hostName] = /^https?:\/\/([^./]+)\.localhost(?=[:/]|$)/.exec(target) ?? [];
  return { base: base!, sandbox: name ?? hostName ?? "default" };
}

type FetchRows = (collection: string, query?: string) => Promise<Row[]>;

async function addKnownObjects(
  { key, organization_id, known }: Discovery,
  fetchRows: FetchRows,
): Promise<void> {
  const organizationFilter = `&organization_id=${encodeURIComponent(organization_id)}`;
  const add = (name: string, objects: readonly Row[], field = name) => {
    for (const row of objects) known.addRelatedIds({ [name]: String(row[field]) });
  };
  const keepFinished = (objects: readonly Row[]) => objects.filter(({ status }) => status === "completed");

  const [apiKey] = await fetchRows("api_keys", `&key=${encodeURIComponent(key)}`);
  // A key that the state does not have belongs to the user "undefined", who has no objects.
  const user_id = String(apiKey?.["user_id"]);
  const [user] = await fetchRows("users", `&id=${user_id}`);
  const memberships = Object.keys((user?.["memberships"] ?? {}) as object);
  const foreign = (await fetchRows("organizations")).filter(({ id }) => !memberships.includes(String(id)));
  add("foreign_organization_id", foreign, "id");
  for (const id of memberships)
    if (id !== organization_id) known.addRelatedIds({ other_organization_id: id });

  const sessions = await fetchRows("meeting_sessions");
  const foreignIds = new Set(foreign.map(({ id }) => id));
  add(
    "session_id",
    preferRecorded(keepFinished(sessions.filter((row) => row["organization_id"] === organization_id))),
  );
  const foreignSessions = sessions.filter((row) => foreignIds.has(row["organization_id"]));
  add("foreign_session_id", foreignSessions, "session_id");

  const transcriptions = await fetchRows("transcriptions", organizationFilter);
  add("transcription_id", keepFinished(transcriptions));
  const pending = transcriptions.filter(({ status }) => status !== "completed");
  add("pending_transcription_id", pending, "transcription_id");

  const collections = await fetchRows("music_collections", `${organizationFilter}&owner_id=${user_id}`);
  add("collection_id", collections, "id");
  add("assistant_id", await fetchRows("assistants", organizationFilter), "id");
  const stores = new Set((await fetchRows("vector_stores", organizationFilter)).map(({ id }) => id));
  const inStores = (await fetchRows("store_files")).filter(({ store_id }) => stores.has(store_id));
  // Finished files first, since earlier objects are preferred; a repeated one changes nothing.
  for (const { store_id, file_id } of [...keepFinished(inStores), ...inStores])
    known.addRelatedIds({ store_id: String(store_id), file_id: String(file_id) });

  const dashboards = new Set((await fetchRows("dashboards", organizationFilter)).map(({ id }) => id));
  const links = await fetchRows("share_links", "&status=active");
  add(
    "slug",
    links.filter(({ dashboard_id }) => dashboards.has(dashboard_id)),
  );
  for (const { id, parent_id } of await fetchRows("departments", organizationFilter)) {
    if (parent_id !== null)
      known.addRelatedIds({ department_id: String(id), parent_department_id: String(parent_id) });
  }
}

/** Prefers sessions with a recording, which have a transcript to export. */
function preferRecorded(sessions: readonly Row[]): Row[] {
  return sessions.toSorted((a, b) => Number(b["has_recording"]) - Number(a["has_recording"]));
}
