import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId } from "../../contract/schema.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { storagePath } from "./rules.ts";
import { FileName, type FileObject, FileSize, files, MimeType } from "./schema.ts";
import { OTHER_TYPES, SAMPLE_FILES } from "./words.ts";

const DAY = 86_400_000;

const FileEntry = Type.Object(
  {
    id: Id("file_"),
    filename: Type.Optional(FileName()),
    mime_type: Type.Optional(MimeType()),
    file_size: Type.Optional(FileSize()),
    organization_id: Type.Optional(Id("org_")),
    created_by: Type.Optional(UserId()),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof FileEntry>;

export const filesFixture: FixtureReader = {
  keys: { files: Type.Array(FileEntry) },
  seed(fixture, base) {
    base.fill(files, () =>
      ((fixture["files"] ?? []) as Entry[]).map((entry) => fileOf(entry, fixture, base)),
    );
  },
};

function fileOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): FileObject {
  const random = base.random("files", entry.id);
  const sample = random.pick(SAMPLE_FILES);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  const filename = entry.filename ?? sample.filename;
  return {
    id: entry.id,
    object: "file",
    filename,
    mime_type: entry.mime_type ?? typeOf(filename),
    file_size: entry.file_size ?? random.int(2_000, 900_000),
    organization_id,
    status: "uploaded",
    gcs_path: storagePath(organization_id, random.letters(20), filename),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(2 * DAY, 60 * DAY),
    created_by: entry.created_by ?? ownerOf(fixture, organization_id),
  };
}

/** By the name's extension. */
export function typeOf(filename: string): string {
  const extension = /\.[^.]+$/.exec(filename)?.[0].toLowerCase() ?? "";
  const known = SAMPLE_FILES.find((sample) => extension !== "" && sample.filename.endsWith(extension));
  const other = Object.hasOwn(OTHER_TYPES, extension) ? OTHER_TYPES[extension] : undefined;
  return (known ?? other)?.mime_type ?? "application/octet-stream";
}

/** A name for a file of this type, such as a sample has; one of an unknown type says nothing of it. */
export function nameFor(mime_type: string): string {
  const known = [...SAMPLE_FILES, ...Object.values(OTHER_TYPES)].find(
    (sample) => sample.mime_type === mime_type,
  );
  return known?.filename ?? "attachment.bin";
}
