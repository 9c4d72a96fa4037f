import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import type { Bundle } from "../../../../types/control-api.ts";
import { Message } from "../../components/exchange.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Badge, Mark } from "../../components/mark.tsx";
import { EmptyState, Notice } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";
import { absolute, timeOfDay } from "../../components/time.tsx";
import { VirtualRows } from "../../components/virtual-rows.tsx";
import { type Node, toOutcome } from "./nodes.ts";

const ROW_HEIGHT = 34;
const getKey = ({ id }: StepRow) => id;

export interface OpenedBundle {
  file: string;
  bundle: Bundle;
}

/** The steps of a bundle, read-only. `understudy replay` runs them again. */
export function BundleTimeline({ file, bundle, onClose }: OpenedBundle & { onClose: () => void }) {
  const rows = useMemo(() => bundleRows(bundle), [bundle]);
  const [selected, setSelected] = useState<string>();
  const chosen = rows.find(({ id }) => id === selected);
  return (
    <div className="split">
      <div className="timeline">
        <div className="page-head">
          <h1>Bundle</h1>
          <Button className="button" onPress={onClose}>
            Back to timeline
          </Button>
        </div>
        <Notice outcome="other">
          <b>{file}</b>: recorded in sandbox {bundle.sandbox} by Understudy {bundle.understudy}, from fixture{" "}
          {bundle.fixture.name} with seed {bundle.seed}, starting at {absolute(bundle.clock.start)}.
          Read-only. To run it again, use <code>understudy replay</code>.
        </Notice>
        <VirtualRows
          label="Steps"
          role="grid"
          rows={rows}
          getKey={getKey}
          selected={selected}
          onSelect={({ id }) => setSelected(id)}
          rowHeight={ROW_HEIGHT}
          columns={3}
          draw={(row) => <Step row={row} />}
          getClassName={() => "entry-row step-row"}
          empty={<EmptyState title="This bundle has no steps" />}
        />
      </div>
      {chosen && (
        <DetailPane
          key={chosen.id}
          title={<span className="mono">{chosen.title}</span>}
          label={`Step ${chosen.id}`}
          onClose={() => setSelected(undefined)}
        >
          <StepDetail row={chosen} />
        </DetailPane>
      )}
    </div>
  );
}

function Step({ row: { step, title, status, outcome, at } }: { row: StepRow }) {
  const isControl = "control" in step;
  return (
    <>
      <div role="gridcell" className="cell entry-what">
        <Mark outcome={outcome} />
        <span className={isControl ? "entry-kind quiet" : "entry-status"}>
          {isControl ? "control call" : status === 0 ? "no response" : status}
        </span>
        <span className="clip mono">{title}</span>
      </div>
      <div role="gridcell" className="cell from-medium quiet">
        {isControl ? step.control.operation : ""}
      </div>
      <div role="gridcell" className="cell number quiet entry-at">
        {timeOfDay(at)}
      </div>
    </>
  );
}

function StepDetail({ row: { step, at, status, outcome } }: { row: StepRow }) {
  const facts = (
    <p className="entry-facts">
      <Badge outcome={outcome}>{status === 0 ? "no response" : status}</Badge>
      <span>{absolute(at)}</span>
    </p>
  );
  if ("control" in step) {
    const { method, path, body, status: answered } = step.control;
    return (
      <>
        {facts}
        <Message
          title="Control call"
          line={`${method} ${path}`}
          headers={[]}
          body={bodyText(body === undefined ? body : { text: body })}
          isOpen={false}
        />
        <p className="quiet">Status {answered}. Bundles do not contain the responses of control calls.</p>
      </>
    );
  }
  const { request, answer } = step;
  return (
    <>
      {facts}
      <Message
        title="Request"
        line={`${request.method} ${request.target}`}
        headers={namedHeaders(request.headers)}
        body={bodyText(request.body)}
        isOpen={false}
      />
      <Message
        title="Response"
        line={status === 0 ? "No response reached the client" : String(status)}
        headers={namedHeaders(answer.headers)}
        body={
          answer.digest
            ? `${pluralize(answer.digest.bytes, "byte")}, too large for the bundle; SHA-256 ${answer.digest.sha256}`
            : bodyText(answer.body)
        }
        isOpen={false}
      />
    </>
  );
}

function namedHeaders(headers: readonly (readonly string[])[]) {
  return headers.map(([name, value]) => ({ name: name!, value: value! }));
}

type Body = Extract<BundleStep, { request: unknown }>["request"]["body"];

/** Formats JSON; binary data is only counted. */
function bodyText(body: Body): unknown {
  if (body === undefined) return undefined;
  if ("latin1" in body) return `${pluralize(body.latin1.length, "byte")} of binary data`;
  try {
    return JSON.parse(body.text);
  } catch {
    return body.text;
  }
}

export type BundleStep = Bundle["steps"][number];

/** A step of a bundle as a row. */
export interface StepRow {
  /** Position in the bundle, from 1. */
  id: string;
  at: string;
  /** Method and target of the request or control call. */
  title: string;
  status: number;
  outcome: Node["outcome"];
  step: BundleStep;
}

/**
 * Parses the text of a bundle file.
 * @throws Error for other files
 */
export function parseBundle(text: string): Bundle {
  let document: Partial<Bundle> | null;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error("This file is not a bundle: it is not valid JSON.");
  }
  if (document?.format !== "understudy-bundle" || !Array.isArray(document.steps))
    throw new Error("This file is not a bundle. Create one with “Export bundle” or `understudy bundle`.");
  return document as Bundle;
}

export function bundleRows({ steps }: Bundle): StepRow[] {
  return steps.map((step, place) => {
    const id = String(place + 1);
    if ("control" in step) {
      const { method, path, status, now } = step.control;
      return { id, at: now, title: `${method} ${path}`, status, outcome: "other", step };
    }
    const { method, target, at } = step.request;
    const { status, headers } = step.answer;
    const decision = headers.find(([name]) => /^x-sandbox-decision$/i.test(name!))?.[1] ?? "";
    return {
      id,
      at,
      title: `${method} ${target}`,
      status,
      outcome: toOutcome({ status, decision } as Node["request"], undefined),
      step,
    };
  });
}
