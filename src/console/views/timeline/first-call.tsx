import { useState } from "react";
import { capitalize } from "../../../engine/contract/text.ts";
import { useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import { fetchService } from "../../api/fetch-service.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ConnectActions, formatFirstCall, maskKey } from "../../components/connect.tsx";
import { ActorField } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Badge, Problem, toStatusOutcome } from "../../components/status.tsx";

export function FirstCall() {
  const { data: actors } = useActors();
  const { data: sandbox } = useSandbox();
  const name = useSandboxName();
  const usableActors = actors?.filter(({ unusableReason }) => !unusableReason);
  const [selectedId, setSelectedId] = useState<string>();
  const actor = usableActors?.find(({ id }) => id === selectedId) ?? usableActors?.[0];
  const call = useSandboxChange(() =>
    fetchService({ sandbox: name, method: "GET", path: "/v1/models", key: actor!.key }),
  );
  const answer = call.data;
  if (actors === undefined) return null;
  return (
    <section className="first-call panel stack" aria-label="First call">
      <h2>Make a first call</h2>
      {usableActors?.length === 0 && (
        <p>
          No user of this sandbox has an active key.{" "}
          <ViewLink view="keys" query={{ make: "key" }}>
            Create a key
          </ViewLink>
          .
        </p>
      )}
      {actor && (
        <>
          <div className="tools">
            <ActorField
              actors={usableActors}
              value={actor.id}
              onChange={setSelectedId}
              allowAnonymous={false}
            />
            <ActionButton
              label={`Try it as ${capitalize((actor.user?.name ?? actor.user_id).split(" ")[0]!)}`}
              look="primary"
              change={call}
            />
          </div>
          <Problem error={call.error} />
          {answer && (
            <p className="flow" role="status">
              <Badge outcome={toStatusOutcome(answer.status)}>{answer.status}</Badge>
              <span>The call is in the timeline below. Now send one from your client:</span>
            </p>
          )}
          <pre className="wire">{formatFirstCall(sandbox?.base_url ?? "", maskKey(actor.key))}</pre>
          <ConnectActions apiKey={actor} />
        </>
      )}
    </section>
  );
}
