import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { anyOf, personOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import {
  addLog,
  addTranscript,
  deleteSession,
  finished,
  finishRecordings,
  recordArrival,
  removeRecordings,
  startRecording,
  writeLog,
} from "./rules.ts";
import {
  type MeetingLog,
  type MeetingRecording,
  type MeetingSession,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
  type TranscriptEntry,
} from "./schema.ts";
import { meetingLines, SPEAKERS, speakingSeconds, THEMES } from "./words.ts";

const HALF_AN_HOUR = 1_800_000;

/** G16: sessions begin and grow through state calls, as the assistant in a meeting would make them grow. */
export const sessionRules: StateRules<MeetingSession> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    const ended = fields.status === "completed" || (fields.ended_at ?? null) !== null;
    const started_at = fields.started_at ?? (ended ? (fields.ended_at ?? tx.now) - HALF_AN_HOUR : tx.now);
    return {
      title: random.pick(random.pick(THEMES).titles),
      status: ended ? "completed" : "running",
      language_code: "en",
      owner_id: personOf(tx, organization_id),
      ended_at: ended ? Math.max(tx.now, started_at) : null,
      has_recording: false,
      ...fields,
      organization_id,
      started_at,
    };
  },
  insert(tx, record) {
    requireSound(tx, record);
    tx.insert(meetingSessions, record);
    writeLog(tx, record.session_id, { message: "Session started." });
    if (record.has_recording) startRecording(tx, record);
    if (record.ended_at !== null) writeLog(tx, record.session_id, { message: "Session ended." });
    return record;
  },
  update(tx, before, given) {
    const after = withEnd(before, given, tx.now);
    requireSound(tx, after);
    tx.put(meetingSessions, after);
    const { session_id } = after;
    if (after.has_recording && !before.has_recording) startRecording(tx, after);
    if (!after.has_recording && before.has_recording) removeRecordings(tx, session_id);
    if (before.status !== after.status) {
      if (after.status === "completed") finishRecordings(tx, after);
      writeLog(tx, session_id, {
        message: after.status === "completed" ? "Session ended." : "Session resumed.",
      });
    }
    return after;
  },
  remove(tx, record) {
    deleteSession(tx, record.session_id);
  },
};

/** The end follows from the status, unless the call gives it itself. */
function withEnd(before: MeetingSession, after: MeetingSession, now: number): MeetingSession {
  if (before.status === after.status || before.ended_at !== after.ended_at) return after;
  return { ...after, ended_at: after.status === "completed" ? Math.max(now, after.started_at) : null };
}

function requireSound(tx: Transaction, session: MeetingSession): void {
  const { organization_id, owner_id, status, started_at, ended_at } = session;
  referred(tx, organizations, { field: "organization_id", id: organization_id });
  referred(tx, users, { field: "owner_id", id: owner_id });
  const shown = ended_at === null ? null : tx.iso(ended_at);
  if (status === "running" && ended_at !== null)
    throw invalidInput("ended_at", shown, "a running session has not ended");
  if (status === "completed" && ended_at === null)
    throw invalidInput("ended_at", shown, "a completed session has an end");
  if (ended_at !== null && ended_at < started_at)
    throw invalidInput("ended_at", shown, "ended_at must not lie before started_at");
}

