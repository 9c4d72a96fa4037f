import Type from "typebox";
import { resourceNotFound } from "../../contract/errors.ts";
import type { Principal } from "../../contract/operation.ts";
import { collection } from "../../state/collection.ts";
import type { Transaction } from "../../state/transaction.ts";
import { isMember } from "../organizations/access.ts";
import { bestPassage, type PassageFor, passagesOf } from "./passages.ts";

/** What an answer needs of a file; the files resource keeps the record. */
export interface AttachedFile {
  id: string;
  organization_id: string;
  filename: string;
  /** Text that the record itself carries. */
  text?: string;
}

/** The table of the files resource, by its name; a server without one knows no files. */
const files = collection<AttachedFile>({
  name: "files",
  prefix: "file_",
  idField: "id",
  schema: Type.Object({}),
});

function findFile(world: Transaction, file_id: string): AttachedFile | undefined {
  const isKept = world.collections().some(({ name }) => name === files.name);
  return isKept ? world.get(files, file_id) : undefined;
}

/**
 * G20 and G02: a file that does not exist, or belongs to an organization of which the caller is no member.
 * @throws ApiError RESOURCE_NOT_FOUND with the first such `file_id`
 */
export function requireFiles(
  { principal, world }: { principal: Principal; world: Transaction },
  file_ids: readonly string[],
): void {
  for (const file_id of file_ids) {
    const file = findFile(world, file_id);
    if (file === undefined || !isMember({ principal, world }, file.organization_id))
      throw resourceNotFound("file_id", file_id);
  }
}

/** Searches the text that the file's record carries. */
export const passageInRecord: PassageFor = async ({ world, file_id, question }) => {
  const file = findFile(world, file_id);
  const found = file?.text === undefined ? undefined : await bestPassage(passagesOf(file.text), question);
  return found && { filename: file!.filename, ...found };
};
