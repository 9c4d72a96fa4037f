import type { Held, Live } from "../../../types/control-api.ts";
import { ControlError, fetchControl, readEvents } from "../api/fetch-control.ts";
import { createStore, tokenRequest } from "../api/store.ts";
import { appendBatch, EMPTY_TIMELINE, type TimelineData } from "./timeline-data.ts";

/**
 * `joining`: connecting. `away`: the server is unreachable. `gone`: it has no such sandbox. `locked`: it requires the
 * token. `hidden`: the tab is hidden, so the stream is closed.
 */
type Connection = "joining" | "live" | "away" | "gone" | "locked" | "hidden";

export interface LiveState {
  connection: Connection;
  /** Time of the last change of `connection`, in milliseconds since 1970. */
  since: number;
  timeline: TimelineData;
  /** Requests and deliveries that wait to be released. */
  held: readonly Held[];
}

/** Minimum time between two batches; a single message is shown at once. */
const BATCH_MS = 150;
const RETRY_MS = [250, 500, 1000, 2000, 3000];

/**
 * Follows one sandbox over one connection. If the connection is lost, a new one resumes after the last event. A hidden
 * tab closes its connection, since browsers allow six per server for all tabs.
 */
export class LiveStream {
  readonly state = createStore<LiveState>({
    connection: "joining",
    since: Date.now(),
    timeline: EMPTY_TIMELINE,
    held: [],
  });
  private readonly path: string;
  private readonly onUpdate: (news: "entries" | "rejoined") => void;
  /** Last event id; an unknown one makes the server send everything. */
  private position = "none";
  private pendingMessages: Live[] = [];
  private flushTimer: ReturnType<typeof setTimeout> | undefined;
  private flushedAt = 0;
  private followAbort: AbortController | undefined;
  private hasFailed = false;
  private readonly closeAbort = new AbortController();

  /** Calls `onUpdate` once for each batch, and with `rejoined` after a reconnect that an error made necessary. */
  constructor(path: string, onUpdate: (news: "entries" | "rejoined") => void) {
    this.path = path;
    this.onUpdate = onUpdate;
    const { signal } = this.closeAbort;
    const openOrClose = () => {
      if (!document.hidden) return this.open();
      this.stop();
      this.setConnection("hidden");
    };
    document.addEventListener("visibilitychange", openOrClose, { signal });
    // Connect as soon as the user has entered another token.
    const unsubscribe = tokenRequest.subscribe(
      () => this.state.get().connection === "locked" && this.retry(),
    );
    signal.addEventListener("abort", unsubscribe);
    openOrClose();
  }

  /** Reconnects without waiting. */
  retry(): void {
    this.stop();
    this.open();
  }

  close(): void {
    this.stop();
    clearTimeout(this.flushTimer);
    this.closeAbort.abort();
  }

  private open(): void {
    if (this.followAbort !== undefined) return;
    this.followAbort = new AbortController();
    void this.follow(this.followAbort.signal);
  }

  private stop(): void {
    this.followAbort?.abort();
    this.followAbort = undefined;
  }

  private async follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const headers = { "last-event-id": this.position };
        const response = await fetchControl(this.path, { headers, signal });
        attempt = 0;
        this.setConnection("live");
        if (this.hasFailed) this.onUpdate("rejoined");
        this.hasFailed = false;
        for await (const { id, data } of readEvents(response.body!)) this.receive(id, JSON.parse(data));
      } catch (error) {
        if (signal.aborted) return;
        this.hasFailed = true;
        this.setConnection(toConnection(error));
      }
      await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!, signal);
    }
  }

  private receive(id: string, message: Live): void {
    this.position = id;
    this.pendingMessages.push(message);
    const wait = Math.max(0, this.flushedAt + BATCH_MS - Date.now());
    this.flushTimer ??= setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    this.flushTimer = undefined;
    this.flushedAt = Date.now();
    const batch = this.pendingMessages;
    this.pendingMessages = [];
    const state = this.state.get();
    // Only the first message of a stream (`begins`), and those that change the held requests, say what is held.
    const heldMessage = batch.findLast(({ held, begins }) => held !== undefined || begins);
    this.state.set({
      ...state,
      timeline: appendBatch(state.timeline, batch, this.position.split("-", 1)[0]!),
      held: heldMessage === undefined ? state.held : (heldMessage.held ?? []),
    });
    this.onUpdate("entries");
  }

  private setConnection(connection: Connection): void {
    const state = this.state.get();
    if (state.connection !== connection) this.state.set({ ...state, connection, since: Date.now() });
  }
}

function toConnection(error: unknown): Connection {
  // The stream broke off; an unreachable server is a ControlError of status 0.
  if (!(error instanceof ControlError)) return "joining";
  if (error.status === 401) return "locked";
  return error.kind === "unknown-sandbox" ? "gone" : "away";
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
