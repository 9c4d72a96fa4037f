import { stretches } from "./answer-text.ts";

/** A shorter spelling would be found by chance. */
const MIN_LENGTH = 8;

/** The secret as it might be printed, the longest first. */
export function secretSpellings(secret: string): string[] {
  const bare = secret.replace(/^whsec_/, "");
  const encoded = [secret, bare].flatMap((text) => {
    const bytes = Buffer.from(text);
    return [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
  });
  const spellings = [secret, bare, ...encoded, encodeURIComponent(secret)];
  return [...new Set(spellings)]
    .filter((spelling) => spelling.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
}

/** Half of the secret's own part is as good as all of it; ordinary words, which a text may hold by chance, are left out. */
export function secretParts(secret: string): string[] {
  const bare = secret.replace(/^whsec_/, "");
  const length = Math.max(MIN_LENGTH, Math.ceil(bare.length / 2));
  return stretches(bare, length)
    .map(({ part }) => part)
    .filter((part) => /\d.*\d/.test(part) && /[a-z].*[a-z]/i.test(part));
}

/** Reports are passed around; what a receiver disclosed must not spread with them. */
export function secretRedactor(secret: string): (text: string) => string {
  const spellings = [...secretSpellings(secret), ...secretParts(secret)];
  return (text) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, "[secret]"), text);
}
