import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Health } from "../../../types/control-api.ts";
import { server } from "../api/calls.ts";
import { usePollingWhileRunning, useSandbox, useSandboxQuery } from "../api/queries.ts";
import { ActionButton } from "../components/button.tsx";
import { ViewLink } from "../components/layout.tsx";
import { Badge } from "../components/status.tsx";
import { pluralize } from "../components/text.tsx";
import { formatClock, formatRelative, useSandboxNow } from "../components/time.tsx";
import { useLive } from "../live/use-live.tsx";
import { formatTimerKind } from "../views/time/timers.tsx";

const HEALTH_POLL_MS = 5000;

/** The state of the sandbox and the server, below every view. */
export function StatusLine() {
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: below the body, it has the role contentinfo
    <footer className="status-line small" aria-label="Status">
      <HeldCount />
      <Faults />
      <NextTimer />
      <ServerState />
    </footer>
  );
}

function HeldCount() {
  const { length } = useLive(({ held }) => held);
  if (length === 0) return null;
  return (
    <span className="status-part">
      <Badge outcome="waiting">{pluralize(length, "held request")}</Badge>
    </span>
  );
}

function Faults() {
  const { data: sandbox } = useSandbox();
  const { data: rules } = useSandboxQuery(["faults"], (calls) => calls.rules());
  if (sandbox === undefined || rules === undefined) return null;
  const armedCount = rules.items.filter(({ spent }) => !spent).length;
  const { scenarios } = sandbox;
  const parts = [
    armedCount > 0 && pluralize(armedCount, "rule"),
    scenarios.length > 0 && pluralize(scenarios.length, "scenario"),
  ].filter(Boolean);
  return (
    <ViewLink view="faults" className="status-part">
      <Badge outcome={parts.length > 0 ? "fault" : "ok"}>
        {parts.length > 0 ? `${parts.join(", ")} active` : "No active faults"}
      </Badge>
    </ViewLink>
  );
}

function NextTimer() {
  const { data: sandbox } = useSandbox();
  const polling = usePollingWhileRunning();
  const { data } = useSandboxQuery(["pending", "next"], (calls) => calls.pending({ limit: 1 }), polling);
  const now = useSandboxNow();
  const [next] = data ?? [];
  if (sandbox === undefined) return null;
  const dueText = next
    ? `next timer ${formatRelative(Date.parse(next.due_at), now)} (${formatTimerKind(next)})`
    : "no pending timers";
  return (
    <ViewLink view="time" className="status-part status-clock">
      <Badge outcome={next ? "waiting" : "other"}>
        Clock: {formatClock(sandbox.clock)}, {dueText}
      </Badge>
    </ViewLink>
  );
}

function ServerState() {
  const { data } = useQuery({
    queryKey: ["health"],
    queryFn: server.health,
    refetchInterval: HEALTH_POLL_MS,
  });
  const [restartedAt, dismiss] = useRestart(data);
  if (data === undefined) return null;
  const { saving } = data;
  return (
    <>
      {saving?.state === "failing" ? (
        <span className="status-part" title={saving.reason}>
          <Badge outcome="failed">Not saved: {saving.reason}</Badge>
        </span>
      ) : (
        <span
          className="status-part"
          title={saving ? undefined : "Lost when the server stops. Start it with --persist to keep it."}
        >
          <Badge outcome={saving ? "ok" : "other"}>{saving ? "Saved" : "In memory only"}</Badge>
        </span>
      )}
      {restartedAt !== undefined && (
        <span className="status-part">
          <Badge outcome="refused">Server restarted at {restartedAt}</Badge>
          <ActionButton label="✕" name="Dismiss this notice" look="square" onPress={dismiss} />
        </span>
      )}
    </>
  );
}

/** The local time at which the server started again while this page was open, and a function that dismisses it. */
function useRestart(health: Health | undefined): [string | undefined, () => void] {
  const [knownStart, setKnownStart] = useState<string>();
  const [restartedAt, setRestartedAt] = useState<string>();
  const startedAt = health?.started_at;
  useEffect(() => {
    if (startedAt === undefined || startedAt === knownStart) return;
    setKnownStart(startedAt);
    if (knownStart !== undefined) setRestartedAt(new Date(startedAt).toLocaleTimeString("en-GB"));
  }, [startedAt, knownStart]);
  return [restartedAt, () => setRestartedAt(undefined)];
}
