import { Type } from "typebox";
import type { Factory, FactoryContext, RecordLookup } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readEntries,
  toEntriesAndCount,
} from "../../contract/fixture-entry.ts";
import { inventTitle } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { computeOnce } from "../../maps.ts";
import { HOUR_MS } from "../../state/clock.ts";
import type { Random } from "../../state/random.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { roundToMilliseconds } from "../transcriptions/rules.ts";
import { createRecording, findLastEnd, listAttendees, listSpeakers, toStreamEntry } from "./rules.ts";
import { drawMeetingLines, drawSpeechSeconds } from "./sample-text.ts";
import {
  type MeetingLog,
  type MeetingRecording,
  MeetingSession,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingStreamEntries,
  meetingTranscripts,
  TranscriptEntry,
} from "./schema.ts";

const HALF_AN_HOUR_MS = 1_800_000;

/** Makes a session, which runs unless its fields have the status `completed` or an end. */
export const makeSession: Factory<MeetingSession> = (fields, context) => {
  const { world, now } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  const hasEnded = fields.status === "completed" || (fields.ended_at ?? null) !== null;
  const started_at = fields.started_at ?? (hasEnded ? (fields.ended_at ?? now) - HALF_AN_HOUR_MS : now);
  const { ended_at = hasEnded ? Math.max(now, started_at) : null } = fields;
  return {
    session_id: fields.session_id ?? context.createId("mbsess_"),
    title: fields.title ?? inventTitle(context),
    status: fields.status ?? (hasEnded ? "completed" : "running"),
    language_code: fields.language_code ?? "en",
    owner_id: fields.owner_id ?? context.actor_id ?? findAuthor(world, organization_id),
    organization_id,
    started_at,
    ended_at,
    has_recording: fields.has_recording ?? false,
  };
};

/** Makes an entry that follows the last one of its session, unless its times are given. */
export const makeTranscript: Factory<TranscriptEntry> = (fields, context) => {
  const { random, world } = context;
  const session_id =
    fields.session_id ?? requireFirstRecord(context, meetingSessions, "session_id").session_id;
  const text = fields.text ?? pickNextLine(world, session_id, random);
  const start_time = fields.start_time ?? findNextStart({ ...fields, text, session_id }, world, random);
  const end_time =
    fields.end_time ??
    Math.max(start_time, roundToMilliseconds(start_time + drawSpeechSeconds(text, random)));
  return {
    transcript_id: fields.transcript_id ?? context.createId("mbtrans_"),
    session_id,
    text,
    confidence: fields.confidence ?? random.int(86, 99) / 100,
    start_time,
    end_time,
    speaker: fields.speaker ?? random.pick(listSpeakers(world, session_id)),
    language_code: fields.language_code ?? world.get(meetingSessions, session_id)?.language_code ?? "en",
  };
};

function pickNextLine(world: RecordLookup, session_id: string, random: Random): string {
  // The lines before it are drawn too, since only the first line of a session is an opening.
  const position = world.index(meetingTranscripts, "by_session", session_id).size;
  return drawMeetingLines(session_id, position + 1, { random, hasEnded: false })[position]!;
}

/** A start after the last entry, or before the end if only the end is given. */
function findNextStart(
  { session_id, text, end_time }: Pick<TranscriptEntry, "session_id" | "text"> & { end_time?: number },
  world: RecordLookup,
  random: Random,
): number {
  if (end_time !== undefined)
    return roundToMilliseconds(Math.max(0, end_time - drawSpeechSeconds(text, random)));
  return roundToMilliseconds(findLastEnd(world, session_id) + random.int(300, 1800) / 1000);
}

export const makeLog: Factory<MeetingLog> = (fields, context) => ({
  id: fields.id ?? context.createId("mblog_"),
  session_id: fields.session_id ?? requireFirstRecord(context, meetingSessions, "session_id").session_id,
  at: fields.at ?? context.now,
  level: fields.level ?? "info",
  message: fields.message ?? "The assistant is listening.",
});

