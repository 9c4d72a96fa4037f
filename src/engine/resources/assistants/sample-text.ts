import type { Random } from "../../state/random.ts";
import type { Assistant } from "./schema.ts";

export const ASSISTANT_NAMES = [
  "Onboarding Guide",
  "Release Notes",
  "Contract Reader",
  "Support Triage",
  "Travel Desk",
  "Data Steward",
  "Meeting Scribe",
];

/** What people tune in an assistant, with values between which it is tuned. */
export const TUNED = {
  description: [
    "Answers questions of new colleagues.",
    "Answers from the handbook and says where it read it.",
    "Helps with policies, travel and expenses.",
    "First stop for questions about how we work.",
  ],
  instructions: [
    "Be brief and cite the document you used.",
    "Answer in the language of the question. Cite your sources.",
    "Ask back when the question is unclear. Never guess figures.",
    "Answer in at most five sentences and link the policy.",
  ],
  model: ["atlas-large", "comet-mini", "breeze-chat"],
  temperature: [0, 0.2, 0.4, 0.7, 1],
} as const;

export function tuned(random: Random): Pick<Assistant, keyof typeof TUNED> {
  return {
    description: random.pick(TUNED.description),
    instructions: random.pick(TUNED.instructions),
    model: random.pick(TUNED.model),
    temperature: random.pick(TUNED.temperature),
  };
}
