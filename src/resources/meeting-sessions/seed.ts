import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId, Words } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { entriesOf, firstOrganization, generatedId, ownerOf } from "../organizations/of-fixture.ts";
import { arrival, finished } from "./rules.ts";
import {
  type MeetingLog,
  type MeetingRecording,
  type MeetingSession,
  meetingArrivals,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
  SESSION_STATUSES,
  type TranscriptEntry,
} from "./schema.ts";
import { meetingLines, SPEAKERS, speakingSeconds, THEMES, type Theme } from "./words.ts";

const HOUR = 3_600_000;

const SpokenEntry = Type.Object(
  {
    transcript_id: Type.Optional(Id("mbtrans_")),
    text: Type.Optional(Type.String()),
    speaker: Type.Optional(Type.String()),
    start_time: Type.Optional(Type.Number({ minimum: 0 })),
    end_time: Type.Optional(Type.Number({ minimum: 0 })),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    language_code: Type.Optional(Type.String({ minLength: 2, maxLength: 35 })),
  },
  { additionalProperties: false },
);
type Spoken = Static<typeof SpokenEntry>;

const SessionEntry = Type.Object(
  {
    id: Id("mbsess_"),
    organization_id: Type.Optional(Id("org_")),
    owner: Type.Optional(UserId()),
    title: Type.Optional(Type.String()),
    status: Type.Optional(Words(SESSION_STATUSES)),
    language_code: Type.Optional(Type.String({ minLength: 2, maxLength: 35 })),
    started_at: Type.Optional(Timestamp()),
    ended_at: Type.Optional(Timestamp()),
    has_recording: Type.Optional(Type.Boolean()),
    speakers: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    transcript_entries: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(SpokenEntry)], {
        description: "How many entries to make up, or the entries themselves",
      }),
    ),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof SessionEntry>;

export const meetingSessionsFixture: FixtureReader = {
  keys: { meeting_sessions: Type.Array(SessionEntry) },
  check(fixture, report) {
    for (const [position, { started_at, ended_at, status = "completed" }] of sessionsOf(fixture).entries()) {
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
      made ??= sessionsOf(fixture).map((entry) => story(entry, fixture, base));
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

function sessionsOf(fixture: FixtureData): readonly Entry[] {
  return entriesOf<Entry>(fixture, "meeting_sessions", (n) => ({ id: generatedId("mbsess_", n) }));
}

function story(entry: Entry, fixture: FixtureData, base: BaseBuilder): Story {
  const random = base.random("meeting_sessions", entry.id);
  const theme = random.pick(THEMES);
  const transcripts = spokenIn(entry, theme, random);
  const spokenFor = Math.ceil((transcripts.at(-1)?.end_time ?? 0) + random.int(3, 30)) * 1000;
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  const session: MeetingSession = {
    session_id: entry.id,
    title: entry.title ?? random.pick(theme.titles),
    status: entry.status ?? "completed",
    language_code: entry.language_code ?? "en",
    owner_id: entry.owner ?? ownerOf(fixture, organization_id),
    organization_id,
    ...times(entry, spokenFor, { base, random }),
    has_recording: entry.has_recording ?? false,
  };
  const logs = logsOf(session, transcripts.length, random);
  return {
    session,
    transcripts,
    logs,
    recordings: session.has_recording ? [recordingOf(session, random)] : [],
  };
}

/** A running session began so long ago that what was said fits in; one that ended lies some days back. */
function times(
  { status, started_at, ended_at }: Entry,
  length: number,
  { base, random }: { base: BaseBuilder; random: Random },
) {
  const ended = ended_at === undefined ? undefined : base.instant(ended_at);
  // Within the working hours around a fixture's noon.
  const daysBack = (random.int(-3, 4) - 24 * random.int(1, 20)) * HOUR - length;
  const began = status === "running" ? -length : ended === undefined ? daysBack : ended - length;
  const start = started_at === undefined ? began : base.instant(started_at);
  return { started_at: start, ended_at: status === "running" ? null : (ended ?? start + length) };
}

function spokenIn(entry: Entry, theme: Theme, random: Random): TranscriptEntry[] {
  const wanted = entry.transcript_entries ?? 8;
  const given: readonly Spoken[] = typeof wanted === "number" ? [] : wanted;
  const count = typeof wanted === "number" ? wanted : wanted.length;
  const speakers = entry.speakers ?? random.sample(SPEAKERS, 3);
  const lines = meetingLines(theme, count, { random, ended: entry.status !== "running" });
  let clock = 0;
  return lines.map((line, position) => {
    const spoken = given[position] ?? {};
    const text = spoken.text ?? line;
    const start_time = spoken.start_time ?? rounded(clock + random.int(400, 9000) / 1000);
    const end_time = Math.max(
      start_time,
      spoken.end_time ?? rounded(start_time + speakingSeconds(text, random)),
    );
    clock = end_time;
    return {
      transcript_id: spoken.transcript_id ?? `mbtrans_${random.letters(20)}`,
      session_id: entry.id,
      text,
      confidence: spoken.confidence ?? random.int(86, 99) / 100,
      start_time,
      end_time,
      speaker: spoken.speaker ?? speakers[position % speakers.length]!,
      language_code: spoken.language_code ?? entry.language_code ?? "en",
    };
  });
}

function logsOf(session: MeetingSession, entries: number, random: Random): MeetingLog[] {
  const { session_id, started_at, ended_at, has_recording } = session;
  const lines: [number, string][] = [
    [started_at, "Session started."],
    [started_at + random.int(400, 2500), "Assistant joined the meeting."],
  ];
  if (has_recording) lines.push([started_at + 2600, "Recording started."]);
  if (entries > 0) lines.push([started_at + 3000, `Speech recognized (${session.language_code}).`]);
  if (ended_at !== null) lines.push([ended_at, `Session ended with ${entries} transcript entries.`]);
  return lines.map(([at, message]) => ({
    id: `mblog_${random.letters(20)}`,
    session_id,
    at,
    level: "info",
    message,
  }));
}

function recordingOf({ session_id, started_at, ended_at }: MeetingSession, random: Random): MeetingRecording {
  const recording = {
    recording_id: `mbrec_${random.letters(20)}`,
    session_id,
    mime_type: "audio/mp4",
    started_at,
    duration_seconds: null,
    size_bytes: null,
  };
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

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