/** Makes a recording, which begins with its session unless it has a start. */
export const makeRecording: Factory<MeetingRecording> = (fields, context) => {
  const { world, now } = context;
  const session_id =
    fields.session_id ?? requireFirstRecord(context, meetingSessions, "session_id").session_id;
  const { started_at: sessionStart = now, ended_at = null } = world.get(meetingSessions, session_id) ?? {};
  const started_at = fields.started_at ?? sessionStart;
  const recording_id = fields.recording_id ?? context.createId("mbrec_");
  const recording = createRecording(recording_id, { session_id, started_at, ended_at });
  return {
    ...recording,
    mime_type: fields.mime_type ?? recording.mime_type,
    duration_seconds: fields.duration_seconds ?? recording.duration_seconds,
    size_bytes: fields.size_bytes ?? recording.size_bytes,
  };
};

const DEFAULT_ENTRIES = 8;

const transcriptFormat = createEntryFormat(TranscriptEntry, { omit: ["session_id"] });
const entryFormat = createEntryFormat(MeetingSession, {
  required: ["session_id"],
  notNull: ["ended_at"],
  names: { session_id: "id", owner_id: "owner" },
  more: {
    speakers: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    transcript_entries: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(transcriptFormat.schema)], {
        description: "The number of entries to generate, or the entries",
      }),
    ),
  },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const meetingSessionsFixture: FixtureReader = {
  dependsOnSettings: ["locale"],
  keys: { meeting_sessions: Type.Array(entryFormat.schema) },
  check(fixture, report) {
    for (const [position, entry] of readEntries(fixture, "meeting_sessions", entryFormat).entries()) {
      const { started_at, ended_at, status = "completed" } = entry;
      const lines = toEntriesAndCount(entry.transcript_entries ?? []).entries;
      for (const [index, { start_time, end_time }] of lines.entries()) {
        if (start_time !== undefined && end_time !== undefined && end_time < start_time)
          report(
            ["meeting_sessions", position, "transcript_entries", index, "end_time"],
            "end_time lies before start_time",
          );
      }
      const path = ["meeting_sessions", position, "ended_at"];
      if (ended_at === undefined) continue;
      if (status === "running") report(path, "a running session has not ended");
      else if (started_at !== undefined && Date.parse(ended_at) < Date.parse(started_at))
        report(path, "the session would end before it starts");
    }
  },
  addRecords(fixture, base) {
    const getSessions = computeOnce(() =>
      readEntries(fixture, "meeting_sessions", entryFormat).map((entry) => generateSession(entry, base)),
    );
    base.fill(meetingSessions, () => getSessions().map(({ session }) => session));
    base.fill(meetingTranscripts, () => getSessions().flatMap(({ transcripts }) => transcripts));
    base.fill(meetingLogs, () => getSessions().flatMap(({ logs }) => logs));
    base.fill(meetingRecordings, () => getSessions().flatMap(({ recordings }) => recordings));
    base.fill(meetingStreamEntries, () => getSessions().flatMap(listStreamEntries));
  },
};

interface GeneratedSession {
  session: MeetingSession;
  transcripts: TranscriptEntry[];
  logs: MeetingLog[];
  recordings: MeetingRecording[];
}

function generateSession(entry: Entry, base: BaseBuilder): GeneratedSession {
  const context = base.createContext("meeting_sessions", entry.id);
  const { random } = context;
  const fields = entryFormat.toFields(entry, base);
  const transcripts = fitIntoSession(generateTranscripts(entry, { base, context }), entry, fields);
  const length_ms = Math.ceil((transcripts.at(-1)?.end_time ?? 0) + random.int(3, 30)) * 1000;
  const status = fields.status ?? "completed";
  const session = makeSession({ ...fields, status, ...drawTimes(fields, length_ms, random) }, context);
  const logs = generateLogs(session, transcripts.length, context);
  const recordings = session.has_recording ? [createRecording(context.createId("mbrec_"), session)] : [];
  return { session, transcripts, logs, recordings };
}

