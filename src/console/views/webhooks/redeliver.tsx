import { Notice } from "../../parts/notice.tsx";
import { AsMember } from "./as-member.tsx";
import type { Delivery } from "./attempts.ts";

/** One attempt at once, by the service's own call (4.21). */
export function Redeliver({ delivery }: { delivery: Delivery }) {
  const { delivery_id, webhook_id, organization_id, status } = delivery;
  return (
    <>
      {status === "success" && (
        <Notice outcome="ok">It was delivered; only a failed delivery can be redelivered.</Notice>
      )}
      <AsMember
        organization={organization_id}
        verb="Redeliver now"
        path={`/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`}
        offered={status !== "success"}
      />
    </>
  );
}
