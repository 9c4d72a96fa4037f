import { useRecord, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { Problem } from "../../components/status.tsx";
import { RelativeTime } from "../../components/time.tsx";

/** Runs the next retry of a delivery, if one is pending, without moving the clock. */
export function RetryNow({ delivery }: { delivery: string }) {
  const { data } = useRecord("deliveries", delivery);
  const retry = useSandboxChange((calls) => calls.runTimer({ kind: "webhook.retry", subject: delivery }), {
    confirmation: "Ran the next retry. Undo cannot unsend it.",
  });
  return (
    <>
      {data?.next_retry && (
        <>
          <ActionButton label="Run next retry now" look="primary" change={retry} />
          <span>
            Next retry <RelativeTime at={data.next_retry} />
          </span>
          <p className="quiet small wide">Makes the scheduled attempt early. The clock does not move.</p>
        </>
      )}
      <Problem error={retry.error} />
    </>
  );
}
