import { Type } from "typebox";
import { toMilliseconds } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import { chooseCreation, type Factory, type FactoryContext } from "../../contract/factory.ts";
import {
  createEntryFormat,
  createListReader,
  type FixtureEntry,
  readEntries,
  readOrganizations,
  reportContradictions,
} from "../../contract/fixture-entry.ts";
import { inventTitle } from "../../contract/invent.ts";
import { listDefaultRecords, requireReferencedRecord } from "../../contract/references.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { DEFAULT_SETTINGS } from "../../contract/settings.ts";
import { DAY_MS } from "../../state/clock.ts";
import { files } from "../files/schema.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { calculateProgress, findNextStepEnd, findStart, getStepEnd, UNSUPPORTED_TYPE } from "./rules.ts";
import { StoreFile, storeFiles, toStoreFileId, VectorStore, vectorStores } from "./schema.ts";

/** Past processing has the default duration; the sandbox's setting is for processing that still runs. */
const PAST_PROCESSING_MS = toMilliseconds(DEFAULT_SETTINGS.processing_seconds);

export const makeVectorStore: Factory<VectorStore> = (fields, context) => {
  const { random } = context;
  return {
    id: fields.id ?? context.createId("vs_"),
    name: fields.name ?? inventTitle(context),
    organization_id: chooseOrganization(context, fields.organization_id),
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(60 * DAY_MS, 200 * DAY_MS)),
  };
};

/** Makes a file of a store; progress, step and times follow from its status (section 3.1, G11). */
export const makeStoreFile: Factory<StoreFile> = (fields, context) => {
  const { isFixture, now } = context;
  const ids = pickStoreAndFile(fields, context);
  const status = pickStatus(fields, isFixture);
  const processing_ms =
    isFixture && status !== "processing"
      ? PAST_PROCESSING_MS
      : toMilliseconds(context.settings.processing_seconds);
  const length =
    status === "failed" ? getStepEnd({ started_at: 0, processing_ms }, "parsing") : processing_ms;
  const givenEnd = status === "processing" ? null : (fields.completed_at ?? null);
  const started_at =
    fields.started_at ??
    (givenEnd === null
      ? pickStart({ ...ids, status, processing_ms, progress_percent: fields.progress_percent ?? 0 }, context)
      : givenEnd - length);
  const completed_at =
    status === "processing"
      ? null
      : (givenEnd ??
        (isFixture ? Math.min(started_at + length, Math.max(now, started_at)) : Math.max(now, started_at)));
  const progress = calculateProgress({ started_at, processing_ms }, completed_at ?? now);
  const givenPercent = status === "failed" ? fields.progress_percent : undefined;
  return {
    id: toStoreFileId(ids.store_id, ids.file_id),
    store_id: ids.store_id,
    file_id: ids.file_id,
    status,
    progress_percent: status === "completed" ? 100 : (givenPercent ?? progress.progress_percent),
    current_step: status === "processing" ? progress.current_step : null,
    error_message: status === "failed" ? (fields.error_message ?? UNSUPPORTED_TYPE) : null,
    started_at,
    completed_at,
    processing_ms,
  };
};

function pickStatus(
  { status, error_message, completed_at }: Partial<StoreFile>,
  isFixture: boolean,
): StoreFile["status"] {
  if (status !== undefined) return status;
  if (error_message) return "failed";
  return isFixture || completed_at != null ? "completed" : "processing";
}

function pickStart(
  {
    store_id,
    file_id,
    status,
    processing_ms,
    progress_percent,
  }: Pick<StoreFile, "store_id" | "file_id" | "status" | "processing_ms" | "progress_percent">,
  { random, world, isFixture, now }: FactoryContext,
): number {
  if (!isFixture) return status === "processing" ? findStart(progress_percent, processing_ms, now) : now;
  const start =
    status === "processing"
      ? -random.int(0, Math.max(0, processing_ms - 1))
      : -random.int(DAY_MS, 30 * DAY_MS);
  const created = [world.get(vectorStores, store_id), world.get(files, file_id)].map(
    (one) => one?.created_at,
  );
  return Math.max(start, ...created.filter((instant) => instant !== undefined));
}

