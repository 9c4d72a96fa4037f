import { useSandboxName } from "../address.ts";
import { ActionButton } from "../components/button.tsx";
import { ViewLink } from "../components/layout.tsx";
import { Notice } from "../components/status.tsx";
import { useWallClock } from "../components/time.tsx";
import { useLive, useLiveStream } from "../live/use-live.tsx";
import { HOME } from "../views/index.ts";

/** A reconnection within this time is not reported. */
const GRACE_MS = 1500;

/** Says why the page may be out of date; empty while connected. */
export function ConnectionBanner() {
  const { connection, since, timeline } = useLive((state) => state);
  const sandbox = useSandboxName();
  const stream = useLiveStream();
  const now = useWallClock();
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const retry = <ActionButton label="Retry now" onPress={() => stream.retry()} />;
  if (connection === "gone") {
    const openDefault = (
      <ViewLink className="button" view={HOME.id} sandbox="default">
        Open default
      </ViewLink>
    );
    return (
      <Notice outcome="failed" action={openDefault}>
        Sandbox <strong>{sandbox}</strong> does not exist. It may have been deleted. This page reconnects if
        it is created.
      </Notice>
    );
  }
  if (connection === "away") {
    return (
      <Notice outcome="failed" action={retry}>
        Disconnected{seconds > 2 ? ` for ${seconds} s` : ""}. Reconnecting … Is the server still running?
      </Notice>
    );
  }
  if (connection === "joining" && now - since > GRACE_MS) {
    return (
      <Notice outcome={timeline.isLoaded ? "refused" : "other"} action={retry}>
        {timeline.isLoaded
          ? "Live updates were interrupted. Reconnecting … This page may be out of date."
          : "Connecting …"}
      </Notice>
    );
  }
  return null;
}
