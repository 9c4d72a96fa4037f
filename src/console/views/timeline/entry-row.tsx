import { type CSSProperties, memo } from "react";
import type { RequestLine } from "../../../../types/control-api.ts";
import { CONSOLE_BASE, toAddress, useParameters, useSandboxName } from "../../address.ts";
import { Mark } from "../../components/status.tsx";
import { ClippedPath } from "../../components/text.tsx";
import { formatTimeOfDay } from "../../components/time.tsx";
import type { Node as TimelineNode } from "./nodes.ts";
import {
  describeCaller,
  describeDelay,
  describeKind,
  describeNode,
  formatDuration,
  summarizeChanges,
  toShortTitle,
} from "./words.ts";

const SECONDS_LENGTH = "12:00:05".length;

/** A time with milliseconds, which the style sheet hides in a narrow list. */
export function TimeOfDay({ at }: { at: string }) {
  const time = formatTimeOfDay(at);
  return (
    <>
      {time.slice(0, SECONDS_LENGTH)}
      <span className="entry-ms">{time.slice(SECONDS_LENGTH)}</span>
    </>
  );
}

/** Method, path and query. A long query is cut at its end. */
function RequestText({ request: { method, path, query } }: { request: RequestLine }) {
  return (
    <>
      <span>{method}</span>
      <ClippedPath>{path}</ClippedPath>
      {query && <span className="clip path-query">?{query}</span>}
    </>
  );
}

export const EntryRow = memo(function EntryRow({ row, level }: { row: TimelineNode; level: number }) {
  const { request, entry, outcome, durationMs, seq } = row;
  const { all } = useParameters();
  const address = toAddress(useSandboxName(), "timeline", { ...all, entry: String(seq) });
  const changes = summarizeChanges(row);
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
          <span className="entry-kind quiet">{describeKind(row)}</span>
        )}
        {/* Not a tab stop: the list opens rows by keys and clicks. The link is for other clicks, such as into a new tab. */}
        <a
          href={CONSOLE_BASE + address}
          className={request ? "entry-link mono" : "entry-link"}
          tabIndex={-1}
          draggable={false}
          title={describeNode(row)}
        >
          {request ? (
            <RequestText request={request} />
          ) : (
            <span className="clip">{toShortTitle(describeNode(row))}</span>
          )}
        </a>
      </div>
      <div role="gridcell" className="cell from-medium small quiet">
        {[entry?.undone && "undone", request?.sent_code ?? request?.code, describeDelay(row), changes]
          .filter(Boolean)
          .join(", ")}
      </div>
      <div role="gridcell" className="cell from-wide quiet">
        {request && describeCaller(request)}
      </div>
      <div role="gridcell" className="cell number quiet from-medium">
        {durationMs === undefined ? "" : formatDuration(durationMs)}
      </div>
      <div role="gridcell" className="cell number quiet entry-at">
        <TimeOfDay at={(request ?? entry)!.at} />
      </div>
    </>
  );
});
