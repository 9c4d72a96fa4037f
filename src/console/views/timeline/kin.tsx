import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import type { HistoryEntry } from "../../api/types.ts";
import { Mark } from "../../parts/mark.tsx";
import { Section } from "../../parts/section.tsx";
import type { Node } from "./nodes.ts";
import { titleOf } from "./words.ts";

/** What led to an entry, and what it led to, each a link. */
export function Kin({ entry, nodes }: { entry: HistoryEntry; nodes: readonly Node[] }) {
  const { data } = useSandboxQuery(["history", entry.id], (calls) => calls.historyEntry(entry.id));
  if (data === undefined || data.causes.length + data.effects.length === 0) return null;
  return (
    <Section title="Causes and effects">
      <dl className="kin">
        <Relatives term="Because of" ids={data.causes} nodes={nodes} />
        <Relatives term="Led to" ids={data.effects} nodes={nodes} />
      </dl>
    </Section>
  );
}

function Relatives({ term, ids, nodes }: { term: string; ids: readonly string[]; nodes: readonly Node[] }) {
  const sandbox = useSandboxName();
  if (ids.length === 0) return null;
  return (
    <div>
      <dt>{term}</dt>
      {ids.map((id) => {
        const node = nodes.find((one) => one.entry?.id === id);
        return (
          <dd key={id}>
            {node ? (
              <Link href={addressOf(sandbox, "timeline", { entry: node.id })}>
                <Mark outcome={node.outcome} /> {titleOf(node)}
              </Link>
            ) : (
              <span className="quiet">{id}, which was let go</span>
            )}
          </dd>
        );
      })}
    </div>
  );
}
