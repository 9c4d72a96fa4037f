import { Button } from "react-aria-components";
import type { FaultRule } from "../../../../types/control-api.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { Problem } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { describeRule } from "./rule-words.ts";

/** Inline rules, in order of evaluation. */
export function ArmedRules({ rules }: { rules: readonly FaultRule[] }) {
  const disarmAll = useSandboxChange((calls) => calls.clearRules());
  return (
    <section className="armed" aria-label="Armed rules">
      <div className="armed-head">
        <h2>Armed rules</h2>
        {rules.length > 1 && (
          <Button
            className="button subtle"
            isPending={disarmAll.isPending}
            onPress={() => disarmAll.mutate(undefined)}
          >
            Disarm all
          </Button>
        )}
      </div>
      <Problem error={disarmAll.error} />
      {rules.length === 0 ? (
        <p className="quiet">No armed rules. A rule that you create appears here.</p>
      ) : (
        <ul className="armed-list">
          {rules.map((rule) => (
            <ArmedRule key={rule.id} rule={rule} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ArmedRule({ rule }: { rule: FaultRule }) {
  const disarm = useSandboxChange((calls) => calls.removeRule(rule.id));
  return (
    <li className="armed-rule">
      <RuleState rule={rule} />
      <div className="armed-words">
        {rule.description || describeRule(rule)} <code className="quiet">{rule.id}</code>
        <Problem error={disarm.error} />
      </div>
      <span className="armed-lease small quiet">
        <LeaseLeft rule={rule} />
      </span>
      <Button
        className="button subtle"
        aria-label={`Disarm ${rule.id}`}
        isPending={disarm.isPending}
        onPress={() => disarm.mutate(undefined)}
      >
        Disarm
      </Button>
    </li>
  );
}

export function RuleState({ rule: { hits, spent } }: { rule: FaultRule }) {
  if (spent) return <Badge outcome="other">Used up ({hits})</Badge>;
  return (
    <Badge outcome={hits > 0 ? "fault" : "waiting"}>{hits > 0 ? pluralize(hits, "hit") : "no hits"}</Badge>
  );
}

/** When a rule expires, in sandbox time, or the hits that are left. */
export function LeaseLeft({ rule: { lease, spent } }: { rule: FaultRule }) {
  const now = useSandboxNow();
  if (lease === null || spent) return null;
  return (
    <>
      {lease.ends_at && (
        <>
          expires <RelativeTime at={lease.ends_at} now={now} />
        </>
      )}
      {lease.ends_at && lease.hits_left !== undefined && ", "}
      {lease.hits_left !== undefined && `${pluralize(lease.hits_left, "hit")} left`}
    </>
  );
}
