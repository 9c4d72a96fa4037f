import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { nameFor, typeOf } from "./file-type.ts";
import { SAMPLE_FILES } from "./sample-text.ts";
import type { FileObject } from "./schema.ts";
import { storagePath } from "./storage-path.ts";

const DAY_MS = 86_400_000;

/** A file that nobody uploaded has no bytes; what it says follows from its name. */
export const makeFile: Factory<FileObject> = (given, context) => {
  const { random, world, past, now } = context;
  const sample = random.pick(SAMPLE_FILES);
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const filename = given.filename ?? (given.mime_type ? nameFor(given.mime_type) : sample.filename);
  return {
    id: given.id ?? context.newId("file_"),
    object: "file",
    filename,
    mime_type: given.mime_type ?? typeOf(filename),
    file_size: given.file_size ?? random.int(2_000, 900_000),
    organization_id,
    status: "uploaded",
    gcs_path: given.gcs_path ?? storagePath(organization_id, random.letters(20), filename),
    created_at: given.created_at ?? (past ? -random.int(2 * DAY_MS, 60 * DAY_MS) : now),
    created_by: given.created_by ?? authorOf(world, organization_id),
  };
};
