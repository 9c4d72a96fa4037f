import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable, Timestamp, Words } from "../../contract/schema.ts";
import { DEFAULT_SETTINGS } from "../../contract/settings.ts";
import { firstOrganization } from "../organizations/of-fixture.ts";
import { endOf, nextStepEnd, processingMs, progressAt, stepEnd, UNSUPPORTED } from "./progress.ts";
import {
  FILE_STATUSES,
  type StoreFile,
  storeFileId,
  storeFiles,
  type VectorStore,
  vectorStores,
} from "./schema.ts";
import { STORE_NAMES } from "./words.ts";

const DAY = 86_400_000;
/** What is over took as long as by default; only what still runs follows the sandbox's setting. */
const PAST_PROCESSING_MS = processingMs(DEFAULT_SETTINGS);

const StoreFileEntry = Type.Object(
  {
    file_id: Id("file_"),
    status: Type.Optional(Words(FILE_STATUSES)),
    started_at: Type.Optional(Timestamp()),
    completed_at: Type.Optional(Nullable(Timestamp())),
    error_message: Type.Optional(Nullable(Type.String())),
  },
  { additionalProperties: false },
);
type FileEntry = Static<typeof StoreFileEntry>;

const StoreEntry = Type.Object(
  {
    id: Id("vs_"),
    name: Type.Optional(Type.String({ minLength: 1 })),
    organization_id: Type.Optional(Id("org_")),
    created_at: Type.Optional(Timestamp()),
    files: Type.Optional(Type.Array(StoreFileEntry)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof StoreEntry>;

export const vectorStoresFixture: FixtureReader = {
  keys: { vector_stores: Type.Array(StoreEntry) },
  follows: ["processing_seconds"],
  check(fixture, report) {
    const known = new Set(((fixture["files"] ?? []) as { id: string }[]).map(({ id }) => id));
    for (const [position, store] of entriesOf(fixture).entries()) {
      const seen = new Set<string>();
      for (const [index, { file_id }] of (store.files ?? []).entries()) {
        const path = ["vector_stores", position, "files", index, "file_id"];
        if (!known.has(file_id)) report(path, `there is no file ${file_id}`);
        if (seen.has(file_id)) report(path, `${file_id} is in ${store.id} already`);
        seen.add(file_id);
      }
    }
  },
  seed(fixture, base) {
    base.fill(vectorStores, () => entriesOf(fixture).map((entry) => storeOf(entry, fixture, base)));
    base.fill(storeFiles, () =>
      entriesOf(fixture).flatMap((store) =>
        (store.files ?? []).map((entry) => storeFileOf(entry, store.id, base)),
      ),
    );
    for (const store of entriesOf(fixture)) {
      for (const entry of store.files ?? []) {
        if (statusOf(entry) !== "processing") continue;
        const file = storeFileOf(entry, store.id, base);
        // What has ended before the first day goes through its steps all the same, in their order.
        const since = endOf(file) > 0 ? 0 : file.started_at;
        base.timer({
          kind: "file.step",
          subject: file.file_id,
          key: file.id,
          due: nextStepEnd(file, since),
        });
      }
    }
  },
};

function entriesOf(fixture: FixtureData): readonly Entry[] {
  return (fixture["vector_stores"] ?? []) as Entry[];
}

function storeOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): VectorStore {
  const random = base.random("vector_stores", entry.id);
  return {
    id: entry.id,
    name: entry.name ?? random.pick(STORE_NAMES),
    organization_id: entry.organization_id ?? firstOrganization(fixture),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(60 * DAY, 200 * DAY),
  };
}

function statusOf({ status, error_message }: FileEntry): StoreFile["status"] {
  return status ?? (error_message ? "failed" : "completed");
}

function storeFileOf(entry: FileEntry, store_id: string, base: BaseBuilder): StoreFile {
  const { file_id } = entry;
  const status = statusOf(entry);
  const processing_ms = status === "processing" ? processingMs(base.settings) : PAST_PROCESSING_MS;
  const random = base.random("store_files", store_id, file_id);
  const started_at = entry.started_at
    ? base.instant(entry.started_at)
    : status === "processing"
      ? -random.int(0, Math.max(0, processing_ms - 1))
      : -random.int(DAY, 30 * DAY);
  const processing = { started_at, processing_ms };
  const ended = status === "failed" ? stepEnd(processing, "parsing") : started_at + processing_ms;
  const completed_at = entry.completed_at ? base.instant(entry.completed_at) : ended;
  const { progress_percent, current_step } = progressAt(processing, status === "failed" ? completed_at : 0);
  return {
    id: storeFileId(store_id, file_id),
    store_id,
    file_id,
    status,
    progress_percent: status === "completed" ? 100 : progress_percent,
    current_step: status === "processing" ? current_step : null,
    error_message: status === "failed" ? (entry.error_message ?? UNSUPPORTED) : null,
    started_at,
    completed_at: status === "processing" ? null : completed_at,
    processing_ms,
  };
}
