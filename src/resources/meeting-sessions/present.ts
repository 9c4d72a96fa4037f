import type { WorldReader } from "../../state/transaction.ts";
import type { MeetingLog, MeetingSession, TranscriptEntry, TranscriptEntryBody } from "./schema.ts";

export function presentSession(session: MeetingSession, world: WorldReader) {
  const { started_at, ended_at } = session;
  return {
    ...session,
    started_at: world.iso(started_at),
    ended_at: ended_at === null ? null : world.iso(ended_at),
  };
}

/** Section 2.4 in its order of fields; the session is named by the path. */
export function presentTranscript(entry: TranscriptEntry): TranscriptEntryBody {
  const { transcript_id, text, confidence, start_time, end_time, speaker, language_code } = entry;
  return { transcript_id, text, confidence, start_time, end_time, speaker, language_code };
}

export function presentLog({ at, level, message }: MeetingLog, world: WorldReader) {
  return { at: world.iso(at), level, message };
}