/** A running session began `length_ms` ago, so that its entries fit; one that has ended was some days ago. */
function drawTimes(
  { status, started_at, ended_at }: Partial<MeetingSession>,
  length_ms: number,
  random: Random,
) {
  // One to twenty days before the origin, which is at noon by default, and so within working hours.
  const drawnEnd = (random.int(-3, 4) - 24 * random.int(1, 20)) * HOUR_MS;
  const end = status === "running" ? 0 : (ended_at ?? drawnEnd);
  const start = started_at ?? end - length_ms;
  // A session that began before the sandbox has ended before it too.
  const latestEnd = start > 0 ? Number.POSITIVE_INFINITY : 0;
  const drawnOrLatestEnd = Math.min(start + length_ms, latestEnd);
  return { started_at: start, ended_at: status === "running" ? null : (ended_at ?? drawnOrLatestEnd) };
}

/**
 * Scales the times that a fixture leaves out, so that all entries lie within their session, or before the sandbox's origin
 * if the session has no end.
 */
function fitIntoSession(
  transcripts: TranscriptEntry[],
  entry: Entry,
  { started_at, ended_at }: Partial<MeetingSession>,
): TranscriptEntry[] {
  const end = ended_at ?? 0;
  const length = started_at === undefined || started_at > end ? Number.POSITIVE_INFINITY : end - started_at;
  const speechLength = transcripts.reduce((longest, { end_time }) => Math.max(longest, end_time * 1000), 0);
  if (speechLength <= length) return transcripts;
  const { entries } = toEntriesAndCount(entry.transcript_entries ?? []);
  const shorten = (seconds: number) => Math.floor((seconds * 1000 * length) / speechLength) / 1000;
  return transcripts.map((transcript, position) => {
    const { start_time = shorten(transcript.start_time), end_time } = entries[position] ?? {};
    const shortened = Math.max(start_time, shorten(transcript.end_time));
    return { ...transcript, start_time, end_time: end_time ?? shortened };
  });
}

function generateTranscripts(
  entry: Entry,
  { base, context }: { base: BaseBuilder; context: FactoryContext },
): TranscriptEntry[] {
  const { random } = context;
  const { entries, count } = toEntriesAndCount(entry.transcript_entries ?? DEFAULT_ENTRIES);
  const speakers =
    entry.speakers ??
    random.sample(listAttendees(context.world, chooseOrganization(context, entry.organization_id)), 3);
  const lines = drawMeetingLines(entry.id, count, { random, hasEnded: entry.status !== "running" });
  let lastEnd = 0;
  return lines.map((text, position) => {
    const fields = transcriptFormat.toFields(entries[position] ?? {}, base);
    const { end_time } = fields;
    const drawStart = () => roundToMilliseconds(lastEnd + random.int(400, 9000) / 1000);
    const start_time = fields.start_time ?? Math.min(drawStart(), end_time ?? Number.POSITIVE_INFINITY);
    const speaker = speakers[position % speakers.length]!;
    const defaults = { text, speaker, language_code: entry.language_code ?? "en" };
    const times = { start_time, end_time };
    const transcript = makeTranscript({ ...defaults, ...fields, ...times, session_id: entry.id }, context);
    lastEnd = transcript.end_time;
    return transcript;
  });
}

function generateLogs(session: MeetingSession, entryCount: number, context: FactoryContext): MeetingLog[] {
  const { session_id, started_at, ended_at, has_recording } = session;
  const lines: [number, string][] = [
    [started_at, "Session started."],
    [started_at + context.random.int(400, 2500), "Assistant joined the meeting."],
  ];
  if (has_recording) lines.push([started_at + 2600, "Recording started."]);
  if (entryCount > 0) lines.push([started_at + 3000, `Speech recognized (${session.language_code}).`]);
  if (ended_at !== null) lines.push([ended_at, `Session ended with ${entryCount} transcript entries.`]);
  const latest = ended_at ?? Math.max(0, started_at);
  return lines.map(([at, message]) => makeLog({ session_id, at: Math.min(at, latest), message }, context));
}

function listStreamEntries({ session: { session_id }, transcripts, logs }: GeneratedSession) {
  const byStart = transcripts.toSorted((a, b) => a.start_time - b.start_time);
  return [
    ...byStart.map(({ transcript_id: record_id }, n) =>
      toStreamEntry({ session_id, kind: "transcript", record_id }, n + 1),
    ),
    ...logs.map(({ id: record_id }, n) => toStreamEntry({ session_id, kind: "log", record_id }, n + 1)),
  ];
}
