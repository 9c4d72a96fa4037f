import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import type { Random } from "../../state/random.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { finished, milliseconds } from "./rules.ts";
import { meetingLines, SPEAKERS, speakingSeconds, THEMES } from "./sample-text.ts";
import {
  type MeetingLog,
  type MeetingRecording,
  type MeetingSession,
  meetingSessions,
  meetingTranscripts,
  type TranscriptEntry,
} from "./schema.ts";

const HALF_AN_HOUR_MS = 1_800_000;
const MAX_HEARD = 20;

/** A session runs unless something says that it has ended. */
export const makeSession: Factory<MeetingSession> = (given, context) => {
  const { random, world, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const ended = given.status === "completed" || (given.ended_at ?? null) !== null;
  const started_at = given.started_at ?? (ended ? (given.ended_at ?? now) - HALF_AN_HOUR_MS : now);
  return {
    session_id: given.session_id ?? context.newId("mbsess_"),
    title: given.title ?? random.pick(random.pick(THEMES).titles),
    status: given.status ?? (ended ? "completed" : "running"),
    language_code: given.language_code ?? "en",
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    organization_id,
    started_at,
    ended_at: given.ended_at === undefined ? (ended ? Math.max(now, started_at) : null) : given.ended_at,
    has_recording: given.has_recording ?? false,
  };
};

/** What is said next in a session, unless it says when and by whom. */
export const makeTranscript: Factory<TranscriptEntry> = (given, context) => {
  const { random, world } = context;
  const session_id = given.session_id ?? firstRecord(world, meetingSessions, "session_id").session_id;
  const text = given.text ?? nextLine(world, session_id, random);
  const start_time = given.start_time ?? nextStart({ ...given, text, session_id }, world, random);
  const end_time =
    given.end_time ?? Math.max(start_time, milliseconds(start_time + speakingSeconds(text, random)));
  return {
    transcript_id: given.transcript_id ?? context.newId("mbtrans_"),
    session_id,
    text,
    confidence: given.confidence ?? random.int(86, 99) / 100,
    start_time,
    end_time,
    speaker: given.speaker ?? random.pick(heardIn(world, session_id)),
    language_code: given.language_code ?? world.get(meetingSessions, session_id)?.language_code ?? "en",
  };
};

function nextLine(world: RecordLookup, session_id: string, random: Random): string {
  const title = world.get(meetingSessions, session_id)?.title ?? "";
  const theme = THEMES.find(({ titles }) => titles.includes(title)) ?? random.pick(THEMES);
  const position = world.index(meetingTranscripts, "by_session", session_id).size;
  return meetingLines(theme, position + 2, { random, ended: true })[position]!;
}

/** After what was said last; where only the end is given, the words come before it. */
function nextStart(
  { session_id, text, end_time }: Pick<TranscriptEntry, "session_id" | "text"> & { end_time?: number },
  world: RecordLookup,
  random: Random,
): number {
  if (end_time !== undefined) return milliseconds(Math.max(0, end_time - speakingSeconds(text, random)));
  const said = world.index(meetingTranscripts, "by_session", session_id);
  const [last] = said.size === 0 ? [] : said.page(said.size - 1, 1);
  return milliseconds((last?.end_time ?? 0) + random.int(300, 1800) / 1000);
}

export function heardIn(world: RecordLookup, session_id: string): readonly string[] {
  const said = world.index(meetingTranscripts, "by_session", session_id).page(0, MAX_HEARD);
  return said.length > 0 ? [...new Set(said.map(({ speaker }) => speaker))] : SPEAKERS;
}

export const makeLog: Factory<MeetingLog> = (given, context) => ({
  id: given.id ?? context.newId("mblog_"),
  session_id: given.session_id ?? firstRecord(context.world, meetingSessions, "session_id").session_id,
  at: given.at ?? context.now,
  level: given.level ?? "info",
  message: given.message ?? "The assistant is listening.",
});

/** The recording of a session that has ended covers all of it. */
export const makeRecording: Factory<MeetingRecording> = (given, context) => {
  const { world, now } = context;
  const session_id = given.session_id ?? firstRecord(world, meetingSessions, "session_id").session_id;
  const session = given.started_at === undefined ? world.get(meetingSessions, session_id) : undefined;
  const recording: MeetingRecording = {
    recording_id: given.recording_id ?? context.newId("mbrec_"),
    session_id,
    mime_type: given.mime_type ?? "audio/mp4",
    started_at: given.started_at ?? session?.started_at ?? now,
    duration_seconds: null,
    size_bytes: null,
  };
  const whole = session?.ended_at == null ? recording : finished(recording, session.ended_at);
  return {
    ...whole,
    duration_seconds: given.duration_seconds ?? whole.duration_seconds,
    size_bytes: given.size_bytes ?? whole.size_bytes,
  };
};
