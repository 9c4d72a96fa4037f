import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { fetchService } from "../../api/fetch-service.ts";
import { useSandboxChange } from "../../api/queries.ts";
import type { Triggered } from "../../api/types.ts";
import { ActorField } from "../../parts/actor-field.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";

type Attempted = Omit<Triggered["deliveries"][number], "webhook_id">;

/**
 * A call of the service that makes one attempt to deliver, as a user of the organization; where nobody of it has a key
 * that works, it says so. `offered`: false leaves what came of the last call alone.
 */
export function AsMember({
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
    throw new ControlError(answer.status, `The service answered ${answer.status}: ${saidIn(answer)}`);
  });
  return (
    <div className="as-member">
      {offered && actors?.length === 0 && (
        <Notice outcome="refused">
          Nobody of {organization} has a key that works.{" "}
          <Link href={addressOf(sandbox, "keys", { make: "key" })}>Make one</Link> first.
        </Notice>
      )}
      {offered && actors && actor && (
        <div className="webhooks-tools">
          <ActorField actors={actors} value={actor.id} onChange={setChosen} nobody={false} />
          <Button className="button" isPending={call.isPending} onPress={() => call.mutate(actor.key)}>
            {verb}
          </Button>
        </div>
      )}
      <Problem error={call.error} />
      {call.data && (
        <Notice outcome={call.data.status === "success" ? "ok" : "refused"}>{wordsOf(call.data)}</Notice>
      )}
    </div>
  );
}

function saidIn({ json, text }: { json: { message?: unknown } | undefined; text: string }): string {
  return typeof json?.message === "string" ? json.message : text.slice(0, 300);
}

function wordsOf({ status, response_code }: Attempted): string {
  if (status === "success") return `Delivered: the receiver answered ${response_code}.`;
  if (response_code === 0) return "Tried, and no answer came; its attempts say why.";
  return `Tried, and the receiver answered ${response_code}.`;
}
