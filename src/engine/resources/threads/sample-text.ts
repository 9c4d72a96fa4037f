export const THREAD_TITLES = [
  "Travel policy questions",
  "Quarterly planning notes",
  "Rollout of the new handbook",
  "Customer escalation summary",
  "Interview preparation",
  "Budget clarifications",
];

/** Questions and their answers, in turn. */
export const EXCHANGES: readonly (readonly [question: string, answer: string])[] = [
  [
    "Can you summarise the travel policy for me?",
    "Trips under four hours go by train; everything above needs the approval of your lead.",
  ],
  ["Who approves hotel costs?", "Your lead approves hotels up to 180 CHF a night, Finance anything beyond."],
  [
    "Draft a short note to the team about it.",
    "Here is a draft: from next Monday, please book trains first and attach your lead's approval.",
  ],
  ["Make it friendlier.", "Done: I opened with a thank-you and moved the deadline to the last line."],
  ["What changed since last year?", "Two things: the night limit rose by 20 CHF, and trains come first."],
  ["Where do I find the form?", "Under People, Travel; it asks for the trip's purpose and your cost centre."],
  [
    "How long does a refund take?",
    "Ten working days after the receipts are in, five for amounts under 100 CHF.",
  ],
];
