import { hash32, type Random } from "../../state/random.ts";

/** A kind of meeting. */
interface Theme {
  /** Possible first lines; a session has one of them. */
  openings: readonly string[];
  body: readonly string[];
  /** Possible last lines; a session has one of them. */
  closings: readonly string[];
}

const THEMES: readonly Theme[] = [
  {
    openings: [
      "Good morning, let's get started; I have us down for fifteen minutes.",
      "Morning everyone, I'll go first and then pass it round.",
    ],
    body: [
      "Yesterday I finished the import job, and the numbers match the old report now.",
      "Today I'm pairing on the search filters, they should be in review by lunch.",
      "I'm blocked on the staging credentials, could someone with access take a look?",
      "The flaky upload test turned out to be a time zone problem, the fix is up.",
      "I'd like a second pair of eyes on the migration before we run it on Thursday.",
      "Support forwarded two tickets about the export, both are reproducible.",
      "I'll write up what we learned from the outage and send it round this afternoon.",
      "The design for the settings page is final, so I can start building it.",
    ],
    closings: ["Great, nothing else from me. Same time tomorrow.", "Thanks all, let's get back to it."],
  },
  {
    openings: [
      "Thanks for joining. The goal today is to agree on what we take into the next two weeks.",
      "Let's begin with what we carried over, then look at the new requests.",
    ],
    body: [
      "We carried over three items, and two of them are waiting for a decision on pricing.",
      "If we take the reporting work, I'd rather leave the mobile changes for later.",
      "My estimate for the connector is five days, most of that is error handling.",
      "Customers keep asking for bulk edits, it came up in four of six interviews.",
      "Can we agree that performance work is not optional this time?",
      "I can own that, but I'll need help with the data model in the first week.",
      "Let's write down the assumption that the vendor delivers before the end of the month.",
      "Then we're at eighty percent of capacity, which leaves some room for surprises.",
    ],
    closings: [
      "Good, I'll update the board and share the summary within the hour.",
      "That's a plan. Thank you, everyone.",
    ],
  },
  {
    openings: [
      "This is a blameless review, so let's look at what happened and what we change.",
      "I'll walk through the timeline first, please stop me where it's wrong.",
    ],
    body: [
      "The first alert came in at seven minutes past nine, and we acknowledged it at once.",
      "We lost about twenty minutes because the runbook pointed to the old dashboard.",
      "The rollback itself was quick, the hard part was being sure that it had worked.",
      "What went well is that support had a message ready for customers within ten minutes.",
      "I'd like to add an alarm on the queue length, it would have told us much earlier.",
      "We should rehearse the failover again, the last time was in the spring.",
      "The root cause was a retry without a limit, so one slow call became thousands.",
      "Let's make sure that every action has a name and a date next to it.",
    ],
    closings: [
      "I'll publish the notes today, and we check the actions in two weeks.",
      "Thanks for the honest conversation, that was useful.",
    ],
  },
  {
    openings: [
      "Thanks for making the time, I'd love to hear how the first weeks went.",
      "Before we look at the open questions, is there anything urgent on your side?",
    ],
    body: [
      "The team likes the assistant, but they would prefer answers with a link to the source.",
      "We imported about four thousand documents, and only a handful failed.",
      "Is there a way to limit who can see the finance folder?",
      "Yes, you can do that per department, I'll send you the short guide.",
      "Our legal colleagues asked where the recordings are stored and for how long.",
      "They stay in the region you chose, and you can delete them for good at any time.",
      "We would like to roll it out to the second office in May.",
      "Then let's schedule a training session for the new group in April.",
    ],
    closings: [
      "Perfect, I'll send a summary with the next steps by the end of the day.",
      "Thank you, this was very helpful. Talk to you next month.",
    ],
  },
];

/** The theme of a session, which follows from its id: all its lines have the same theme. */
export function findTheme(session_id: string): Theme {
  return THEMES[hash32(session_id) % THEMES.length]!;
}

/** Draws `count` lines of a session. With `hasEnded`, the last of several lines is a closing line. */
export function drawMeetingLines(
  session_id: string,
  count: number,
  { random, hasEnded }: { random: Random; hasEnded: boolean },
) {
  const theme = findTheme(session_id);
  const offset = random.int(0, theme.body.length - 1);
  return Array.from({ length: count }, (_, position) => {
    if (position === 0) return random.pick(theme.openings);
    if (hasEnded && position === count - 1) return random.pick(theme.closings);
    return theme.body[(offset + position) % theme.body.length]!;
  });
}

/** Draws the duration of a line in seconds: 150 words a minute, and up to 10 percent more or less. */
export function drawSpeechSeconds(text: string, random: Random): number {
  const words = text.split(/\s+/).length;
  return Math.round((words / 2.5) * (900 + random.int(0, 200))) / 1000;
}
