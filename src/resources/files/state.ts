import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import { removeFileFromStores } from "../vector-stores/rules.ts";
import { fileDeleted, fileUploaded } from "./events.ts";
import { type FileObject, files, fileTexts } from "./schema.ts";

/** Files made by state calls have no bytes; what they say follows from their name. */
export const fileRules: StateRules<FileObject> = {
  insert(tx, record, actor) {
    tx.insert(files, record);
    if (!actor.silent) emit(tx, fileUploaded, record);
    return record;
  },
  remove(tx, record, actor) {
    removeFileFromStores(tx, record.id);
    tx.remove(fileTexts, record.id);
    tx.remove(files, record.id);
    if (!actor.silent) emit(tx, fileDeleted, record);
  },
};
