/** Characters of one file that are kept: about a hundred pages. */
export const LONGEST_TEXT = 200_000;
const LONGEST_PASSAGE = 300;

/**
 * Cuts a text into what can be quoted: its sentences, and the lines of lists, tables and headings. A
 * sentence that is too long to quote is cut between words.
 */
export function cutIntoPassages(text: string): string[] {
  return text
    .slice(0, LONGEST_TEXT)
    .replaceAll("\u0000", "")
    .split(/\r\n|\r|\n/)
    .map(withoutMarkup)
    .flatMap((line) => line.split(/(?<=[.!?])\s+/))
    .flatMap(cutBetweenWords)
    .filter((passage) => /[\p{L}\p{N}]/u.test(passage));
}

/** What Markdown puts before a line: heading, quotation, list item. */
function withoutMarkup(line: string): string {
  return line.replace(/^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)?/, "").trimEnd();
}

function cutBetweenWords(sentence: string): string[] {
  if (sentence.length <= LONGEST_PASSAGE) return [sentence];
  const pieces: string[] = [];
  let piece = "";
  for (const word of sentence.split(/\s+/)) {
    if (piece !== "" && piece.length + word.length >= LONGEST_PASSAGE) {
      pieces.push(piece);
      piece = "";
    }
    // By characters, so that no surrogate pair is cut in half.
    piece = piece === "" ? [...word].slice(0, LONGEST_PASSAGE).join("") : `${piece} ${word}`;
  }
  return [...pieces, piece];
}

/** What nests deeper is left out; a document may nest deeper than the stack. */
const DEEPEST = 50;

/** A line per value, after the names that lead to it; a document that is not JSON stays as it is. */
export function textOfJson(text: string): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return text;
  }
  const lines: string[] = [];
  let length = 0;
  const visit = (value: unknown, names: readonly string[], depth: number): void => {
    if (length > LONGEST_TEXT || depth > DEEPEST) return;
    if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        visit(inner, Array.isArray(value) ? names : [...names, name], depth + 1);
      }
    } else if (value !== null && value !== "") {
      const line = names.length === 0 ? String(value) : `${names.join(" ")}: ${value}`;
      length += line.length;
      lines.push(line);
    }
  };
  visit(document, [], 0);
  return lines.join("\n");
}
