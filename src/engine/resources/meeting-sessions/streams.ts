import Type from "typebox";
import { operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import { Id } from "../../contract/schema.ts";
import type { Services } from "../../contract/services.ts";
import type { Collection, StoredRecord } from "../../state/collection.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { requireSession, SESSION_ERRORS } from "./access.ts";
import { eventStream, type Progress, type StreamedEvent } from "./event-stream.ts";
import {
  type Arrival,
  type MeetingSession,
  meetingArrivals,
  meetingLogs,
  meetingSessions,
  meetingTranscripts,
  presentLog,
  presentTranscript,
} from "./schema.ts";

type Since = (world: WorldReader, session: MeetingSession, position: number) => Omit<Progress, "ended">;

export const streamTranscripts = stream({
  id: "meeting_sessions.stream_transcripts",
  name: "transcripts",
  summary: "Follow a meeting's transcript",
  each: "a transcript entry of section 2.4, in the order of arrival",
  since: arrivals("transcript", meetingTranscripts, presentTranscript),
});

export const streamStatus = stream({
  id: "meeting_sessions.stream_status",
  name: "status",
  summary: "Follow a meeting's status",
  each: "`{status, at}`: running, and completed once it is",
  since(world, { started_at, ended_at }, position) {
    const history = [{ position: 1, data: { status: "running", at: world.iso(started_at) } }];
    if (ended_at !== null)
      history.push({ position: 2, data: { status: "completed", at: world.iso(ended_at) } });
    return { events: history.slice(position), latest: history.length };
  },
});

export const streamLogs = stream({
  id: "meeting_sessions.stream_logs",
  name: "logs",
  summary: "Follow a meeting's log",
  each: "`{at, level, message}`",
  since: arrivals("log", meetingLogs, presentLog),
});

function stream({ id, name, summary, each, since }: Declared) {
  return operation({
    id,
    section: "G16",
    assumptions: ["G16"],
    method: "GET",
    path: `/v1/meeting-buddy/sessions/{session_id}/${name}/stream`,
    summary,
    description: `Server-sent events with ids; each is ${each}. What exists comes first, then what happens, until the session has ended.`,
    params: Type.Object({ session_id: Id("mbsess_") }),
    headers: { "last-event-id": "The id of the last event received, to go on after it" },
    errors: SESSION_ERRORS,
    success: { status: 200, content_types: ["text/event-stream"], headers: ["Cache-Control"] },
    access: requireSession,
    handle: () => undefined,
    finish({ params: { session_id }, headers }, _answer, services: Services) {
      const body = eventStream({
        services,
        last_event_id: headers["last-event-id"],
        since(world, position) {
          const session = world.get(meetingSessions, session_id);
          if (session === undefined) return { events: [], latest: 0, ended: true };
          return { ...since(world, session, position), ended: session.status === "completed" };
        },
        isGone: (world) => world.get(meetingSessions, session_id) === undefined,
      });
      return new Reply(200, body, { "Cache-Control": "no-cache" });
    },
  });
}

interface Declared {
  id: string;
  name: string;
  summary: string;
  each: string;
  since: Since;
}

function arrivals<R extends StoredRecord & { session_id: string }>(
  kind: Arrival["kind"],
  collection: Collection<R>,
  present: (record: R, world: WorldReader) => object,
): Since {
  return (world, { session_id }, position) => {
    const arrived = world.index(meetingArrivals, "by_stream", `${session_id}/${kind}`);
    function* events(): Generator<StreamedEvent> {
      for (const entry of arrived.between(position + 1, Number.POSITIVE_INFINITY)) {
        const record = entry.record_id === null ? undefined : world.get(collection, entry.record_id);
        if (record !== undefined) yield { position: entry.position, data: present(record, world) };
      }
    }
    return { events: events(), latest: arrived.size };
  };
}
