import { Meter } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Badge } from "../../parts/mark.tsx";
import { Nothing, ReadProblem } from "../../parts/notice.tsx";
import { type Gauge, statusOf, usageOf } from "./usage-figures.ts";

/** What each organization and each of its keys has spent of its limits, in the month that the sandbox's clock shows. */
export function Usage() {
  const month = new Date(useSandboxNow()).toISOString().slice(0, 7);
  const { data, error } = useSandboxQuery(["usage"], async (calls) => {
    const [usage, organizations, keys] = await Promise.all([
      calls.records("usage"),
      calls.records("organizations"),
      calls.records("api_keys"),
    ]);
    return { usage: usage.items, organizations: organizations.items, keys: keys.items };
  });
  const all = data ? usageOf(data.usage, data.organizations, data.keys, month) : [];
  return (
    <div className="page">
      <ReadProblem error={error} />
      <p className="quiet">
        Spent in {month}, by the sandbox’s clock. Choose one to change its limit or what is spent.
      </p>
      {data && all.length === 0 && (
        <Nothing title="There are no organizations, so nobody spends.">
          Make one under Records, in the collection organizations.
        </Nothing>
      )}
      <div className="usage">
        {all.map(({ id, name, gauges }) => (
          <section key={id} className="usage-organization" aria-label={name}>
            <h2>
              {name} <code className="quiet">{id}</code>
            </h2>
            {gauges.map((gauge) => (
              <GaugeLine key={gauge.id} gauge={gauge} record={gauge.id.replace(/:api$/, "")} />
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}

function GaugeLine({ gauge, record }: { gauge: Gauge; record: string }) {
  const sandbox = useSandboxName();
  const { word, outcome, share } = statusOf(gauge);
  const figures =
    gauge.limit === null ? amount(gauge.spent) : `${amount(gauge.spent)} of ${amount(gauge.limit)}`;
  return (
    <Link className="gauge" href={addressOf(sandbox, "world", { collection: "usage", record })}>
      <span className="gauge-head">
        <span className="clip">{gauge.title}</span>
        <Badge outcome={outcome}>{word}</Badge>
        <span className="number">{figures}</span>
      </span>
      {gauge.limit !== null && (
        <Meter
          className="meter"
          aria-label={`${gauge.title} spent`}
          value={Math.min(100, share * 100)}
          valueLabel={`${Math.floor(share * 100)} %`}
        >
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect className={`meter-fill mark-${outcome}`} width={Math.min(100, share * 100)} height="4" />
          </svg>
        </Meter>
      )}
    </Link>
  );
}

function amount(value: number): string {
  return value.toLocaleString("en-GB", { maximumFractionDigits: 2 });
}