const MAX_SCANNED = 1000;

/** Picks a store and a file of the same organization that the store does not have yet; given ones are used. */
function pickStoreAndFile({ id, ...fields }: Partial<StoreFile>, context: FactoryContext) {
  const { world } = context;
  const [storeInId, fileInId] = id?.split(":") ?? [];
  const { store_id = storeInId, file_id = fileInId } = fields;
  if (store_id !== undefined && file_id !== undefined) return { store_id, file_id };
  const stores = store_id
    ? [requireReferencedRecord(world, vectorStores, { field: "store_id", id: store_id })]
    : listDefaultRecords(context, vectorStores).page(0, MAX_SCANNED);
  const candidates = file_id
    ? [requireReferencedRecord(world, files, { field: "file_id", id: file_id })]
    : world.all(files).page(0, MAX_SCANNED);
  for (const store of stores) {
    for (const file of candidates) {
      if (file.organization_id !== store.organization_id) continue;
      const ids = { store_id: store.id, file_id: file.id };
      if (world.get(storeFiles, toStoreFileId(store.id, file.id)) === undefined) return ids;
    }
  }
  const missing = store_id === undefined ? "store_id" : "file_id";
  const reason = `${missing} is required: there is no file left to put into a store of its organization`;
  throw invalidInput(missing, null, reason);
}

const fileFormat = createEntryFormat(StoreFile, {
  required: ["file_id"],
  omit: ["id", "store_id", "progress_percent", "current_step"],
});
const entryFormat = createEntryFormat(VectorStore, {
  required: ["id"],
  more: { files: Type.Optional(Type.Array(fileFormat.schema)) },
});

const reader = createListReader(vectorStores, { entryFormat, factory: makeVectorStore });

export const vectorStoresFixture: FixtureReader = {
  ...reader,
  dependsOnSettings: ["processing_seconds", "locale"],
  check(fixture, report) {
    const organizations = new Map(
      ["vector_stores", "files"].flatMap((key) => [...readOrganizations(fixture, key)]),
    );
    for (const [position, store] of readEntries(fixture, "vector_stores", entryFormat).entries()) {
      const organization_id = organizations.get(store.id);
      for (const [index, file] of (store.files ?? []).entries()) {
        const { file_id, started_at, completed_at } = file;
        const reportField = (field: string, message: string) =>
          report(["vector_stores", position, "files", index, field], message);
        if ((organizations.get(file_id) ?? organization_id) !== organization_id)
          reportField("file_id", `${file_id} belongs to another organization`);
        const status = pickStatus(file as Pick<StoreFile, "status" | "error_message">, true);
        const impossible = [
          ...(status === "failed" ? [] : (["error_message"] as const)),
          ...(status === "processing" ? (["completed_at"] as const) : []),
        ];
        reportContradictions(file, status, impossible, reportField);
        const hasTimes = status !== "processing" && started_at && completed_at;
        if (hasTimes && Date.parse(completed_at) < Date.parse(started_at))
          reportField("completed_at", "completed_at lies before started_at");
      }
    }
  },
  addRecords(fixture, base) {
    reader.addRecords(fixture, base);
    const entries = readEntries(fixture, "vector_stores", entryFormat);
    const generateFile = (store_id: string, entry: FixtureEntry<typeof fileFormat>) =>
      makeStoreFile(
        { ...fileFormat.toFields(entry, base), store_id },
        base.createContext("store_files", store_id, entry.file_id),
      );
    base.fill(storeFiles, () =>
      entries.flatMap(({ id, files = [] }) => files.map((entry) => generateFile(id, entry))),
    );
    for (const { id, files = [] } of entries) {
      for (const entry of files) {
        if (entry.status !== "processing") continue;
        const file = generateFile(id, entry);
        // Instant 0 is the start of the sandbox. If processing ended before it, all steps run at the start, in order.
        const since = getStepEnd(file, "embedding") > 0 ? 0 : file.started_at;
        const due = findNextStepEnd(file, since);
        base.addTimer({ kind: "file.step", subject: file.file_id, key: file.id, due });
      }
    }
  },
};
