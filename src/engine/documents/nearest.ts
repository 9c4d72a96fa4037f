import { distance } from "fastest-levenshtein";

const MAX_WORD_LENGTH = 80;

/**
 * The candidate that a mistyped word most likely meant, or undefined when none is near. Case is ignored;
 * the longer the word, the more slips are forgiven. Of equally near candidates the first given wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // A word this long is no typing error, and the distance costs length times length.
  if (word.length === 0 || word.length > MAX_WORD_LENGTH) return undefined;
  const wanted = word.toLowerCase();
  const forgiven = slips(wanted.length);
  let best: string | undefined;
  let bestDistance = forgiven + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const found = distance(wanted, candidate.toLowerCase());
    if (found < bestDistance && found < candidate.length) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

function slips(length: number): number {
  if (length <= 2) return 1;
  if (length <= 5) return 2;
  return Math.min(6, Math.floor(length / 3) + 1);
}
