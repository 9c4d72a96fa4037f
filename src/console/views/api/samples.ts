import type { CollectionSummary, SandboxCalls } from "../../api/calls.ts";
import type { Fields } from "../../api/form-fields.ts";
import type { JsonSchema, Operation } from "../../api/open-api.ts";
import { useSandboxQuery } from "../../api/queries.ts";

/** Values for an operation that does not succeed with the first record of each kind and the example body. */
interface Proposal {
  /** The collection whose record fills the path, and the values that it must have for a success. */
  record?: { of: string; where?: Fields };
  body?: unknown;
  /** Why the operation cannot succeed at first, and what to do before. */
  note?: string;
  firstOperation?: string;
}

const UPLOAD = {
  note: "Needs an upload in progress: call files.create_upload_url first, and take the values from the URL in its response.",
  firstOperation: "files.create_upload_url",
};

const PROPOSALS: Readonly<Record<string, Proposal>> = {
  "auth.refresh_token": {
    note: "A refresh token is shown once only: create a token first, and enter its refresh_token here.",
    firstOperation: "auth.create_token",
  },
  "connector_jobs.cancel": { record: { of: "connector_jobs", where: { status: "running" } } },
  "connector_notifications.update": {
    body: { notifications: [{ type: "email", email: "ops@example.com", events: ["connector.job.failed"] }] },
  },
  "connector_notifications.test": { body: { notification_type: "email" } },
  "departments.reparent": { record: { of: "departments", where: { is_default: false } } },
  "files.register": {
    note: "Registers an uploaded file: call files.create_upload_url first, send the file to its upload_url, and enter its gcs_path here. files.upload does all three.",
    firstOperation: "files.create_upload_url",
  },
  "meeting_sessions.stop": { record: { of: "meeting_sessions", where: { status: "running" } } },
  "models.list_for_organization": {
    note: "Answers 404, as the service does, until the setting preview is on.",
  },
  "share_links.resolve": { record: { of: "share_links" } },
  "store_files.attach": { record: { of: "vector_stores" } },
  "store_files.retrieve_status": { record: { of: "store_files" } },
  "uploads.cancel": UPLOAD,
  "uploads.put": UPLOAD,
};

type Parameter = NonNullable<Operation["parameters"]>[number];

type Texts = Readonly<Record<string, string>>;

export interface Samples {
  parameters: Texts;
  /** By prefix, such as `dept_`. */
  ids: Texts;
  body: unknown;
  note: string | undefined;
  firstOperation: string | undefined;
  /** Collections of which the path needs a record, and that have none. */
  missing: readonly string[];
}

const MAX_RECORDS = 200;
const EXAMPLE_ID = /\b([a-z]+_)example\b/g;

/** Values of this sandbox with which an operation succeeds, if it can. Undefined while loading. */
export function useSamples(
  operation: Operation,
  exampleBody: string,
  organization: string | undefined,
): Samples | undefined {
  const { operationId } = operation;
  const { record, body, note, firstOperation }: Proposal = PROPOSALS[operationId] ?? {};
  const prefixes = [...new Set([...exampleBody.matchAll(EXAMPLE_ID)].map(([, prefix]) => prefix!))];
  const { data } = useSandboxQuery(
    ["samples", organization, operationId, prefixes],
    async (calls) => {
      const { items: collections } = await calls.collections();
      const source: RecordSource = {
        organization,
        collections,
        listRecords: (collection) => listRecords(calls, collection, organization),
      };
      const { values, missing } = await findPathValues(source, operation, record);
      return { parameters: values, missing, ids: await findIds(source, prefixes, Object.values(values)) };
    },
    { live: false },
  );
  return data && { ...data, body, note, firstOperation };
}

interface RecordSource {
  /** The calling user's organization, whose records are preferred. */
  organization: string | undefined;
  collections: readonly CollectionSummary[];
  listRecords: (collection: CollectionSummary) => Promise<readonly Fields[]>;
}

