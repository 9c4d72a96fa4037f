import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import type { Triggered } from "../../../../types/control-api.ts";
import { toAddress, useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { fetchService } from "../../api/fetch-service.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { ActorField } from "../../components/form.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import type { Delivery } from "./attempts.ts";

type Attempted = Omit<Triggered["deliveries"][number], "webhook_id">;

/**
 * Calls the emulated API as a user of the organization, for one delivery attempt. `offered: false` hides the button and
 * keeps the last result.
 */
export function CallAsMember({
  organization,
  verb,
  path,
  offered = true,
}: {
  organization: string;
  verb: string;
  path: string;
  offered?: boolean;
}) {
  const sandbox = useSandboxName();
  const actors = useActors()?.filter((one) => one.organization === organization && !one.unusable);
  const [chosen, setChosen] = useState<string>();
  const actor = actors?.find(({ id }) => id === chosen) ?? actors?.[0];
  const call = useSandboxChange(async (_calls, key: string) => {
    const answer = await fetchService({ sandbox, method: "POST", path, key });
    if (answer.status === 200) return answer.json.data as Attempted;
    throw new ControlError(answer.status, `The API returned ${answer.status}: ${errorMessage(answer)}`);
  });
  return (
    <div className="as-member">
      {offered && actors?.length === 0 && (
        <Notice outcome="refused">
          No user of {organization} has an active key.{" "}
          <Link href={toAddress(sandbox, "keys", { make: "key" })}>Create one</Link> first.
        </Notice>
      )}
      {offered && actors && actor && (
        <div className="webhooks-tools">
          <ActorField actors={actors} value={actor.id} onChange={setChosen} allowAnonymous={false} />
          <Button className="button" isPending={call.isPending} onPress={() => call.mutate(actor.key)}>
            {verb}
          </Button>
        </div>
      )}
      <Problem error={call.error} />
      {call.data && (
        <Notice outcome={call.data.status === "success" ? "ok" : "refused"}>
          {describeAttempt(call.data)}
        </Notice>
      )}
    </div>
  );
}

function errorMessage({ json, text }: { json: { message?: unknown } | undefined; text: string }): string {
  return typeof json?.message === "string" ? json.message : text.slice(0, 300);
}

function describeAttempt({ status, response_code }: Attempted): string {
  if (status === "success") return `Delivered: the receiver returned ${response_code}.`;
  if (response_code === 0) return "Not delivered: no response. The attempt shows the reason.";
  return `Not delivered: the receiver returned ${response_code}.`;
}

/** Redelivers immediately by the emulated API's own operation (4.21). */
export function Redeliver({ delivery }: { delivery: Delivery }) {
  const { delivery_id, webhook_id, organization_id, status } = delivery;
  return (
    <>
      {status === "success" && (
        <Notice outcome="ok">Delivered. Only failed deliveries can be redelivered.</Notice>
      )}
      <CallAsMember
        organization={organization_id}
        verb="Redeliver now"
        path={`/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`}
        offered={status !== "success"}
      />
    </>
  );
}
