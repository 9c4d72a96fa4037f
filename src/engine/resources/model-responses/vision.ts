import { invalidInput } from "../../contract/errors.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { isPicture, pictureOf } from "../files/picture-in-file.ts";
import { files } from "../files/schema.ts";
import type { SeenPicture } from "./compose-reply.ts";
import type { InputMessage } from "./schema.ts";

/** Section 2.13: images go to models that see (G35). @throws ApiError INVALID_INPUT naming the first image's field */
export function requireSight(world: WorldReader, inputs: readonly InputMessage[], sees: boolean): void {
  if (sees) return;
  for (const { field, file_id } of attachmentsOf(inputs)) {
    const file = world.get(files, file_id);
    if (file && isPicture(file)) throw invalidInput(field, file_id, "this model takes no images");
  }
}

/** The pictures among these files, in their order. */
export function picturesIn(world: Transaction, file_ids: readonly string[]): SeenPicture[] {
  return file_ids.flatMap((id) => {
    const file = world.get(files, id);
    return file && isPicture(file) ? [{ filename: file.filename, picture: pictureOf(file, world) }] : [];
  });
}

function* attachmentsOf(inputs: readonly InputMessage[]): Iterable<{ field: string; file_id: string }> {
  for (const [i, { content, files: attached }] of inputs.entries()) {
    for (const [j, block] of (Array.isArray(content) ? content : []).entries()) {
      if (block.type === "file")
        yield { field: `inputs[${i}].content[${j}].file_id`, file_id: block.file_id! };
    }
    for (const [j, { file_id }] of (attached ?? []).entries())
      yield { field: `inputs[${i}].files[${j}].file_id`, file_id };
  }
}