/** Records of the organization; all if it has none. */
async function listRecords(
  calls: SandboxCalls,
  { name }: CollectionSummary,
  organization: string | undefined,
): Promise<readonly Fields[]> {
  const { items } = await calls.records(name, { limit: MAX_RECORDS });
  const all = items as unknown as readonly Fields[];
  const inOrganization = all.filter((one) => one["organization_id"] === organization);
  return inOrganization.length > 0 ? inOrganization : all;
}

/** Values of the path parameters, from one record if possible, and the collections that have no record for a parameter. */
async function findPathValues(
  { organization, collections, listRecords }: RecordSource,
  { path, parameters = [] }: Operation,
  wanted: Proposal["record"],
) {
  const findCollection = ({ name, schema }: Parameter) =>
    collections.find(
      (one) => one.prefix === toPrefix(schema) || listCollectionNames(path, name).includes(one.name),
    );
  const inPath = parameters.filter(({ in: place }) => place === "path");
  // The last parameter of a path names its main record.
  const mainCollection =
    collections.find(({ name }) => name === wanted?.of) ?? inPath.map(findCollection).at(-1);
  const conditions = Object.entries(wanted?.where ?? {});
  const records = mainCollection ? await listRecords(mainCollection) : [];
  const meetsConditions = (one: Fields) => conditions.every(([name, value]) => one[name] === value);
  const sampleRecord = records.find(meetsConditions) ?? records[0];
  const missing = new Set<string>();
  if (mainCollection !== undefined && sampleRecord === undefined) missing.add(mainCollection.name);
  const findValue = async (parameter: Parameter): Promise<unknown> => {
    const collection = findCollection(parameter);
    if (collection?.name === "organizations" && organization) return organization;
    const isMain = collection !== undefined && collection === mainCollection;
    const fromRecord = sampleRecord?.[isMain ? collection.id_field : parameter.name];
    if (fromRecord !== undefined) return fromRecord;
    if (collection === undefined) return parameter.schema?.examples?.[0];
    const [first] = await listRecords(collection);
    if (first === undefined) missing.add(collection.name);
    return first?.[collection.id_field];
  };
  const values: Record<string, string> = {};
  for (const parameter of inPath) values[parameter.name] = String((await findValue(parameter)) ?? "");
  return { values, missing: [...missing] };
}

/** An id for each prefix. Ids in the path are not used again: a body usually refers to another record. */
async function findIds(
  { organization, collections, listRecords }: RecordSource,
  prefixes: readonly string[],
  idsInPath: readonly string[],
): Promise<Texts> {
  const ids: Record<string, string> = {};
  for (const prefix of prefixes) {
    const collection = collections.find((one) => one.prefix === prefix);
    if (prefix === "org_" && organization) ids[prefix] = organization;
    else if (collection !== undefined) {
      const all = (await listRecords(collection)).map((one) => String(one[collection.id_field]));
      const other = all.findLast((id) => !idsInPath.includes(id));
      if (other !== undefined) ids[prefix] = other;
    }
  }
  return ids;
}

export function fillIds(text: string, ids: Texts): string {
  return text.replaceAll(EXAMPLE_ID, (example, prefix: string) => ids[prefix] ?? example);
}

/** The prefix of the ids that a parameter takes: `thread_` of the example `thread_example`. */
function toPrefix(schema: JsonSchema | undefined): string | undefined {
  const example = schema?.examples?.[0];
  return typeof example === "string" && example.endsWith("_example")
    ? example.replace("example", "")
    : undefined;
}

/** Names of collections that a path parameter may refer to: `projects` for `/projects/{id}` and `project_id`. */
function listCollectionNames(path: string, parameter: string): string[] {
  const [, segment] = new RegExp(`([^/{}]+)/\\{${parameter}\\}`).exec(path) ?? [];
  const stem = parameter.replace(/_?id$/i, "");
  return [segment, `${stem}s`]
    .filter((name) => name !== undefined)
    .map((name) =>
      name
        .replace(/([a-z])([A-Z])/g, "$1_$2")
        .replaceAll("-", "_")
        .toLowerCase(),
    );
}
