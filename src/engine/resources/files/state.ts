import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import { fileDeleted, fileUploaded } from "./events.ts";
import { type FileObject, files } from "./schema.ts";

/** Files made by state calls have no bytes; what they say follows from their name. */
export const fileRules: StateRules<FileObject> = {
  insert(tx, record, actor) {
    tx.insert(files, record);
    if (!actor.silent) emit(tx, fileUploaded, record);
    return record;
  },
  remove(tx, record, actor) {
    if (!actor.silent) emit(tx, fileDeleted, record);
  },
};
