import { memo } from "react";
import { Mark } from "../../parts/mark.tsx";
import { timeOfDay } from "../../parts/time.tsx";
import type { Node } from "./nodes.ts";
import { changesOf, kindOf, shortTitleOf, waitWords } from "./words.ts";

const MAX_LEVEL = 6;
/** Of a time of day, as long as it is without milliseconds. */
const SECONDS = "12:00:05".length;

/** One line: how it went, what it was, what it changed, who, how long the answer took, and when. */
export const EntryRow = memo(function EntryRow({ row, wait }: { row: Node; wait: number | undefined }) {
  const { request, entry, outcome, level } = row;
  const changes = changesOf(row);
  const at = timeOfDay((request ?? entry)!.at);
  return (
    <>
      <div role="gridcell" className={`cell entry-what level-${Math.min(level, MAX_LEVEL)}`}>
        <Mark outcome={outcome} />
        {request ? (
          <span className="entry-status">{request.status === 0 ? "none" : request.status}</span>
        ) : (
          <span className="entry-kind quiet">{kindOf(row)}</span>
        )}
        <span className={request ? "clip mono" : "clip"}>{shortTitleOf(row)}</span>
      </div>
      <div role="gridcell" className="cell entry-changes from-medium small quiet">
        {request?.code && <span className="entry-code">{request.code}</span>}
        {entry?.undone ? "undone" : ""} {changes}
      </div>
      <div role="gridcell" className="cell from-wide quiet">
        {request ? (request.principal ?? "nobody") : ""}
      </div>
      <div role="gridcell" className="cell number quiet from-medium">
        {wait === undefined ? "" : waitWords(wait)}
      </div>
      <div role="gridcell" className="cell number quiet entry-at">
        {at.slice(0, SECONDS)}
        <span className="entry-ms">{at.slice(SECONDS)}</span>
      </div>
    </>
  );
});
