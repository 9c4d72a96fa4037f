import { distance } from "fastest-levenshtein";

/** A longer word is not a typing error, and computing its distance takes too long. */
const MAX_WORD_LENGTH = 80;

/**
 * The candidate nearest to a mistyped word, or undefined if none is near. Case is ignored; longer words may have more
 * mistakes. Of equally near candidates, the first is returned.
 */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > MAX_WORD_LENGTH) return undefined;
  const lowerCaseWord = word.toLowerCase();
  const maxDistance = getMaxMistakes(lowerCaseWord.length);
  let best: string | undefined;
  let bestDistance = maxDistance + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - lowerCaseWord.length) >= bestDistance) continue;
    const candidateDistance = distance(lowerCaseWord, candidate.toLowerCase());
    if (candidateDistance < bestDistance && candidateDistance < candidate.length) {
      best = candidate;
      bestDistance = candidateDistance;
    }
  }
  return best;
}

/** Whether a word is surely another one, mistyped: at most a third of its letters differ, and not only its digits. */
export function isTypo(word: string, other: string): boolean {
  if (word.replace(/\d+/g, "") === other.replace(/\d+/g, "")) return false;
  return distance(word.toLowerCase(), other.toLowerCase()) <= Math.floor(word.length / 3);
}

function getMaxMistakes(length: number): number {
  if (length <= 2) return 1;
  if (length <= 5) return 2;
  return Math.min(6, Math.floor(length / 3) + 1);
}

/**
 * Prepares a text for comparison without regard to case, and to whether accents are separate characters. The Greek
 * sigma has two lower-case forms, of which a word's last letter takes one.
 */
export function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase().replaceAll("ς", "σ");
}

/** Cuts a text to a length, and drops a half of a surrogate pair at its end, which some clients cannot read. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

/** Shortens a text for a message, since it may be megabytes long. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length - 1)}…`;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A path as a word of a command to paste, in the quotes of a POSIX shell if it needs any. A backslash is taken for that of a Windows path. */
export function toShellWord(text: string): string {
  return /^[\w@%+=:,./\\~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Ends a text with a full stop, unless it ends as a sentence already; `hint` is a word that may have been meant. */
export function toSentence(text: string, hint?: string): string {
  const sentence = /[.!?]\s*$/.test(text) ? text : `${text}.`;
  return hint === undefined ? sentence : `${sentence} Did you mean ${JSON.stringify(hint)}?`;
}

/** ` (did you mean "notes"?)`, or nothing if no candidate is near. */
export function toHint(word: string, candidates: Iterable<string>): string {
  const nearest = findNearest(word, candidates);
  return nearest === undefined ? "" : ` (did you mean ${JSON.stringify(nearest)}?)`;
}

/** "1 step", "2 steps"; `plural` is for irregular ones. */
export function pluralize(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

export function joinWords(words: readonly string[], last: "and" | "or"): string {
  if (words.length < 2) return words[0] ?? "nothing";
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** "0.3 s", "12.0 s". */
export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** "1 entry was" or "2 entries were", for messages about evicted entries; an adjective is, for example, "older". */
export function describeEvictedEntries(count: number, adjective?: string): string {
  const words = adjective === undefined ? "" : `${adjective} `;
  return count === 1 ? `1 ${words}entry was` : `${count === 0 ? "no" : count} ${words}entries were`;
}

/** Characters that control a terminal, or reverse its text, except for line ends and tabs. */
const CONTROLS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Makes a name, a header or a line of a file safe for a terminal: its author must not control the terminal. */
export function toPrintable(text: string): string {
  return toPrintableLines(text).replaceAll(/[\n\t]/g, escapeCharacter);
}

/** Like `toPrintable`, but line ends and tabs stay. Colours are escaped too, since they can hide text. */
export function toPrintableLines(text: string): string {
  return text.replaceAll(CONTROLS, escapeCharacter);
}

/** JSON on one line, or indented. Control characters that JSON allows are escaped too; parsing gives the same value. */
export function toPrintableJson(value: unknown, indent?: number): string {
  return toPrintableLines(JSON.stringify(value, null, indent));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Undefined if the text is not JSON, which may begin with a byte order mark. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}

export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Whether a header that takes one value was sent several times, which HTTP joins with commas. */
export const isJoinedHeader = (value: string): boolean => value.includes(",");

/** Windows-1252 from 0x80 on, as far as it differs from Latin-1. Node 20 decodes these as Latin-1 (nodejs/node#56542). */
const WESTERN = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Corrects a text that a `TextDecoder` for Windows-1252 has decoded as Latin-1. */
export function repairWestern(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (character) => WESTERN[character.charCodeAt(0) - 0x80]!);
}

/** Endings of English plurals; the first that fits applies. */
const SINGULARS: readonly (readonly [plural: RegExp, singular: string])[] = [
  // Unchanged, such as `status`, but not `menus`.
  [/(?<=news|series|species|ss|sis|[^n]us)$/, ""],
  [/(?<=mov|cook|(?:^|_)[dlpt])ies$/, "ie"],
  [/ies$/, "y"],
  [/(?<=analy|cri|diagno|the)ses$/, "sis"],
  // `batches`, `coaches`, `viruses`, `aliases`; but not `caches`, `causes`, `databases`.
  [/(?<=x|ss|sh|zz|[^a]ch|[eo]ach|[inprt]us|(?:^|_)bus|ias)es$/, ""],
  [/s$/, ""],
];

/** The name of one of a collection's records: "box" for `boxes`, "category" for `categories`. */
export function toSingular(plural: string): string {
  const [ending, singular] = SINGULARS.find(([pattern]) => pattern.test(plural)) ?? ["", ""];
  return plural.replace(ending, singular);
}
