import { countUtf8Bytes } from "../../bytes.ts";
import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { isPicture } from "../files/pictures.ts";
import { files } from "../files/schema.ts";
import { type Caller, isMember } from "../organizations/access.ts";
import { type InputMessage, MAX_MESSAGE_FILES } from "./schema.ts";

/** Every text of a message in order: from `content`, a text or blocks, then from `texts`. */
export function listTexts({ content, texts }: InputMessage): string[] {
  const blocks =
    typeof content === "string"
      ? [content]
      : (content ?? []).flatMap((block) => (block.type === "text" ? [block.text!] : []));
  return [...blocks, ...(texts ?? []).map(({ text }) => text)];
}

/** The attached files of all messages, with their fields; in each message, those in content blocks come first. */
export function listAttachments(inputs: readonly InputMessage[]): { field: string; file_id: string }[] {
  return inputs.flatMap(({ content, files: attachedFiles = [] }, i) => {
    const blocks = Array.isArray(content) ? content : [];
    return [
      ...blocks.flatMap(({ type, file_id }, j) =>
        type === "file" ? [{ field: `inputs[${i}].content[${j}].file_id`, file_id: file_id! }] : [],
      ),
      ...attachedFiles.map(({ file_id }, j) => ({ field: `inputs[${i}].files[${j}].file_id`, file_id })),
    ];
  });
}

export interface Turn {
  role: string;
  text: string;
}

/** The last message of the user and the turns before it, without system messages. */
export interface Conversation {
  /** Empty if no message is the user's. */
  question: string;
  earlier: readonly Turn[];
}

export function readConversation(inputs: readonly InputMessage[]): Conversation {
  const last = inputs.findLastIndex(({ role }) => role === "user");
  const joinTexts = (input: InputMessage) => listTexts(input).join("\n");
  return {
    question: last < 0 ? "" : joinTexts(inputs[last]!),
    earlier: inputs
      .slice(0, Math.max(0, last))
      .filter(({ role }) => role !== "system")
      .map((input) => ({ role: input.role, text: joinTexts(input) })),
  };
}

/** A token is four bytes of UTF-8; the last one may be shorter (G20). */
export function countTokens(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += countUtf8Bytes(text);
  return Math.ceil(bytes / 4);
}

/** In CHF, six decimals; a model without a price costs nothing. */
export function calculateCost(total_tokens: number, cost_per_1k_tokens: number | null): number {
  return Math.round((total_tokens / 1000) * (cost_per_1k_tokens ?? 0) * 1e6) / 1e6;
}

/**
 * Counts the files of a message in both places together (section 2.13); the schema counts each place alone.
 * @throws ApiError INVALID_INPUT
 */
export function requireFileLimit(input: InputMessage, position: number): void {
  if (listAttachments([input]).length <= MAX_MESSAGE_FILES) return;
  throw invalidInput(
    `inputs[${position}].files`,
    input.files,
    `a message takes at most ${MAX_MESSAGE_FILES} files, including those in content blocks`,
  );
}

/**
 * Refuses a file that does not exist or belongs to an organization of which the caller is not a member (G20, G02).
 * @throws ApiError RESOURCE_NOT_FOUND with the first such `file_id`
 */
export function requireFiles(caller: Caller, file_ids: readonly string[]): void {
  for (const file_id of file_ids) {
    const file = caller.world.get(files, file_id);
    if (file === undefined || !isMember(caller, file.organization_id))
      throw resourceNotFound("file_id", file_id);
  }
}

/**
 * Refuses images, for a model without vision (section 2.13, G35).
 * @throws ApiError INVALID_INPUT with the field of the first image
 */
export function refuseImages(world: WorldReader, inputs: readonly InputMessage[]): void {
  for (const { field, file_id } of listAttachments(inputs)) {
    const file = world.get(files, file_id);
    if (file && isPicture(file)) throw invalidInput(field, file_id, "this model takes no images");
  }
}
