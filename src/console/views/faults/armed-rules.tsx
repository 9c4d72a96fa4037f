import { Button } from "react-aria-components";
import { useSandboxChange } from "../../api/queries.ts";
import type { FaultRule } from "../../api/types.ts";
import { Badge } from "../../parts/mark.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Lease } from "./lease.tsx";
import { ruleWords } from "./rule-words.ts";

/** The inline rules, in the order in which they are asked. */
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
        <p className="quiet">None. A composed rule stands here with its hits until it is disarmed.</p>
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
        {rule.description || ruleWords(rule)} <code className="quiet">{rule.id}</code>
        <Problem error={disarm.error} />
      </div>
      <span className="armed-lease small quiet">
        <Lease rule={rule} />
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
  const struck = `${hits} ${hits === 1 ? "hit" : "hits"}`;
  if (spent) return <Badge outcome="other">spent, {struck}</Badge>;
  return <Badge outcome={hits > 0 ? "fault" : "waiting"}>{hits > 0 ? struck : "no hit yet"}</Badge>;
}
