import type { WorldReader } from "../../state/transaction.ts";
import type { FileObject } from "./schema.ts";

export function presentFile(file: FileObject, world: WorldReader) {
  return { ...file, created_at: world.iso(file.created_at) };
}

/** G25: the file's public fields with its id as `file_id`. */
export function fileEventData(file: FileObject, world: WorldReader): Record<string, unknown> {
  const { id, ...rest } = presentFile(file, world);
  return { file_id: id, ...rest };
}
