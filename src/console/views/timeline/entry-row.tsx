import { type CSSProperties, memo } from "react";
import { Mark } from "../../components/mark.tsx";
import { timeOfDay } from "../../components/time.tsx";
import type { Node } from "./nodes.ts";
import { changeSummary, describeDelay, formatWait, nodeKind, nodeTitle, shortTitle } from "./words.ts";

/** Length of a time of day without milliseconds. */
const SECONDS = "12:00:05".length;

export const EntryRow = memo(function EntryRow({ row }: { row: Node }) {
  const { request, entry, outcome, level, wait } = row;
  const changes = changeSummary(row);
  const at = timeOfDay((request ?? entry)!.at);
  return (
    <>
      <div role="gridcell" className="cell entry-what" style={{ "--level": level } as CSSProperties}>
        {level > 0 && (
          <span className="quiet" aria-hidden="true">
            ↳
          </span>
        )}
        <Mark outcome={outcome} />
        {request ? (
          <span className="entry-status">{request.status === 0 ? "no response" : request.status}</span>
        ) : (
          <span className="entry-kind quiet">{nodeKind(row)}</span>
        )}
        <span className={request ? "clip mono" : "clip"}>{shortTitle(nodeTitle(row))}</span>
      </div>
      <div role="gridcell" className="cell entry-changes from-medium small quiet">
        {[entry?.undone && "undone", request?.code, describeDelay(row), changes].filter(Boolean).join(", ")}
      </div>
      <div role="gridcell" className="cell from-wide quiet">
        {request ? (request.principal ?? "anonymous") : ""}
      </div>
      <div role="gridcell" className="cell number quiet from-medium">
        {wait === undefined ? "" : formatWait(wait)}
      </div>
      <div role="gridcell" className="cell number quiet entry-at">
        {at.slice(0, SECONDS)}
        <span className="entry-ms">{at.slice(SECONDS)}</span>
      </div>
    </>
  );
});
