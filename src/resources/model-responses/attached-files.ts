import Type from "typebox";
import { resourceNotFound } from "../../contract/errors.ts";
import { collection } from "../../state/collection.ts";
import { type Caller, isMember } from "../organizations/access.ts";
import { bestPassage, type PassageFor } from "./passages.ts";

/** What an answer needs of a file; the files resource keeps the record. */
export interface AttachedFile {
  id: string;
  organization_id: string;
  filename: string;
  /** Text that the record itself carries. */
  text?: string;
}

/** The files resource's table, reached by its name. */
const files = collection<AttachedFile>({
  name: "files",
  prefix: "file_",
  idField: "id",
  schema: Type.Object({}),
});

/**
 * G20 and G02: a file that does not exist, or belongs to an organization of which the caller is no member.
 * @throws ApiError RESOURCE_NOT_FOUND with the first such `file_id`
 */
export function requireFiles(caller: Caller, file_ids: readonly string[]): void {
  for (const file_id of file_ids) {
    const file = caller.world.get(files, file_id);
    if (file === undefined || !isMember(caller, file.organization_id))
      throw resourceNotFound("file_id", file_id);
  }
}

/** Searches the text that the file's record carries. */
export const passageInRecord: PassageFor = ({ world, file_id, question }) => {
  const file = world.get(files, file_id);
  const found = file?.text === undefined ? undefined : bestPassage(file.text, question);
  return found && { filename: file!.filename, ...found };
};
