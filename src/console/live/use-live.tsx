import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { createSandboxCalls } from "../api/calls.ts";
import { toSandboxKey } from "../api/queries.ts";
import { reconnectionTime } from "../api/store.ts";
import { type LiveState, LiveStream } from "./live-stream.ts";

const LiveContext = createContext<LiveStream | undefined>(undefined);
const REFETCH_MS = 1000;

/**
 * Provides the live stream of a sandbox and refetches queries: all of them after a reconnect, else the live ones of the
 * sandbox at most once a second.
 */
export function FollowSandbox({ name, children }: { name: string; children: ReactNode }) {
  const queries = useQueryClient();
  const [stream, setStream] = useState<LiveStream>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let fetchedAt = Date.now();
    const refetch = () => {
      timer = undefined;
      fetchedAt = Date.now();
      void queries.invalidateQueries({
        queryKey: toSandboxKey(name),
        predicate: ({ meta }) => meta?.live !== false,
      });
    };
    const newStream = new LiveStream(`${createSandboxCalls(name).path}/live`, (news) => {
      if (news === "rejoined") {
        reconnectionTime.set(Date.now());
        void queries.invalidateQueries();
      } else timer ??= setTimeout(refetch, Math.max(0, fetchedAt + REFETCH_MS - Date.now()));
    });
    setStream(newStream);
    return () => {
      newStream.close();
      clearTimeout(timer);
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
  const { state } = useLiveStream();
  return useSyncExternalStore(state.subscribe, () => part(state.get()));
}
