import { ControlError, fetchControl } from "../api/fetch-control.ts";
import { readEvents } from "../api/read-events.ts";
import { onToken } from "../api/token.ts";
import type { Live } from "../api/types.ts";
import { continued, NOTHING_YET, type Story } from "./story.ts";

/**
 * `joining`: not connected yet. `live`: following. `away`: the server does not answer. `gone`: it has no such
 * sandbox. `locked`: it wants the token. `hidden`: nobody looks, so nothing is asked of the server.
 */
export type Connection = "joining" | "live" | "away" | "gone" | "locked" | "hidden";

export interface LiveState {
  connection: Connection;
  /** When the connection became what it is, in milliseconds since 1970. */
  since: number;
  story: Story;
}

/** Batches reach the page no more often than this, however many entries come; what comes alone, at once. */
const BATCH_MS = 150;
const AGAIN_MS = [250, 500, 1000, 2000, 3000];

/**
 * Follows one sandbox over one connection, which it resumes where it broke off. A page that nobody sees holds no
 * connection: a browser has six of them per server, for all its tabs.
 */
export class LiveStream {
  private state: LiveState = { connection: "joining", since: Date.now(), story: NOTHING_YET };
  private readonly listeners = new Set<() => void>();
  private readonly path: string;
  private readonly onNews: (news: "entries" | "rejoined") => void;
  /** Nothing that the server knows, so that it begins with all it has. */
  private position = "none";
  private waiting: Live[] = [];
  private flushing: ReturnType<typeof setTimeout> | undefined;
  private flushed = 0;
  private following: AbortController | undefined;
  private wasAway = false;
  private readonly stops: (() => void)[];

  /** `onNews` is called once per batch, and once when a lost connection is back. */
  constructor(path: string, onNews: (news: "entries" | "rejoined") => void) {
    this.path = path;
    this.onNews = onNews;
    const look = () => (document.hidden ? this.hide() : this.begin());
    document.addEventListener("visibilitychange", look);
    // A token that was just given is tried at once.
    this.stops = [onToken(() => this.state.connection === "locked" && this.again())];
    this.stops.push(() => document.removeEventListener("visibilitychange", look));
    look();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): LiveState => this.state;

  /** Does not wait for the next attempt. */
  again(): void {
    this.following?.abort();
    this.following = undefined;
    this.begin();
  }

  close(): void {
    this.following?.abort();
    clearTimeout(this.flushing);
    for (const stop of this.stops) stop();
  }

  private begin(): void {
    if (this.following !== undefined) return;
    this.following = new AbortController();
    void this.follow(this.following.signal);
  }

  private hide(): void {
    this.following?.abort();
    this.following = undefined;
    this.become("hidden");
  }

  private async follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const response = await fetchControl(this.path, {
          headers: { "last-event-id": this.position },
          signal,
        });
        attempt = 0;
        this.become("live");
        if (this.wasAway) this.onNews("rejoined");
        this.wasAway = false;
        for await (const { id, data } of readEvents(response.body!)) this.take(id, JSON.parse(data));
      } catch (error) {
        if (signal.aborted) return;
        this.wasAway = true;
        this.become(connectionAfter(error));
      }
      await pause(AGAIN_MS[Math.min(attempt, AGAIN_MS.length - 1)]!, signal);
    }
  }

  private take(id: string, message: Live): void {
    this.position = id;
    this.waiting.push(message);
    const wait = Math.max(0, this.flushed + BATCH_MS - Date.now());
    this.flushing ??= setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    this.flushing = undefined;
    this.flushed = Date.now();
    const batch = this.waiting;
    this.waiting = [];
    this.state = { ...this.state, story: continued(this.state.story, batch) };
    this.tell();
    this.onNews("entries");
  }

  private become(connection: Connection): void {
    if (this.state.connection === connection) return;
    this.state = { ...this.state, connection, since: Date.now() };
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function connectionAfter(error: unknown): Connection {
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
