import { useState } from "react";
import type { Triggered } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { fetchService } from "../../api/fetch-service.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ActorField } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/status.tsx";

type AttemptResult = Omit<Triggered["deliveries"][number], "webhook_id">;

/**
 * Calls the emulated API as a user of the organization, for one delivery attempt. `isOffered: false` hides the button
 * and keeps the last result.
 */
export function CallAsMember(props: {
  organization: string;
  verb: string;
  hint?: string;
  /** Path below the sandbox's base URL. */
  path: string;
  isOffered?: boolean;
}) {
  const { organization, verb, hint, path, isOffered = true } = props;
  const sandbox = useSandboxName();
  const actors = useActors().data?.filter((one) => one.current === organization && !one.unusableReason);
  const [selectedId, setSelectedId] = useState<string>();
  const actor = actors?.find(({ id }) => id === selectedId) ?? actors?.[0];
  const call = useSandboxChange(async (_calls, key: string) => {
    const { status, json, text } = await fetchService({ sandbox, method: "POST", path, key });
    if (status === 200) return json.data as AttemptResult;
    const message = typeof json?.message === "string" ? json.message : text.slice(0, 300);
    throw new ControlError(status, `The API returned ${status}: ${message}`);
  });
  if (!isOffered && !call.error && !call.data) return null;
  return (
    <div className="stack">
      {isOffered && actors?.length === 0 && (
        <Notice outcome="refused">
          No user of {organization} has an active key.{" "}
          <ViewLink view="keys" query={{ make: "key" }}>
            Create a key
          </ViewLink>{" "}
          first.
        </Notice>
      )}
      {isOffered && actor && (
        <div className="tools">
          <ActorField actors={actors} value={actor.id} onChange={setSelectedId} allowAnonymous={false} />
          <ActionButton label={verb} isPending={call.isPending} onPress={() => call.mutate(actor.key)} />
          {hint && <p className="quiet small wide">{hint}</p>}
        </div>
      )}
      <Problem error={call.error} />
      {call.data && (
        <Notice outcome={call.data.status === "success" ? "ok" : "refused"}>
          {describeResult(call.data)}
        </Notice>
      )}
    </div>
  );
}

function describeResult({ status, response_code }: AttemptResult): string {
  if (status === "success") return `Delivered: the receiver returned ${response_code}.`;
  if (response_code === 0) return "Not delivered: no response. The attempt shows the reason.";
  return `Not delivered: the receiver returned ${response_code}.`;
}
