import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { sandboxCalls } from "../api/calls.ts";
import { sandboxKey } from "../api/queries.ts";
import { type LiveState, LiveStream } from "./live-stream.ts";

const LiveContext = createContext<LiveStream | undefined>(undefined);
const RENEW_MS = 1000;

/** Follows the sandbox for everything below it, and keeps what queries have shown of it up to date. */
export function FollowSandbox({ name, children }: { name: string; children: ReactNode }) {
  const queries = useQueryClient();
  const [stream, setStream] = useState<LiveStream>();
  useEffect(() => {
    const renewal = new Renewal(queries, name);
    const opened = new LiveStream(`${sandboxCalls(name).path}/live`, (news) => renewal.note(news));
    setStream(opened);
    return () => {
      opened.close();
      renewal.close();
    };
  }, [queries, name]);
  if (stream === undefined) return null;
  return <LiveContext value={stream}>{children}</LiveContext>;
}

/** The stream of the sandbox in the address. */
export function useLiveStream(): LiveStream {
  const stream = useContext(LiveContext);
  if (stream === undefined) throw new Error("outside of FollowSandbox");
  return stream;
}

/** One part of what the stream tells; what uses it is drawn anew when that part changes. */
export function useLive<T>(part: (state: LiveState) => T): T {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.subscribe, () => part(stream.current()));
}

/** Has what is on the page asked anew: all of it after an absence, else the live part at most once a second. */
class Renewal {
  private readonly queries: QueryClient;
  private readonly name: string;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What is on the page at the beginning was asked just then. */
  private begun = Date.now();

  constructor(queries: QueryClient, name: string) {
    this.queries = queries;
    this.name = name;
  }

  note(news: "entries" | "rejoined"): void {
    if (news === "rejoined") return void this.queries.invalidateQueries();
    const wait = Math.max(0, this.begun + RENEW_MS - Date.now());
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.begun = Date.now();
      void this.queries.invalidateQueries({
        queryKey: sandboxKey(this.name),
        predicate: ({ meta }) => meta?.live !== false,
      });
    }, wait);
  }

  close(): void {
    clearTimeout(this.timer);
  }
}