export const transcriptRules: StateRules<TranscriptEntry> = {
  complete(fields, tx, { random }) {
    const session =
      fields.session_id === undefined
        ? anyOf(tx, meetingSessions, "session_id")
        : tx.get(meetingSessions, fields.session_id);
    const said = session ? tx.index(meetingTranscripts, "by_session", session.session_id) : undefined;
    const [last] = said?.size ? said.page(said.size - 1, 1) : [];
    const heard = [...new Set(said?.page(0, 20).map(({ speaker }) => speaker))];
    const position = said?.size ?? 0;
    const theme = THEMES.find(({ titles }) => titles.includes(session?.title ?? "")) ?? random.pick(THEMES);
    const text = fields.text ?? meetingLines(theme, position + 2, { random, ended: true })[position]!;
    const spoken = speakingSeconds(text, random);
    const next = seconds((last?.end_time ?? 0) + random.int(300, 1800) / 1000);
    const start_time = fields.start_time ?? startBefore(fields.end_time, spoken) ?? next;
    return {
      ...(session ? { session_id: session.session_id } : {}),
      confidence: random.int(86, 99) / 100,
      end_time: seconds(start_time + spoken),
      speaker: random.pick(heard.length > 0 ? heard : SPEAKERS),
      language_code: session?.language_code ?? "en",
      ...fields,
      text,
      start_time,
    };
  },
  insert(tx, record) {
    requireEntry(tx, record);
    return addTranscript(tx, record);
  },
  update(tx, before, after) {
    requireEntry(tx, after);
    tx.put(meetingTranscripts, after);
    if (before.session_id !== after.session_id)
      recordArrival(tx, after.session_id, { kind: "transcript", record_id: after.transcript_id });
    return after;
  },
};

function requireEntry(tx: Transaction, { session_id, start_time, end_time }: TranscriptEntry): void {
  referred(tx, meetingSessions, { field: "session_id", id: session_id });
  if (end_time < start_time)
    throw invalidInput("end_time", end_time, "end_time must not lie before start_time");
}

export const logRules: StateRules<MeetingLog> = {
  complete: (fields, tx) => ({
    session_id: fields.session_id ?? anyOf(tx, meetingSessions, "session_id").session_id,
    at: tx.now,
    level: "info",
    message: "The assistant is listening.",
    ...fields,
  }),
  insert(tx, record) {
    referred(tx, meetingSessions, { field: "session_id", id: record.session_id });
    return addLog(tx, record);
  },
  update(tx, before, after) {
    referred(tx, meetingSessions, { field: "session_id", id: after.session_id });
    tx.put(meetingLogs, after);
    if (before.session_id !== after.session_id)
      recordArrival(tx, after.session_id, { kind: "log", record_id: after.id });
    return after;
  },
};

/** `has_recording` of a session says whether it has any of these. */
export const recordingRules: StateRules<MeetingRecording> = {
  complete(fields, tx) {
    const session =
      fields.session_id === undefined
        ? anyOf(tx, meetingSessions, "session_id")
        : tx.get(meetingSessions, fields.session_id);
    const whole = {
      recording_id: "",
      session_id: session?.session_id ?? "",
      mime_type: "audio/mp4",
      started_at: session?.started_at ?? tx.now,
      duration_seconds: null,
      size_bytes: null,
    };
    const ended_at = session?.ended_at ?? null;
    const { recording_id: _, ...made } = ended_at === null ? whole : finished(whole, ended_at);
    return { ...made, ...fields };
  },
  insert(tx, record) {
    const { session_id } = referred(tx, meetingSessions, { field: "session_id", id: record.session_id });
    tx.update(meetingSessions, session_id, { has_recording: true });
    return tx.insert(meetingRecordings, record);
  },
  update(tx, before, after) {
    referred(tx, meetingSessions, { field: "session_id", id: after.session_id });
    tx.put(meetingRecordings, after);
    for (const id of new Set([before.session_id, after.session_id])) markRecorded(tx, id);
    return after;
  },
  remove(tx, record) {
    tx.remove(meetingRecordings, record.recording_id);
    markRecorded(tx, record.session_id);
  },
};

function markRecorded(tx: Transaction, session_id: string): void {
  const { size } = tx.index(meetingRecordings, "by_session", session_id);
  if (tx.get(meetingSessions, session_id))
    tx.update(meetingSessions, session_id, { has_recording: size > 0 });
}

/** Where only the end is given, the words come before it. */
function startBefore(end: number | undefined, spoken: number): number | undefined {
  return end === undefined ? undefined : seconds(Math.max(0, end - spoken));
}

function seconds(value: number): number {
  return Math.round(value * 1000) / 1000;
}
