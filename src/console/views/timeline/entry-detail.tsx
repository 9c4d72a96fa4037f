import { useSandboxQuery } from "../../api/queries.ts";
import type { JournalEntry } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Exchange } from "../../parts/exchange.tsx";
import { Badge } from "../../parts/mark.tsx";
import { Notice, ReadProblem } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { Changes } from "./changes.tsx";
import { EntryActions } from "./entry-actions.tsx";
import { Kin } from "./kin.tsx";
import type { Node } from "./nodes.ts";
import { kindOf, titleOf, waitWords, whyOf } from "./words.ts";

interface EntryDetailProps {
  /** As the address names it: of a request or of the history. */
  id: string;
  /** Undefined where the list no longer, or not yet, knows it. */
  node: Node | undefined;
  nodes: readonly Node[];
  wait: number | undefined;
  onClose: () => void;
}

/** One entry in full: why it was answered so, what was said, what it changed, and what can be done now. */
export function EntryDetail({ id, node, nodes, wait, onClose }: EntryDetailProps) {
  const requestId =
    node?.request?.id ??
    node?.entry?.request ??
    (node === undefined && id.startsWith("req_") ? id : undefined);
  const journal = useSandboxQuery(["journal", requestId], (calls) => calls.entry(requestId!), {
    enabled: requestId !== undefined,
    live: false,
  });
  const now = useSandboxNow();
  if (node === undefined) {
    return (
      <DetailPane title={id} label={`Entry ${id}`} onClose={onClose}>
        <Notice outcome="refused">
          There is no entry {id} here. It was let go, or the sandbox was reset since; the list shows what
          there is.
        </Notice>
      </DetailPane>
    );
  }
  const { request, entry, outcome } = node;
  return (
    <DetailPane
      title={<span className={request ? "mono" : ""}>{titleOf(node)}</span>}
      label={`Entry ${id}`}
      onClose={onClose}
    >
      <p className="entry-facts">
        <Badge outcome={outcome}>
          {request
            ? `${request.status === 0 ? "no answer" : request.status} ${request.code ?? ""}`
            : kindOf(node)}
        </Badge>
        <RelativeTime at={(request ?? entry)!.at} now={now} />
        {wait !== undefined && <span>{waitWords(wait)}</span>}
        {request && <span>as {request.principal ?? "nobody"}</span>}
        {request?.operation && <code>{request.operation}</code>}
        {entry?.undone && <Badge outcome="waiting">undone</Badge>}
      </p>
      {journal.data && <Why entry={journal.data} />}
      <ReadProblem error={journal.error} />
      <div className="actions">
        <EntryActions node={node} journal={journal.data} />
      </div>
      {entry && <Changes entry={entry} />}
      {entry && <Kin entry={entry} nodes={nodes} />}
      {journal.data && <Exchange entry={journal.data} />}
    </DetailPane>
  );
}

function Why({ entry }: { entry: JournalEntry }) {
  return (
    <Section title="Why">
      <p className="why">{whyOf(entry)}</p>
      {entry.reasons.length > 0 && (
        <ul className="reasons">
          {entry.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
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
