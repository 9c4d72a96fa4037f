import Type from "typebox";
import type { FactoryContext } from "../../contract/factory.ts";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import type { Random } from "../../state/random.ts";
import { makeLog, makeRecording, makeSession, makeTranscript } from "./make.ts";
import { arrival, finished, milliseconds } from "./rules.ts";
import { meetingLines, SPEAKERS, THEMES, type Theme } from "./sample-text.ts";
import {
  type MeetingLog,
  type MeetingRecording,
  MeetingSession,
  meetingArrivals,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
  TranscriptEntry,
} from "./schema.ts";

const HOUR_MS = 3_600_000;
const ENTRIES_WHERE_NOT_SAID = 8;

const spokenRecord = fixtureRecord(TranscriptEntry, { omit: ["session_id"] });
const record = fixtureRecord(MeetingSession, {
  needs: ["session_id"],
  notNull: ["ended_at"],
  names: { session_id: "id", owner_id: "owner" },
  more: {
    speakers: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    transcript_entries: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(spokenRecord.schema)], {
        description: "How many entries to make up, or the entries themselves",
      }),
    ),
  },
});
type Entry = EntryOf<typeof record>;

export const meetingSessionsFixture: FixtureReader = {
  keys: { meeting_sessions: Type.Array(record.schema) },
  check(fixture, report) {
    for (const [position, entry] of entriesOf(fixture, "meeting_sessions", record).entries()) {
      const { started_at, ended_at, status = "completed" } = entry;
      const path = ["meeting_sessions", position, "ended_at"];
      if (ended_at === undefined) continue;
      if (status === "running") report(path, "a running session has not ended");
      else if (started_at !== undefined && Date.parse(ended_at) < Date.parse(started_at))
        report(path, "the session would end before it starts");
    }
  },
  seed(fixture, base) {
    // The collections tell one story, so they are made together when any of them is first read.
    let made: Story[] | undefined;
    const stories = () => {
      made ??= entriesOf(fixture, "meeting_sessions", record).map((entry) => story(entry, base));
      return made;
    };
    base.fill(meetingSessions, () => stories().map(({ session }) => session));
    base.fill(meetingTranscripts, () => stories().flatMap(({ transcripts }) => transcripts));
    base.fill(meetingLogs, () => stories().flatMap(({ logs }) => logs));
    base.fill(meetingRecordings, () => stories().flatMap(({ recordings }) => recordings));
    base.fill(meetingArrivals, () => stories().flatMap(arrivalsOf));
  },
};

interface Story {
  session: MeetingSession;
  transcripts: TranscriptEntry[];
  logs: MeetingLog[];
  recordings: MeetingRecording[];
}

function story(entry: Entry, base: BaseBuilder): Story {
  const context = base.context("meeting_sessions", entry.id);
  const { random } = context;
  const theme = random.pick(THEMES);
  const given = record.given(entry, base);
  const transcripts = spokenIn(entry, theme, { base, context });
  const spokenFor = Math.ceil((transcripts.at(-1)?.end_time ?? 0) + random.int(3, 30)) * 1000;
  const title = given.title ?? random.pick(theme.titles);
  const status = given.status ?? "completed";
  const session = makeSession({ ...given, title, status, ...times(given, spokenFor, random) }, context);
  const logs = logsOf(session, transcripts.length, context);
  return {
    session,
    transcripts,
    logs,
    recordings: session.has_recording ? [recordingOf(session, context)] : [],
  };
}

/** A running session began so long ago that what was said fits in; one that ended lies some days back. */
function times({ status, started_at, ended_at }: Partial<MeetingSession>, length: number, random: Random) {
  // Within the working hours around a fixture's noon.
  const daysBack = (random.int(-3, 4) - 24 * random.int(1, 20)) * HOUR_MS - length;
  const began = status === "running" ? -length : ended_at == null ? daysBack : ended_at - length;
  const start = started_at ?? began;
  return { started_at: start, ended_at: status === "running" ? null : (ended_at ?? start + length) };
}

function spokenIn(
  entry: Entry,
  theme: Theme,
  { base, context }: { base: BaseBuilder; context: FactoryContext },
): TranscriptEntry[] {
  const { random } = context;
  const wanted = entry.transcript_entries ?? ENTRIES_WHERE_NOT_SAID;
  const listed = typeof wanted === "number" ? [] : wanted;
  const count = typeof wanted === "number" ? wanted : wanted.length;
  const speakers = entry.speakers ?? random.sample(SPEAKERS, 3);
  const lines = meetingLines(theme, count, { random, ended: entry.status !== "running" });
  let clock = 0;
  return lines.map((line, position) => {
    const given = spokenRecord.given(listed[position] ?? {}, base);
    const start_time = given.start_time ?? milliseconds(clock + random.int(400, 9000) / 1000);
    const end_time = given.end_time === undefined ? undefined : Math.max(start_time, given.end_time);
    const told = {
      text: line,
      speaker: speakers[position % speakers.length]!,
      language_code: entry.language_code ?? "en",
    };
    const spoken = makeTranscript({ ...told, ...given, start_time, end_time, session_id: entry.id }, context);
    clock = spoken.end_time;
    return spoken;
  });
}

function logsOf(session: MeetingSession, entries: number, context: FactoryContext): MeetingLog[] {
  const { session_id, started_at, ended_at, has_recording } = session;
  const lines: [number, string][] = [
    [started_at, "Session started."],
    [started_at + context.random.int(400, 2500), "Assistant joined the meeting."],
  ];
  if (has_recording) lines.push([started_at + 2600, "Recording started."]);
  if (entries > 0) lines.push([started_at + 3000, `Speech recognized (${session.language_code}).`]);
  if (ended_at !== null) lines.push([ended_at, `Session ended with ${entries} transcript entries.`]);
  return lines.map(([at, message]) => makeLog({ session_id, at, message }, context));
}

function recordingOf(
  { session_id, started_at, ended_at }: MeetingSession,
  context: FactoryContext,
): MeetingRecording {
  const recording = makeRecording({ session_id, started_at }, context);
  return ended_at === null ? recording : finished(recording, ended_at);
}

function arrivalsOf({ session: { session_id }, transcripts, logs }: Story) {
  const spoken = [...transcripts].sort((a, b) => a.start_time - b.start_time);
  return [
    ...spoken.map(({ transcript_id: record_id }, n) =>
      arrival({ session_id, kind: "transcript", record_id }, n + 1),
    ),
    ...logs.map(({ id: record_id }, n) => arrival({ session_id, kind: "log", record_id }, n + 1)),
  ];
}
