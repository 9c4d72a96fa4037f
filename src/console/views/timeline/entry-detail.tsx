import type { HistoryEntry, JournalEntry } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { Exchange } from "../../components/exchange.tsx";
import { DetailPane, Section, ViewLink } from "../../components/layout.tsx";
import { RecordChangeLists } from "../../components/record-changes.tsx";
import { Badge, LoadError, Mark, Notice } from "../../components/status.tsx";
import { PathText, TextWithCode } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { describeRule } from "../faults/rules.ts";
import { EntryActions } from "./entry-actions.tsx";
import type { Node } from "./nodes.ts";
import {
  describeCaller,
  describeDelay,
  describeKind,
  describeNode,
  explainDecision,
  formatDuration,
  formatReason,
} from "./words.ts";

interface EntryDetailProps {
  /** The entry as named in the address. */
  address: string;
  /** Undefined if the timeline does not contain it. */
  node: Node | undefined;
  nodes: readonly Node[];
  onClose: () => void;
}

export function EntryDetail({ address, node, nodes, onClose }: EntryDetailProps) {
  const isRequest = Boolean(node?.request ?? node?.entry?.request);
  const journalEntry = useSandboxQuery(["journal", node?.seq], (calls) => calls.entry(node!.seq), {
    enabled: isRequest,
    live: false,
  });
  if (node === undefined) {
    return (
      <DetailPane title={address} label={`Entry ${address}`} onClose={onClose}>
        <Notice outcome="refused">
          No entry {address}. It expired, a reset or a restart deleted it, or it is newer than the paused
          list.
        </Notice>
      </DetailPane>
    );
  }
  const { request, entry, outcome, durationMs } = node;
  return (
    <DetailPane
      title={
        <span className={request ? "mono" : ""}>
          <PathText>{describeNode(node)}</PathText>
        </span>
      }
      label={`Entry ${node.seq}`}
      onClose={onClose}
    >
      <p className="flow quiet">
        <Badge outcome={outcome}>
          {request
            ? `${request.status === 0 ? "no response" : request.status} ${request.sent_code ?? request.code ?? ""}`
            : describeKind(node)}
        </Badge>
        <RelativeTime at={(request ?? entry)!.at} />
        {durationMs !== undefined && (
          <span>{[formatDuration(durationMs), describeDelay(node)].filter(Boolean).join(", ")}</span>
        )}
        {request && describeCaller(request) && <span>as {describeCaller(request)}</span>}
        {request?.operation && <code>{request.operation}</code>}
        {request?.sent_code && <span>code in fault rules: {request.code}</span>}
        {entry?.undone && <Badge outcome="waiting">undone</Badge>}
      </p>
      {journalEntry.data && <Why entry={journalEntry.data} />}
      <LoadError error={journalEntry.error} />
      <div className="actions">
        <EntryActions node={node} journalEntry={journalEntry.data} />
      </div>
      {entry?.kind === "scenario" && entry.subject && <ArmedRule id={entry.subject} />}
      {entry && <Changes entry={entry} />}
      {entry && <RelatedEntries entry={entry} nodes={nodes} />}
      {journalEntry.data && <Exchange entry={journalEntry.data} />}
    </DetailPane>
  );
}

function Why({ entry }: { entry: JournalEntry }) {
  const sentence = explainDecision(entry);
  const reasons = entry.reasons
    .filter((reason) => !sentence.includes(reason) && !reason.startsWith("No operation answers"))
    .map(formatReason);
  return (
    <Section title="Why">
      <p className="why">{toPrintableLines(sentence)}</p>
      {reasons.length > 0 && (
        <ul className="reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <TextWithCode>{toPrintableLines(reason)}</TextWithCode>
            </li>
          ))}
        </ul>
      )}
      {entry.warnings.map((warning) => (
        <Notice key={warning} outcome="refused">
          {warning}
        </Notice>
      ))}
    </Section>
  );
}

export function Changes({ entry }: { entry: HistoryEntry }) {
  const { data, error } = useSandboxQuery(["changes", entry.id], (calls) => calls.changes(entry.id), {
    enabled: entry.kept,
    live: false,
  });
  if (Object.keys(entry.changes).length === 0) return null;
  return (
    <Section title="Changes">
      <LoadError error={error} />
      {entry.kept ? (
        data && <RecordChangeLists changes={data} />
      ) : (
        <p className="quiet">
          The record details have expired; only the counts remain. Rewinding to before this entry is no longer
          possible.
        </p>
      )}
    </Section>
  );
}

/** The effect of a rule, if it is still armed. */
function ArmedRule({ id }: { id: string }) {
  const { data } = useSandboxQuery(["faults"], (calls) => calls.rules());
  const rule = data?.items.find((one) => one.id === id);
  return rule && <Section title="Rule">{describeRule(rule)}.</Section>;
}

function RelatedEntries({ entry, nodes }: { entry: HistoryEntry; nodes: readonly Node[] }) {
  const { data } = useSandboxQuery(["history", entry.id], (calls) => calls.historyEntry(entry.id));
  if (data === undefined || data.causes.length + data.effects.length === 0) return null;
  return (
    <Section title="Causes and effects">
      <dl className="stack">
        <EntryLinks term="Caused by" ids={data.causes} nodes={nodes} />
        <EntryLinks term="Caused" ids={data.effects} nodes={nodes} />
      </dl>
    </Section>
  );
}

function EntryLinks({ term, ids, nodes }: { term: string; ids: readonly string[]; nodes: readonly Node[] }) {
  const { all } = useParameters();
  if (ids.length === 0) return null;
  return (
    <div>
      <dt className="quiet">{term}</dt>
      {ids.map((id) => {
        const node = nodes.find((one) => one.entry?.id === id);
        return (
          <dd key={id}>
            {node ? (
              <>
                <Mark outcome={node.outcome} />{" "}
                <ViewLink view="timeline" query={{ ...all, entry: String(node.seq) }}>
                  {describeNode(node)}
                </ViewLink>
              </>
            ) : (
              <span className="quiet">{id} (not in the list)</span>
            )}
          </dd>
        );
      })}
    </div>
  );
}
