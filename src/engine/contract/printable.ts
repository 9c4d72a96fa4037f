/** Characters that steer a terminal, or reverse its text. */
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** The same but for line ends and tabs. */
const STEERING_IN_LINES =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A name, a header, a line of a file, made safe for a terminal: its author must not control it. */
export function printable(text: string): string {
  return text.replaceAll(STEERING, escaped);
}

/** The same for a text of several lines. Colours are steering too: one of them hides what follows. */
export function printableLines(text: string): string {
  return text.replaceAll(STEERING_IN_LINES, escaped);
}

/** JSON of one line, or indented; what it does not escape by itself is escaped too, and reads back the same. */
export function printableJson(value: unknown, indent?: number): string {
  return printableLines(JSON.stringify(value, null, indent));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
