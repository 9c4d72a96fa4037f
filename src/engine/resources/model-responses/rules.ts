import type { Turn } from "./recall.ts";
import type { InputMessage, ReplyRule } from "./schema.ts";

/** Every text of a message, in order, whichever form it has. */
export function textsOf({ content, texts }: InputMessage): string[] {
  const blocks =
    typeof content === "string"
      ? [content]
      : (content ?? []).flatMap((block) => (block.type === "text" ? [block.text!] : []));
  return [...blocks, ...(texts ?? []).map(({ text }) => text)];
}

/** Every attached file of a message, in order, those in content blocks first. */
export function filesOf({ content, files }: InputMessage): string[] {
  const blocks = Array.isArray(content)
    ? content.flatMap((block) => (block.type === "file" ? [block.file_id!] : []))
    : [];
  return [...blocks, ...(files ?? []).map(({ file_id }) => file_id)];
}

/** What the user asked last, and what was said before it, system messages apart. */
export interface Conversation {
  /** Empty when nobody asked. */
  question: string;
  earlier: readonly Turn[];
  system: readonly string[];
}

export function conversationOf(inputs: readonly InputMessage[]): Conversation {
  const last = inputs.findLastIndex(({ role }) => role === "user");
  const textOf = (input: InputMessage) => textsOf(input).join("\n");
  return {
    question: last < 0 ? "" : textOf(inputs[last]!),
    earlier: inputs
      .slice(0, Math.max(0, last))
      .filter(({ role }) => role !== "system")
      .map((input) => ({ role: input.role, text: textOf(input) })),
    system: inputs.filter(({ role }) => role === "system").map(textOf),
  };
}

/** G20: all that the rule gives must hold. */
export function matches(
  { match }: ReplyRule,
  request: { model: string; question: string; file_ids: readonly string[] },
): boolean {
  return (
    (match.model === undefined || match.model === request.model) &&
    (match.text === undefined || request.question.toLowerCase().includes(match.text.toLowerCase())) &&
    (match.file_id === undefined || request.file_ids.includes(match.file_id))
  );
}

/** G20: a token is four bytes of UTF-8, begun counting as whole. */
export function tokensOf(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return Math.ceil(bytes / 4);
}

/** In CHF, six decimals; a model without a price costs nothing. */
export function costOf(total_tokens: number, cost_per_1k_tokens: number | null): number {
  return Math.round((total_tokens / 1000) * (cost_per_1k_tokens ?? 0) * 1e6) / 1e6;
}
