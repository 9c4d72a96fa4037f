import { type ReactNode, useState } from "react";
import { stringify } from "yaml";
import type { FaultRule } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { ActionButton, Dialog, DialogButton } from "../../components/button.tsx";
import { BodyText } from "../../components/exchange.tsx";
import { Field } from "../../components/form.tsx";
import { Badge, Problem } from "../../components/status.tsx";
import { CopyButton, downloadFile, pluralize } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { describeRule, toDefinition } from "./rules.ts";

export function ArmedRules(props: { rules: readonly FaultRule[]; onEdit: (id: string) => void }) {
  const { rules, onEdit } = props;
  // A newly armed rule becomes the first, so the last one is armed first.
  const rulesToArm = rules.filter(({ spent }) => !spent).toReversed();
  const verb = rulesToArm.length > 0 ? "Disarmed" : "Removed";
  const disarmAll = useSandboxChange((calls) => calls.clearRules(), {
    confirmation: `${verb} ${pluralize(rules.length, "rule")}.`,
    undo:
      rulesToArm.length === 0
        ? null
        : async (calls) => {
            for (const rule of rulesToArm) await calls.addRule(toDefinition(rule));
          },
  });
  return (
    <section className="stack" aria-label="Rules">
      <div className="section-head">
        <h2>Rules</h2>
        <div className="actions">
          {rules.length > 0 && (
            <DialogButton label="Save as scenario …" look="subtle">
              {(close) => <ScenarioDialog rules={rules} onClose={close} />}
            </DialogButton>
          )}
          {rules.length > 1 && <ActionButton label="Disarm all" look="subtle" change={disarmAll} />}
        </div>
      </div>
      <Problem error={disarmAll.error} />
      {rules.length === 0 ? (
        <p className="quiet">No rules. Create one with “New rule”.</p>
      ) : (
        <ul className="armed-list panel lines">
          {rules.map((rule, place) => (
            <ArmedRule key={rule.id} rule={rule} place={place} onEdit={() => onEdit(rule.id)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ArmedRule(props: { rule: FaultRule; place: number; onEdit: () => void }) {
  const { rule, place, onEdit } = props;
  const disarm = useSandboxChange((calls) => calls.removeRule(rule.id), {
    confirmation: `${rule.spent ? "Removed" : "Disarmed"} ${rule.id}.`,
    undo: rule.spent ? null : (calls) => calls.addRule(toDefinition(rule), place),
  });
  const armAgain = useSandboxChange((calls) => calls.changeRule(rule.id, toDefinition(rule)), {
    confirmation: `Armed ${rule.id} again.`,
  });
  const removal = rule.spent ? "Remove" : "Disarm";
  return (
    <RuleLine
      rule={rule}
      title={rule.description || describeRule(rule)}
      error={disarm.error ?? armAgain.error}
    >
      {rule.spent && (
        <ActionButton label="Arm again" name={`Arm again: ${rule.id}`} look="subtle" change={armAgain} />
      )}
      <ActionButton label="Edit" name={`Edit ${rule.id}`} look="subtle" onPress={onEdit} />
      <ActionButton label={removal} name={`${removal} ${rule.id}`} look="subtle" change={disarm} />
    </RuleLine>
  );
}

/** A rule with its hits, and when its lease ends in sandbox time or how many hits are left. */
export function RuleLine(props: {
  rule: FaultRule;
  title?: string;
  showsHits?: boolean;
  error?: unknown;
  children?: ReactNode;
}) {
  const { rule, title = describeRule(rule), showsHits = true, error, children } = props;
  const { id, hits, spent, lease } = rule;
  const outcome = spent ? "other" : hits > 0 ? "fault" : "waiting";
  const count = hits > 0 ? pluralize(hits, "hit") : "no hits";
  const hitsLeft = lease?.hits_left !== undefined && `${pluralize(lease.hits_left, "hit")} left`;
  return (
    <li className="armed-rule flow">
      {showsHits && <Badge outcome={outcome}>{spent ? `Ended, ${count}` : count}</Badge>}
      <div className="armed-words">
        <bdi>{title}</bdi> <code className="quiet">{id}</code>
        <Problem error={error} />
      </div>
      {lease && !spent && (
        <span className="small quiet">
          {lease.ends_at && "expires "}
          {lease.ends_at && <RelativeTime at={lease.ends_at} />}
          {lease.ends_at && hitsLeft && ", "}
          {hitsLeft}
        </span>
      )}
      {children && <span className="actions">{children}</span>}
    </li>
  );
}

/** As the server checks the name of a scenario. */
const SCENARIO_NAME = /^[A-Za-z0-9][\w.-]{0,79}$/;

function ScenarioDialog({ rules, onClose }: { rules: readonly FaultRule[]; onClose: () => void }) {
  const [name, setName] = useState(`${useSandboxName()}-rules`);
  const text = stringify({ name: name.trim(), rules: rules.map(toDefinition) }, { lineWidth: 0 });
  const file = `${name.trim()}.yaml`;
  return (
    <Dialog title="Save as scenario" onClose={onClose}>
      <p>
        Save this file in your scenarios folder, by default <code>./scenarios</code>. It then appears in the
        list, and <code>understudy suite</code> can run it.
      </p>
      <Field
        label="Name"
        name="name"
        value={name}
        onChange={setName}
        autoFocus
        required
        hint="Letters, digits, dots, hyphens and underscores, at most 80, with a letter or digit first."
      />
      <BodyText text={text} />
      <div className="actions">
        <ActionButton
          label="Download"
          look="primary"
          isDisabled={!SCENARIO_NAME.test(name.trim())}
          onPress={() => downloadFile(file, new Blob([text], { type: "application/yaml" }))}
        />
        <CopyButton text={text} />
        <ActionButton label="Close" onPress={onClose} />
      </div>
    </Dialog>
  );
}
