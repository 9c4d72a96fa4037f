import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { sandboxCalls } from "../api/calls.ts";
import { sandboxKey } from "../api/queries.ts";
import { type LiveState, LiveStream } from "./live-stream.ts";

const LiveContext = createContext<LiveStream | undefined>(undefined);
const REFETCH_MS = 1000;

/** Provides the live stream of a sandbox and refetches its queries when something happens. */
export function FollowSandbox({ name, children }: { name: string; children: ReactNode }) {
  const queries = useQueryClient();
  const [stream, setStream] = useState<LiveStream>();
  useEffect(() => {
    const refresher = new Refresher(queries, name);
    const opened = new LiveStream(`${sandboxCalls(name).path}/live`, (news) => refresher.onNews(news));
    setStream(opened);
    return () => {
      opened.close();
      refresher.close();
    };
  }, [queries, name]);
  if (stream === undefined) return null;
  return <LiveContext value={stream}>{children}</LiveContext>;
}

export function useLiveStream(): LiveStream {
  const stream = useContext(LiveContext);
  if (stream === undefined) throw new Error("outside of FollowSandbox");
  return stream;
}

/** Selects a part of the live state; the component rerenders when that part changes. */
export function useLive<T>(part: (state: LiveState) => T): T {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.subscribe, () => part(stream.current()));
}

/** Refetches queries: all of them after a reconnect, else the live ones at most once a second. */
class Refresher {
  private readonly queries: QueryClient;
  private readonly name: string;
  private timer: ReturnType<typeof setTimeout> | undefined;

  private fetchedAt = Date.now();

  constructor(queries: QueryClient, name: string) {
    this.queries = queries;
    this.name = name;
  }

  onNews(news: "entries" | "rejoined"): void {
    if (news === "rejoined") return void this.queries.invalidateQueries();
    const wait = Math.max(0, this.fetchedAt + REFETCH_MS - Date.now());
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.fetchedAt = Date.now();
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
