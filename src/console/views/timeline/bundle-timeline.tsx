import { useMemo, useState } from "react";
import type { Bundle } from "../../../../types/control-api.ts";
import { tryParseJson } from "../../../engine/contract/text.ts";
import { ActionButton } from "../../components/button.tsx";
import { Message, type MessageProps } from "../../components/exchange.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Badge, EmptyState, Mark, Notice, type Outcome, toStatusOutcome } from "../../components/status.tsx";
import { pluralize } from "../../components/text.tsx";
import { formatAbsolute } from "../../components/time.tsx";
import { VirtualRows } from "../../components/virtual-rows.tsx";
import { TimeOfDay } from "./entry-row.tsx";

const getKey = ({ id }: StepRow) => id;
const getClassName = () => "entry-row bundle-row";

export interface OpenedBundle {
  file: string;
  bundle: Bundle;
}

/** The steps of a bundle, read-only. `understudy replay` runs them again. */
export function BundleTimeline({ file, bundle, onClose }: OpenedBundle & { onClose: () => void }) {
  const rows = useMemo(() => bundle.steps.map(toRow), [bundle]);
  const [selected, setSelected] = useState<string>();
  const selectedRow = rows.find(({ id }) => id === selected);
  return (
    <div className="split grow">
      <div className="timeline stack grow">
        <div className="page-head">
          <h1>Bundle</h1>
          <ActionButton label="Back to timeline" onPress={onClose} />
        </div>
        <Notice outcome="other">
          <b>{file}</b>: recorded in sandbox {bundle.sandbox} by Understudy {bundle.understudy}, from fixture{" "}
          {bundle.fixture.name} with seed {bundle.seed}, starting at {formatAbsolute(bundle.clock.start)}.
          Read-only. To run it again, use <code>understudy replay</code>.
        </Notice>
        <VirtualRows
          label="Steps"
          role="grid"
          rows={rows}
          getKey={getKey}
          getClassName={getClassName}
          selected={selected}
          onSelect={({ id }) => setSelected(id)}
          columns={3}
          renderRow={(row) => <Step row={row} />}
          empty={<EmptyState title="This bundle has no steps" />}
        />
      </div>
      {selectedRow && (
        <DetailPane
          key={selectedRow.id}
          title={<span className="mono">{selectedRow.title}</span>}
          label={`Step ${selectedRow.id}`}
          onClose={() => setSelected(undefined)}
        >
          <p className="flow quiet">
            <Badge outcome={selectedRow.outcome}>{selectedRow.status || "no response"}</Badge>
            <span>{formatAbsolute(selectedRow.at)}</span>
          </p>
          {selectedRow.messages.map((message) => (
            <Message key={message.title} {...message} />
          ))}
          {selectedRow.operation && (
            <p className="quiet">
              Status {selectedRow.status}. Bundles do not contain the responses of control calls.
            </p>
          )}
        </DetailPane>
      )}
    </div>
  );
}

function Step({ row: { title, status, outcome, operation, decision, at } }: { row: StepRow }) {
  return (
    <>
      <div role="gridcell" className="cell entry-what">
        <Mark outcome={outcome} />
        <span className={operation ? "entry-kind quiet" : "entry-status"}>
          {operation ? "control call" : status || "no response"}
        </span>
        <span className="entry-link mono">
          <span className="clip">{title}</span>
        </span>
      </div>
      <div role="gridcell" className="cell from-medium quiet">
        {operation ?? (decision !== "ok" && decision)}
      </div>
      <div role="gridcell" className="cell number quiet entry-at">
        <TimeOfDay at={at} />
      </div>
    </>
  );
}

type BundleStep = Bundle["steps"][number];
type Body = Extract<BundleStep, { request: unknown }>["request"]["body"];

interface StepRow {
  /** Position in the bundle, from 1. */
  id: string;
  at: string;
  title: string;
  status: number;
  outcome: Outcome;
  operation?: string;
  decision?: string | undefined;
  messages: MessageProps[];
}

function toRow(step: BundleStep, index: number): StepRow {
  const id = String(index + 1);
  if ("control" in step) {
    const { method, path, status, now: at, operation, body: value } = step.control;
    const title = `${method} ${path}`;
    const body = value === undefined ? undefined : toShownBody({ text: value });
    const messages = [{ title: "Control call", line: title, headers: [], body }];
    return { id, at, title, status, outcome: "other", operation, messages };
  }
  const { request, answer } = step;
  const { status, digest } = answer;
  const title = `${request.method} ${request.target}`;
  const decision = answer.headers.find(([name]) => /^x-sandbox-decision$/i.test(name!))?.[1];
  const messages = [
    {
      title: "Request",
      line: title,
      headers: toNamedHeaders(request.headers),
      body: toShownBody(request.body),
    },
    {
      title: "Response",
      line: status === 0 ? "No response reached the client" : String(status),
      headers: toNamedHeaders(answer.headers),
      body: digest
        ? `${pluralize(digest.bytes, "byte")}, too large for the bundle; SHA-256 ${digest.sha256}`
        : toShownBody(answer.body),
    },
  ];
  // The status decides the outcome: a decision by a fault may mean that it only delayed the answer.
  return { id, at: request.at, title, status, outcome: toStatusOutcome(status), decision, messages };
}

function toNamedHeaders(headers: readonly (readonly string[])[]) {
  return headers.map(([name, value]) => ({ name: name!, value: value! }));
}

/** JSON as a value, other text as it is; of binary data only the size. */
function toShownBody(body: Body): unknown {
  if (body === undefined) return undefined;
  if ("latin1" in body) return `${pluralize(body.latin1.length, "byte")} of binary data`;
  return tryParseJson(body.text) ?? body.text;
}

/**
 * Reads a bundle file.
 * @throws Error for other files
 */
export async function readBundle(file: File): Promise<OpenedBundle> {
  const document = tryParseJson(await file.text()) as Partial<Bundle> | null | undefined;
  if (document === undefined) throw new Error("This file is neither a bundle nor an exported sandbox.");
  if (document?.format !== "understudy-bundle" || !Array.isArray(document.steps))
    throw new Error("This file is neither a bundle nor an exported sandbox. “Export …” creates both.");
  return { file: file.name, bundle: document as Bundle };
}
