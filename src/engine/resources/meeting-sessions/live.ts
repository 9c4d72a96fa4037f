import type { Settings } from "../../contract/settings.ts";
import { timerId, timers } from "../../state/timers.ts";
import type { Transaction } from "../../state/transaction.ts";
import { listSpeakers } from "./fixtures.ts";
import { addTranscript, milliseconds } from "./rules.ts";
import { speakingSeconds, THEMES } from "./sample-text.ts";
import { type MeetingSession, meetingSessions, meetingTranscripts } from "./schema.ts";

/** The time between two lines; each line is spoken in less. */
const SHORTEST_MS = 9_000;
const LONGEST_MS = 16_000;
/** The pauses double after this number of lines, so that a meeting that is never stopped stays small. */
const LINES_PER_SLOWDOWN = 500;

/** With `live_meetings` on, every running meeting has new lines; with it off, none has (G34). */
export function followLiveMeetings(tx: Transaction, settings: Settings): void {
  if (settings.live_meetings === "off") {
    for (const { subject } of tx.index(timers, "by_kind", "meeting.line"))
      tx.unschedule("meeting.line", subject);
    return;
  }
  for (const session of tx.index(meetingSessions, "running", "")) scheduleNextLine(tx, session, settings);
}

/** Schedules the next line of a running session, unless it is scheduled. */
export function scheduleNextLine(
  tx: Transaction,
  { session_id, started_at }: MeetingSession,
  { live_meetings }: Pick<Settings, "live_meetings">,
): void {
  if (live_meetings === "off" || tx.get(timers, timerId("meeting.line", session_id)) !== undefined) return;
  const silentSince = Math.max(tx.now, started_at + Math.round(lastEnd(tx, session_id) * 1000));
  tx.schedule({ kind: "meeting.line", subject: session_id, due: silentSince + LONGEST_MS });
}

/** Handles `meeting.line` timers: adds a line to a running meeting. */
export function speakLine(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  const session = tx.get(meetingSessions, subject);
  if (session?.status !== "running") return;
  const spoken = tx.index(meetingTranscripts, "by_session", subject).size;
  const random = tx.random("meeting_line");
  const theme = THEMES.find(({ titles }) => titles.includes(session.title)) ?? THEMES[0]!;
  const text = spoken === 0 ? random.pick(theme.opening) : theme.body[spoken % theme.body.length]!;
  const end_time = milliseconds((due - session.started_at) / 1000);
  addTranscript(tx, {
    transcript_id: tx.newId("mbtrans_"),
    text,
    confidence: random.int(86, 99) / 100,
    start_time: milliseconds(Math.max(lastEnd(tx, subject), end_time - speakingSeconds(text, random))),
    end_time,
    speaker: random.pick(listSpeakers(tx, subject)),
    language_code: session.language_code,
    session_id: subject,
  });
  const wait = random.int(SHORTEST_MS, LONGEST_MS) * 2 ** Math.floor(spoken / LINES_PER_SLOWDOWN);
  tx.schedule({ kind: "meeting.line", subject, due: due + wait });
}

/** The end of the last line, in seconds since the session's start. */
function lastEnd(tx: Transaction, session_id: string): number {
  const all = tx.index(meetingTranscripts, "by_session", session_id);
  return all.size === 0 ? 0 : all.page(all.size - 1, 1)[0]!.end_time;
}
