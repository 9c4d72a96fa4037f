import { StreamBody } from "../../contract/reply.ts";
import type { Services } from "../../contract/services.ts";
import type { WorldReader } from "../../state/transaction.ts";

export interface StreamedEvent {
  /** Grows along the stream; what `Last-Event-ID` brings back. */
  position: number;
  data: object;
}

export interface Progress {
  /** Everything after the position asked for, in order. */
  events: Iterable<StreamedEvent>;
  /** The latest position given so far. */
  latest: number;
  /** Nothing will come after these. */
  ended: boolean;
}

export interface EventSource {
  services: Services;
  /** The header of a client that comes back. */
  last_event_id: string | undefined;
  since: (world: WorldReader, position: number) => Progress;
  /** Whether what the stream is about is gone, for good: one made anew under its id is another (G37). */
  isGone: (world: WorldReader) => boolean;
}

/** G16: server-sent events, first what is there, then what comes, until the end of it or of the client. */
export function eventStream(source: EventSource): StreamBody {
  return new StreamBody("text/event-stream", (signal) => written(source, signal));
}

async function* written(source: EventSource, signal: AbortSignal) {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  void endWithSubject(source, either, () => over.abort());
  try {
    yield* following(source, either);
  } finally {
    over.abort();
  }
}

/** Also while a slow client takes what it was sent: afterwards the id may already be another's. */
async function endWithSubject({ services, isGone }: EventSource, signal: AbortSignal, end: () => void) {
  while (!services.isClosed && !signal.aborted) {
    await services.changed(signal);
    if (isGone(services.read())) end();
  }
}

async function* following({ services, last_event_id, since }: EventSource, signal: AbortSignal) {
  // A comment: headers reach the client at once, also where there is nothing to tell yet.
  yield ":\n\n";
  let position = resumeAt(last_event_id, since(services.read(), 0).latest);
  while (!services.isClosed && !signal.aborted) {
    // Asked for before reading: what is committed while a slow client takes these events is not missed.
    const change = services.changed(signal);
    const { events, latest, ended } = since(services.read(), position);
    // A snapshot was restored: what comes from here on takes the positions again.
    position = Math.min(position, latest);
    for (const event of events) {
      yield `id: ${event.position}\ndata: ${JSON.stringify(event.data)}\n\n`;
      position = event.position;
    }
    if (ended) return;
    await change;
  }
}

/** An id that this stream never gave (another session's, from before a reset) means the beginning. */
function resumeAt(header: string | undefined, latest: number): number {
  const position = /^\d{1,15}$/.test(header ?? "") ? Number(header) : 0;
  return position <= latest ? position : 0;
}
