/**
 * The text of these bytes: UTF-8, or what a byte order mark or the type's `charset` says in its place.
 * Undefined for bytes that are no such text (G34).
 */
export function decodeText(
  bytes: Uint8Array,
  { mime_type, isWhole }: { mime_type: string; isWhole: boolean },
): string | undefined {
  try {
    // A part may end within a character.
    return new TextDecoder(encodingOf(bytes, mime_type), { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

function encodingOf(bytes: Uint8Array, mime_type: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return /;\s*charset="?([\w.:-]+)"?/i.exec(mime_type)?.[1] ?? "utf-8";
}
