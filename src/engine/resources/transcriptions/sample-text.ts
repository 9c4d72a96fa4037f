import type { Random } from "../../state/random.ts";

/** The beginning of each interview; it has both kinds of redactable text. */
const OPENING = [
  "Thanks for taking the time today, {person}.",
  "Of course, happy to be here, and please write to {email} if anything is missing later.",
  "Let's start with what your team does.",
];

const QUESTIONS = [
  "How did you notice that {thing} needed a different approach?",
  "What did {person} say when you showed the first version?",
  "Can you walk me through a typical day with {thing}?",
  "How many people work on {thing} right now?",
  "What would you change about {thing} if you could start over?",
  "And how did that compare with the plan from {month}?",
  "Who decides when {thing} is good enough to ship?",
  "What was the hardest part of the move?",
  "Did the numbers surprise you?",
  "What do customers ask for most often?",
  "Where do you see {thing} a year from now?",
  "Is there anything that you would not automate?",
];

const ANSWERS = [
  "We had about {number} requests a week, and most of them were about {thing}.",
  "Honestly, the first attempt took us until {month}, and we threw half of it away.",
  "{person} joined around that time and brought a lot of calm into the project.",
  "The interesting part is that {thing} was never the bottleneck.",
  "We measured it for {number} days before we touched anything.",
  "I remember a call in {month} where everybody suddenly agreed.",
  "It saves us roughly {number} hours a month, which is more than I expected.",
  "People trust {thing} because they can see where an answer comes from.",
  "We still check every tenth result by hand.",
  "If something looks odd, it goes to {email}, and a person reads it the same day.",
  "The team is small, so we keep {thing} as simple as we can.",
  "Documentation was the part that nobody wanted to own.",
  "After the pilot we went from {number} documents to all of them.",
  "What helped was to write down what we would not do.",
  "In {month} we had an outage, and that taught us more than any workshop.",
  "I would say that {thing} is ninety percent patience.",
  "Our partners noticed the difference within a week.",
  "That depends on who you ask, but {person} would tell you the same.",
  "We ran both systems side by side for {number} days.",
  "In the end the decision took five minutes.",
];

const THINGS = [
  "the search index",
  "the support inbox",
  "the knowledge base",
  "the reporting pipeline",
  "onboarding",
  "the weekly review",
  "the document import",
  "the archive",
  "translation",
  "the new assistant",
];
const MONTHS = ["January", "March", "April", "June", "August", "September", "November"];
const PEOPLE = [
  "Marta Lindqvist",
  "Samuel Okoro",
  "Yuki Tanaka",
  "Leila Haddad",
  "Tom Becker",
  "Ines Duarte",
];

interface SentenceOptions {
  random: Random;
  pii_redaction: readonly string[] | null;
}

/** The sentence at a position of an interview: after the opening, each fifth is a question, all others are answers. */
export function inventSentence(position: number, { random, pii_redaction }: SentenceOptions): string {
  const pattern = OPENING[position] ?? (position % 5 === 0 ? random.pick(QUESTIONS) : random.pick(ANSWERS));
  return pattern
    .replaceAll(/\{(\w+)\}/g, (_, placeholder: string) => {
      if (placeholder === "thing") return random.pick(THINGS);
      if (placeholder === "month") return random.pick(MONTHS);
      if (placeholder === "number") return String(random.int(3, 400));
      return fillPersonalData(placeholder as "person" | "email", { random, pii_redaction });
    })
    .replace(/^./, (first) => first.toUpperCase());
}

/** Text that a policy covers is replaced by the policy's name in brackets (G17). */
function fillPersonalData(
  placeholder: "person" | "email",
  { random, pii_redaction }: SentenceOptions,
): string {
  const policy = placeholder === "person" ? "person_name" : "email_address";
  if (pii_redaction?.includes(policy)) return `[${policy.toUpperCase()}]`;
  const person = random.pick(PEOPLE);
  return placeholder === "person"
    ? person.split(" ")[0]!
    : `${person.toLowerCase().replace(" ", ".")}@example.test`;
}

/** Draws the duration of a sentence in seconds, to the millisecond. */
export function drawSpeechSeconds(text: string, random: Random): number {
  const words = text.split(" ").length;
  return Math.round(words * random.int(340, 440)) / 1000;
}
