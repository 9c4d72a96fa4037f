import type { WorldReader } from "../../state/transaction.ts";
import { bestPassage, type PassageFor } from "../model-responses/passages.ts";
import { textsFor } from "./sample-text.ts";
import { type FileObject, files, fileTexts } from "./schema.ts";

/** Types whose text a file without bytes is given; nobody expects a picture to be quoted. */
const WORDY = /^(text\/|application\/(pdf|json))/;

/** The passage of a file that fits a question best (G20). */
export const passageInFile: PassageFor = async ({ world, file_id, question }) => {
  const file = world.get(files, file_id);
  const found = file && (await bestPassage(passagesOf(file, world), question));
  return found && { filename: file.filename, ...found };
};

/** The text that was uploaded; where there were no bytes, what a file of its name would say. */
function passagesOf(file: FileObject, world: WorldReader): readonly string[] {
  const uploaded = world.get(fileTexts, file.id)?.passages;
  return uploaded ?? (WORDY.test(file.mime_type) ? textsFor(file.filename) : []);
}
