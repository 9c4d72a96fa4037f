import type { WorldReader } from "../../state/transaction.ts";
import type { FileObject } from "./schema.ts";

export function presentFile(file: FileObject, world: WorldReader) {
  return { ...file, created_at: world.iso(file.created_at) };
}
