import { type TSchema, Type } from "typebox";
import { operation } from "../../contract/operation.ts";
import { noContent, Reply, StreamBody } from "../../contract/reply.ts";
import { Id, StringEnum, Timestamp } from "../../contract/schema.ts";
import type { Services } from "../../contract/services.ts";
import type { Collection, StoredRecord } from "../../state/collection.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { requireSession, SESSION_ERRORS } from "./rules.ts";
import {
  MeetingLogBody,
  type MeetingSession,
  meetingLogs,
  meetingSessions,
  meetingStreamEntries,
  meetingTranscripts,
  renderLog,
  renderTranscript,
  SESSION_STATUSES,
  type StreamEntry,
  TranscriptEntryBody,
} from "./schema.ts";

interface StreamedEvent {
  /** Increases along the stream; the value of `Last-Event-ID`. */
  position: number;
  data: object;
}

/** Lists the events after a position, in order, with the latest position of the stream. */
type ListSince = (
  world: WorldReader,
  session: MeetingSession,
  position: number,
) => { events: Iterable<StreamedEvent>; latest: number };

export const streamTranscripts = declareStream({
  id: "meeting_sessions.stream_transcripts",
  name: "transcripts",
  summary: "Follow a meeting's transcript",
  eventDescription: "a transcript entry",
  events: TranscriptEntryBody,
  listSince: createListSince("transcript", meetingTranscripts, renderTranscript),
});

export const streamStatus = declareStream({
  id: "meeting_sessions.stream_status",
  name: "status",
  summary: "Follow a meeting's status",
  eventDescription: "`{status, at}`: `running`, later `completed`",
  events: Type.Object({ status: StringEnum(SESSION_STATUSES), at: Timestamp() }),
  listSince(world, { started_at, ended_at }, position) {
    const history = [{ position: 1, data: { status: "running", at: world.toIso(started_at) } }];
    if (ended_at !== null)
      history.push({ position: 2, data: { status: "completed", at: world.toIso(ended_at) } });
    return { events: history.slice(position), latest: history.length };
  },
});

export const streamLogs = declareStream({
  id: "meeting_sessions.stream_logs",
  name: "logs",
  summary: "Follow a meeting's log",
  eventDescription: "`{at, level, message}`",
  events: MeetingLogBody,
  listSince: createListSince("log", meetingLogs, renderLog),
});

interface StreamDeclaration {
  id: string;
  name: string;
  summary: string;
  eventDescription: string;
  events: TSchema;
  listSince: ListSince;
}

function declareStream({ id, name, summary, eventDescription, events, listSince }: StreamDeclaration) {
  return operation({
    id,
    section: "G16",
    assumptions: ["G16", "G42"],
    route: `GET /v1/meeting-buddy/sessions/{session_id}/${name}/stream`,
    summary,
    description: `Each event is ${eventDescription}.`,
    params: Type.Object({ session_id: Id("mbsess_") }),
    headers: { "last-event-id": "The id of the last event received, to go on after it" },
    errors: SESSION_ERRORS,
    success: [
      { status: 200, content_types: ["text/event-stream"], headers: ["Cache-Control"], events },
      { status: 204, description: "The client has all events" },
    ],
    access: requireSession,
    // Only 204 keeps an `EventSource` from connecting again (HTML Standard, 9.2.3).
    handle: ({ world, headers }, session) =>
      hasReceivedAll(world, session, { listSince, last_event_id: headers["last-event-id"] })
        ? noContent()
        : undefined,
    finish({ params: { session_id }, headers }, answer, services: Services) {
      if (answer !== undefined) return answer;
      const source = { services, session_id, listSince, last_event_id: headers["last-event-id"] };
      const body = new StreamBody("text/event-stream", (signal) => writeEvents(source, signal));
      return new Reply(200, body, { "Cache-Control": "no-cache" });
    },
  });
}

function createListSince<R extends StoredRecord & { session_id: string }>(
  kind: StreamEntry["kind"],
  collection: Collection<R>,
  render: (record: R, world: WorldReader) => object,
): ListSince {
  return (world, { session_id }, position) => {
    const entries = world.index(meetingStreamEntries, "by_stream", `${session_id}/${kind}`);
    function* readEvents(): Generator<StreamedEvent> {
      for (const entry of entries.between(position + 1, Number.POSITIVE_INFINITY)) {
        // The entry of a deleted record has no id: positions never change.
        const record = entry.record_id === null ? undefined : world.get(collection, entry.record_id);
        if (record !== undefined) yield { position: entry.position, data: render(record, world) };
      }
    }
    return { events: readEvents(), latest: entries.size };
  };
}

interface StreamSource {
  services: Services;
  session_id: string;
  listSince: ListSince;
  /** The header of a client that reconnects. */
  last_event_id: string | undefined;
}

function hasReceivedAll(
  world: WorldReader,
  session: MeetingSession,
  { listSince, last_event_id }: Pick<StreamSource, "listSince" | "last_event_id">,
): boolean {
  if (session.status !== "completed") return false;
  const position = findResumePosition(last_event_id, listSince(world, session, 0).latest);
  const [nextEvent] = listSince(world, session, position).events;
  return nextEvent === undefined;
}

/** Sends existing events, then new ones, until the session ends or the client leaves (G16). */
async function* writeEvents(source: StreamSource, signal: AbortSignal) {
  const ended = new AbortController();
  const streamSignal = AbortSignal.any([signal, ended.signal]);
  void endIfDeleted(source, streamSignal, () => ended.abort());
  try {
    yield* followEvents(source, streamSignal);
  } finally {
    ended.abort();
  }
}

/** Ends the stream of a deleted session even while a slow client is reading, since another session may get the id (G37). */
async function endIfDeleted({ services, session_id }: StreamSource, signal: AbortSignal, end: () => void) {
  while (!services.isClosed && !signal.aborted) {
    await services.waitForChange(signal);
    if (services.read().get(meetingSessions, session_id) === undefined) end();
  }
}

async function* followEvents(source: StreamSource, signal: AbortSignal) {
  const { services, session_id, listSince } = source;
  // A comment sends the headers at once, also if there is no event yet.
  yield ":\n\n";
  let position: number | undefined;
  while (!services.isClosed && !signal.aborted) {
    // Requested before reading, so that a commit while a slow client reads these events is not missed.
    const change = services.waitForChange(signal);
    const world = services.read();
    const session = world.get(meetingSessions, session_id);
    if (session === undefined) return;
    position ??= findResumePosition(source.last_event_id, listSince(world, session, 0).latest);
    const { events, latest } = listSince(world, session, position);
    // After a restored snapshot new events reuse the positions.
    position = Math.min(position, latest);
    for (const event of events) {
      yield `id: ${event.position}\ndata: ${JSON.stringify(event.data)}\n\n`;
      position = event.position;
    }
    if (session.status === "completed") return;
    await change;
  }
}

/** The position after which to continue; 0 for an id that this stream has not sent, such as one from before a reset. */
function findResumePosition(header: string | undefined, latest: number): number {
  const position = /^\d{1,15}$/.test(header ?? "") ? Number(header) : 0;
  return position <= latest ? position : 0;
}
