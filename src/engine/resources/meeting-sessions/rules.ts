import { ApiError } from "../../contract/errors.ts";
import type { Transaction } from "../../state/transaction.ts";
import {
  ADMINISTRATOR_ROLE,
  type Caller,
  explainRefusal,
  isAdministrator,
  isMember,
} from "../organizations/access.ts";
import {
  type Arrival,
  type MeetingLog,
  type MeetingRecording,
  type MeetingSession,
  meetingArrivals,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
  type TranscriptEntry,
} from "./schema.ts";

type SessionCall = Caller & { params: { session_id: string } };

/** The errors of `requireSession`. */
export const SESSION_ERRORS = ["SESSION_NOT_FOUND", "SESSION_ACCESS_DENIED"] as const;
/** The errors of `requireManagedSession`. */
export const MANAGED_SESSION_ERRORS = [
  ...SESSION_ERRORS,
  { code: "INSUFFICIENT_PERMISSIONS", details: ["session_id"] },
] as const;

/**
 * Finds the session of the path for a member of its organization (4.1, G16).
 * @throws ApiError SESSION_NOT_FOUND, SESSION_ACCESS_DENIED
 */
export function requireSession(call: SessionCall): MeetingSession {
  const { session_id } = call.params;
  const session = call.world.get(meetingSessions, session_id);
  if (session === undefined) throw new ApiError("SESSION_NOT_FOUND", { details: { session_id } });
  if (!isMember(call, session.organization_id))
    throw new ApiError("SESSION_ACCESS_DENIED", {
      details: { session_id },
      reason: explainRefusal(call, session.organization_id),
    });
  return session;
}

/**
 * Finds the session for its owner and for owners and admins of its organization.
 * @throws ApiError also INSUFFICIENT_PERMISSIONS
 */
export function requireManagedSession(call: SessionCall): MeetingSession {
  const session = requireSession(call);
  if (session.owner_id !== call.principal.user_id && !isAdministrator(call, session.organization_id)) {
    throw new ApiError("INSUFFICIENT_PERMISSIONS", {
      details: { session_id: session.session_id },
      reason: explainRefusal(
        call,
        session.organization_id,
        `to own the session, which is ${session.owner_id}'s, or ${ADMINISTRATOR_ROLE}`,
      ),
      system_message:
        "Only the session's owner, or an owner or admin of its organization, may stop or delete it.",
    });
  }
  return session;
}

/** Bytes of a second of compressed speech, for the metadata of recordings. */
const RECORDED_BYTES = 16_000;

export function toArrival(
  { session_id, kind, record_id }: Omit<Arrival, "id" | "position">,
  position: number,
): Arrival {
  return { id: `${session_id}/${kind}/${position}`, session_id, kind, position, record_id };
}

/** Appends an entry to a stream of the session. */
export function recordArrival(
  tx: Transaction,
  session_id: string,
  { kind, record_id }: { kind: Arrival["kind"]; record_id: string },
): void {
  const { size } = tx.index(meetingArrivals, "by_stream", `${session_id}/${kind}`);
  tx.insert(meetingArrivals, toArrival({ session_id, kind, record_id }, size + 1));
}

/** Removes an entry from its stream. Its position stays in use, and a new entry with its id comes after it. */
export function clearArrival(
  tx: Transaction,
  session_id: string,
  { kind, record_id }: { kind: Arrival["kind"]; record_id: string },
): void {
  for (const entry of tx.index(meetingArrivals, "by_stream", `${session_id}/${kind}`))
    if (entry.record_id === record_id) tx.put(meetingArrivals, { ...entry, record_id: null });
}

export function addTranscript(tx: Transaction, entry: TranscriptEntry): TranscriptEntry {
  tx.insert(meetingTranscripts, entry);
  recordArrival(tx, entry.session_id, { kind: "transcript", record_id: entry.transcript_id });
  return entry;
}

export function addLog(tx: Transaction, entry: MeetingLog): MeetingLog {
  tx.insert(meetingLogs, entry);
  recordArrival(tx, entry.session_id, { kind: "log", record_id: entry.id });
  return entry;
}

export function writeLog(
  tx: Transaction,
  session_id: string,
  { level = "info", message }: Partial<Pick<MeetingLog, "level">> & Pick<MeetingLog, "message">,
): void {
  addLog(tx, { id: tx.newId("mblog_"), session_id, at: tx.now, level, message });
}

/** Ends a running session and keeps its data (3.7); a session that has ended stays as it is (G16). */
export function stopSession(tx: Transaction, session: MeetingSession, by: string): MeetingSession {
  if (session.status === "completed") return session;
  tx.unschedule("meeting.line", session.session_id);
  const stopped = tx.put(meetingSessions, { ...session, status: "completed" as const, ended_at: tx.now });
  finishRecordings(tx, stopped);
  writeLog(tx, session.session_id, { message: `Session stopped by ${by}.` });
  return stopped;
}

/** Ends the recordings of a session that has ended. */
export function finishRecordings(tx: Transaction, { session_id, ended_at }: MeetingSession): void {
  for (const recording of tx.index(meetingRecordings, "by_session", session_id)) {
    if (recording.duration_seconds === null) tx.put(meetingRecordings, finishRecording(recording, ended_at!));
  }
}

export function finishRecording(recording: MeetingRecording, ended_at: number): MeetingRecording {
  const duration_seconds = Math.max(0, ended_at - recording.started_at) / 1000;
  return { ...recording, duration_seconds, size_bytes: Math.round(duration_seconds * RECORDED_BYTES) };
}

/** Starts the recording of a session; one of a session that has ended covers all of it. */
export function startRecording(tx: Transaction, session: MeetingSession): void {
  const recording: MeetingRecording = {
    recording_id: tx.newId("mbrec_"),
    session_id: session.session_id,
    mime_type: "audio/mp4",
    started_at: session.started_at,
    duration_seconds: null,
    size_bytes: null,
  };
  tx.insert(
    meetingRecordings,
    session.ended_at === null ? recording : finishRecording(recording, session.ended_at),
  );
}

export function removeRecordings(tx: Transaction, session_id: string): void {
  for (const { recording_id } of tx.index(meetingRecordings, "by_session", session_id)) {
    tx.remove(meetingRecordings, recording_id);
  }
}

/** Rounds seconds to the millisecond. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
