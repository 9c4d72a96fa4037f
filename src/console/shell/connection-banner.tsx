import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../address.ts";
import { useLive, useLiveStream } from "../live/use-live.tsx";
import { Notice } from "../parts/notice.tsx";
import { useWallClock } from "../parts/time.tsx";
import { HOME } from "../views/index.ts";

/** A moment without the stream is nothing to speak of. */
const PATIENCE_MS = 1500;

/** Says why what is shown may be old, and what happens about it; nothing while all is well. */
export function ConnectionBanner() {
  const connection = useLive((state) => state.connection);
  const since = useLive((state) => state.since);
  const sandbox = useSandboxName();
  const stream = useLiveStream();
  const now = useWallClock();
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const again = (
    <Button className="button" onPress={() => stream.again()}>
      Try now
    </Button>
  );
  if (connection === "gone") {
    return (
      <Notice
        outcome="failed"
        action={
          <Link className="button" href={addressOf("default", HOME.id)}>
            Go to default
          </Link>
        }
      >
        There is no sandbox <strong>{sandbox}</strong>. It was deleted, or never made; should it appear, this
        page goes on by itself.
      </Notice>
    );
  }
  if (connection === "away") {
    return (
      <Notice outcome="failed" action={again}>
        The server does not answer{seconds > 2 ? `, for ${seconds} s now` : ""}. What you see may be old; this
        page tries again by itself.
      </Notice>
    );
  }
  if (connection === "joining" && now - since > PATIENCE_MS) {
    return (
      <Notice outcome="refused" action={again}>
        The stream of events broke off; joining it again. What you see may be old.
      </Notice>
    );
  }
  return null;
}
