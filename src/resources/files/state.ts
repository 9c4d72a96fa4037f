import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { anyOf, personOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { removeFileFromStores } from "../vector-stores/rules.ts";
import { fileDeleted, fileUploaded } from "./events.ts";
import { storagePath } from "./rules.ts";
import { type FileObject, files, fileTexts } from "./schema.ts";
import { nameFor, typeOf } from "./seed.ts";
import { SAMPLE_FILES } from "./words.ts";

/** Files made by state calls have no bytes; what they say follows from their name. */
export const fileRules: StateRules<FileObject> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    const filename =
      fields.filename ?? (fields.mime_type ? nameFor(fields.mime_type) : random.pick(SAMPLE_FILES).filename);
    return {
      object: "file",
      organization_id,
      filename,
      mime_type: typeOf(filename),
      file_size: random.int(2_000, 900_000),
      status: "uploaded",
      gcs_path: storagePath(organization_id, random.letters(20), filename),
      created_at: tx.now,
      created_by: personOf(tx, organization_id),
      ...fields,
    };
  },
  insert(tx, record, actor) {
    requireReferences(tx, record);
    tx.insert(files, record);
    if (!actor.silent) emit(tx, fileUploaded, record);
    return record;
  },
  update(tx, _before, after) {
    requireReferences(tx, after);
    return tx.put(files, after);
  },
  remove(tx, record, actor) {
    removeFileFromStores(tx, record.id);
    tx.remove(fileTexts, record.id);
    tx.remove(files, record.id);
    if (!actor.silent) emit(tx, fileDeleted, record);
  },
};

function requireReferences(tx: Transaction, { organization_id, created_by }: FileObject): void {
  referred(tx, organizations, { field: "organization_id", id: organization_id });
  referred(tx, users, { field: "created_by", id: created_by });
}
