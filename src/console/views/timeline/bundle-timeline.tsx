import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import type { Bundle } from "../../api/types.ts";
import { counted } from "../../parts/counted.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Message } from "../../parts/exchange.tsx";
import { Badge, Mark } from "../../parts/mark.tsx";
import { Nothing, Notice } from "../../parts/notice.tsx";
import { absolute, timeOfDay } from "../../parts/time.tsx";
import { VirtualRows } from "../../parts/virtual-rows.tsx";
import { type BundleStep, rowsOf, type StepRow } from "./bundle-file.ts";

const ROW_HEIGHT = 34;
const keyOf = ({ id }: StepRow) => id;

export interface OpenedBundle {
  file: string;
  bundle: Bundle;
}

/** What a bundle tells, step by step: for reading. `understudy replay` does it again. */
export function BundleTimeline({ file, bundle, onClose }: OpenedBundle & { onClose: () => void }) {
  const rows = useMemo(() => rowsOf(bundle), [bundle]);
  const [selected, setSelected] = useState<string>();
  const chosen = rows.find(({ id }) => id === selected);
  return (
    <div className="split">
      <div className="timeline">
        <div className="page-head">
          <h1>Bundle</h1>
          <Button className="button" onPress={onClose}>
            Back to the timeline
          </Button>
        </div>
        <Notice outcome="other">
          <b>{file}</b>: what happened in a sandbox {bundle.sandbox}, told by Understudy {bundle.understudy}.
          Its world is {bundle.fixture.name} with seed {bundle.seed}, from {absolute(bundle.clock.start)} on.
          It is shown as it was and touches nothing here; <code>understudy replay</code> does it again.
        </Notice>
        <VirtualRows
          label="Steps of the bundle"
          role="grid"
          rows={rows}
          keyOf={keyOf}
          selected={selected}
          onSelect={({ id }) => setSelected(id)}
          rowHeight={ROW_HEIGHT}
          columns={3}
          draw={(row) => <Step row={row} />}
          classOf={() => "entry-row step-row"}
          empty={<Nothing title="Nothing happened in this bundle." />}
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
          {isControl ? "control call" : status === 0 ? "none" : status}
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
      <Badge outcome={outcome}>{status === 0 ? "no answer" : status}</Badge>
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
        <p className="quiet">It was answered {answered}; a bundle does not keep what with.</p>
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
        title="Answer"
        line={status === 0 ? "None: the client saw no answer." : String(status)}
        headers={namedHeaders(answer.headers)}
        body={
          answer.digest
            ? `${counted(answer.digest.bytes, "byte")}, too many to keep; SHA-256 ${answer.digest.sha256}`
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

/** JSON is laid out; other bytes than text are counted. */
function bodyText(body: Body): unknown {
  if (body === undefined) return undefined;
  if ("latin1" in body) return `${counted(body.latin1.length, "byte")} that are no text`;
  try {
    return JSON.parse(body.text);
  } catch {
    return body.text;
  }
}
