import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import type { FaultRule } from "../../../../types/control-api.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { Problem } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { describeRule } from "./rules.ts";

/** Inline rules, in order of evaluation. */
export function ArmedRules({ rules }: { rules: readonly FaultRule[] }) {
  const disarmAll = useSandboxChange((calls) => calls.clearRules());
  return (
    <section className="stack" aria-label="Armed rules">
      <div className="armed-head">
        <h2>Armed rules</h2>
        {rules.length > 1 && (
          <Button
            className="button subtle"
            isPending={disarmAll.isPending}
            onPress={() => disarmAll.mutate()}
          >
            Disarm all
          </Button>
        )}
      </div>
      <Problem error={disarmAll.error} />
      {rules.length === 0 ? (
        <p className="quiet">No armed rules. A rule that you create appears here.</p>
      ) : (
        <ul className="armed-list panel lines">
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
    <RuleLine rule={rule} title={rule.description || describeRule(rule)} error={disarm.error}>
      <Button
        className="button subtle"
        aria-label={`Disarm ${rule.id}`}
        isPending={disarm.isPending}
        onPress={() => disarm.mutate()}
      >
        Disarm
      </Button>
    </RuleLine>
  );
}

interface RuleLineProps {
  rule: FaultRule;
  title?: string;
  /** Shows the hits. */
  isActive?: boolean;
  error?: unknown;
  children?: ReactNode;
}

/** A rule with its hits, and when its lease ends in sandbox time or how many hits are left. */
export function RuleLine(props: RuleLineProps) {
  const { rule, title = describeRule(rule), isActive = true, error, children } = props;
  const { id, hits, spent, lease } = rule;
  const state = spent ? "other" : hits > 0 ? "fault" : "waiting";
  const left = lease?.hits_left !== undefined && `${pluralize(lease.hits_left, "hit")} left`;
  return (
    <li className="armed-rule">
      {isActive && (
        <Badge outcome={state}>
          {spent ? `Used up (${hits})` : hits > 0 ? pluralize(hits, "hit") : "no hits"}
        </Badge>
      )}
      <div className="armed-words">
        {title} <code className="quiet">{id}</code>
        <Problem error={error} />
      </div>
      <span className="armed-lease small quiet">
        {lease && !spent && (
          <>
            {lease.ends_at && (
              <>
                expires <RelativeTime at={lease.ends_at} />
              </>
            )}
            {lease.ends_at && left && ", "}
            {left}
          </>
        )}
      </span>
      {children}
    </li>
  );
}
