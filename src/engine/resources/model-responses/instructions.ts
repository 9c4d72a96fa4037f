import { LANGUAGES, type Language } from "./sample-text.ts";

/** What was asked of the form of an answer, as far as a rule can tell (G20). */
export interface Instructions {
  /** These very words, and nothing else. */
  exact?: string | undefined;
  /** A JSON object, with these keys where they were named. */
  json?: { keys: readonly string[] } | undefined;
  language?: Language | undefined;
  maxWords?: number | undefined;
  maxSentences?: number | undefined;
  isList?: boolean | undefined;
  isUpperCase?: boolean | undefined;
}

const MAX_READ = 4000;

/**
 * The instructions of these texts: system messages, then what the user asked. Where two say something of the
 * same, the later one holds, as people expect of a model.
 */
export function instructionsOf(texts: readonly string[]): Instructions {
  const instructions: Instructions = {};
  for (const text of texts) {
    const read = text.slice(-MAX_READ);
    for (const [name, find] of Object.entries(FINDERS)) {
      const found = find(read);
      if (found !== undefined) Object.assign(instructions, { [name]: found });
    }
  }
  return instructions;
}

const FINDERS: { [K in keyof Instructions]-?: (text: string) => Instructions[K] } = {
  exact: (text) =>
    /\b(?:reply|answer|respond|say)\s+(?:only\s+|just\s+|exactly\s+|with\s+|the\s+|words?\s+|phrase\s+|text\s+|:\s*){0,5}["“'‘`]([^"”`\n]{1,200})["”'’`]/i.exec(
      text,
    )?.[1],
  json(text) {
    const isAsked =
      /\b(?:answer|reply|respond|return|output|give|produce|write|only|valid|strict|as|in)\b[^.!?\n]{0,60}\bjson\b/i.test(
        text,
      ) || /\bjson\b[^.!?\n]{0,20}\b(?:only|object|format)\b/i.test(text);
    return isAsked ? { keys: keysIn(text) } : undefined;
  },
  language: (text) => LANGUAGES.find(({ asked }) => asked.test(text))?.language,
  maxWords(text) {
    if (/\b(?:one|a single|1)[ -]word\b/i.test(text)) return 1;
    return boundIn(text, "words?");
  },
  maxSentences(text) {
    if (/\b(?:in|with|use|write|just|only) (?:one|a single|1) (?:\w+ )?sentence\b/i.test(text)) return 1;
    return boundIn(text, "sentences?");
  },
  isList: (text) => /\b(?:bullet(?:ed)? (?:points?|list)|as an? (?:\w+ )?list)\b/i.test(text) || undefined,
  isUpperCase: (text) =>
    /\b(?:all caps|upper[ -]?case|capital letters|capitals only)\b/i.test(text) || undefined,
};

const NUMBERS: Readonly<Record<string, number>> = {
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  ten: 10,
  twenty: 20,
};

function boundIn(text: string, unit: string): number | undefined {
  const bound = new RegExp(
    `\\b(?:in|at most|no more than|maximum(?: of)?|max|up to|under|within|exactly)\\s+(\\d{1,4}|${Object.keys(NUMBERS).join("|")})\\s+${unit}\\b`,
    "i",
  ).exec(text)?.[1];
  if (bound === undefined) return undefined;
  return NUMBERS[bound.toLowerCase()] ?? Math.max(1, Number(bound));
}

const MAX_KEYS = 20;

/** Names in quotes behind `key`, `field` or `property`, or those of an object that was shown as a pattern. */
function keysIn(text: string): string[] {
  const named = /\b(?:keys?|fields?|propert(?:y|ies))\b([\s\S]{1,300})/i.exec(text)?.[1] ?? "";
  const quoted = [...named.matchAll(/["“`']([\w-]{1,60})["”`']/g)];
  const shown = [...text.matchAll(/["“]([\w-]{1,60})["”]\s*:/g)];
  const found = (shown.length > 0 ? shown : quoted).map(([, key]) => key!);
  return [...new Set(found)].slice(0, MAX_KEYS);
}
