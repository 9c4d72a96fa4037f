import { StreamBody } from "../../engine/contract/reply.ts";
import { type ControlOperation, operation } from "../operation.ts";
import { LiveBody, streamLive } from "../stream-live.ts";

export const LIVE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    // The id says `journal` since it is published; the stream has the history too.
    id: "journal.live",
    section: "interfaces 11",
    route: "GET S/live",
    summary: "Follow journal and history, for a page: entries so far, then new ones",
    headers: {
      "last-event-id": "The id of the last event received; an unknown id starts from the beginning",
    },
    success: { status: 200, content_types: ["text/event-stream"], events: LiveBody },
    handle({ headers, sandbox }) {
      const after = headers["last-event-id"];
      return new StreamBody("text/event-stream", (signal) => streamLive(sandbox, after, signal));
    },
  }),
];
