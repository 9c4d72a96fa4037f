import type { FaultRule } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { counted } from "../../parts/counted.ts";
import { RelativeTime } from "../../parts/time.tsx";

/** What is left of a rule's lease, running down with the sandbox's clock. */
export function Lease({ rule: { lease, spent } }: { rule: FaultRule }) {
  const now = useSandboxNow();
  if (lease === null || spent) return null;
  return (
    <>
      {lease.ends_at && (
        <>
          ends <RelativeTime at={lease.ends_at} now={now} />
        </>
      )}
      {lease.ends_at && lease.hits_left !== undefined && ", "}
      {lease.hits_left !== undefined && `${counted(lease.hits_left, "hit")} left`}
    </>
  );
}
