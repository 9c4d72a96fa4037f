import type { JournalEntry } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ActionButton, Dialog, DialogButton } from "../../components/button.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { DifferenceTable, listDifferences } from "../../components/record-changes.tsx";
import { EmptyState, LoadError, Mark } from "../../components/status.tsx";
import { formatTimeOfDay } from "../../components/time.tsx";
import type { Node } from "./nodes.ts";
import { describeNode, toShortTitle } from "./words.ts";

/** The `seq` of pinned entries, in the address. */
export function usePins() {
  const { get, set } = useParameters();
  const pins = get("pin")?.split(".").map(Number) ?? [];
  return {
    pins,
    toggle: (seq: number) =>
      set({ pin: (pins.includes(seq) ? pins.filter((one) => one !== seq) : [...pins, seq]).join(".") }),
  };
}

export function PinnedEntries({ nodes }: { nodes: readonly Node[] }) {
  const { pins, toggle } = usePins();
  const { all } = useParameters();
  const pinnedNodes = pins.flatMap((pin) => nodes.find(({ seq }) => seq === pin) ?? []);
  if (pinnedNodes.length === 0) return null;
  const requests = pinnedNodes.filter(({ request }) => request);
  return (
    <div className="chips pinned" role="group" aria-label="Pinned">
      <span className="quiet small">Pinned</span>
      {pinnedNodes.map((node) => {
        const title = toShortTitle(describeNode(node));
        return (
          <span key={node.seq} className="pin flow">
            <Mark outcome={node.outcome} />
            <ViewLink view="timeline" query={{ ...all, entry: String(node.seq) }}>
              {node.request && (node.request.status || "no response")} {title}
            </ViewLink>
            <ActionButton label="✕" name={`Unpin ${title}`} look="square" onPress={() => toggle(node.seq)} />
          </span>
        );
      })}
      {requests.length === 2 && (
        <DialogButton label="Compare the two …">
          {(close) => <CompareDialog first={requests[0]!} second={requests[1]!} onClose={close} />}
        </DialogButton>
      )}
    </div>
  );
}

function CompareDialog(props: { first: Node; second: Node; onClose: () => void }) {
  const [first, second] = [props.first, props.second].sort((a, b) => a.seq - b.seq) as [Node, Node];
  const [firstTime = "", secondTime = ""] = [first, second].map(({ request }) =>
    formatTimeOfDay(request!.at),
  );
  const { data, error } = useSandboxQuery(
    ["compare entries", first.seq, second.seq],
    async (calls) => {
      const [before, after] = await Promise.all([calls.entry(first.seq), calls.entry(second.seq)]);
      return { before: listParts(before), after: listParts(after) };
    },
    { live: false },
  );
  return (
    <Dialog title="Compare two entries" onClose={props.onClose}>
      <LoadError error={error} />
      {data &&
        (listDifferences(data.before, data.after).length === 0 ? (
          <EmptyState title="No differences" />
        ) : (
          <DifferenceTable {...data} head="Part" words={{ before: firstTime, after: secondTime }} />
        ))}
      <ActionButton label="Close" onPress={props.onClose} />
    </Dialog>
  );
}

/** The parts of an entry by name, such as `request body`, or `response header etag` with all its values. */
function listParts(entry: JournalEntry): Record<string, unknown> {
  const { method, path, operation, principal, status, decision, request, response } = entry;
  const { query } = request;
  const valueByName: Record<string, unknown> = {
    ...{ method, path, query, operation, principal, status, decision },
    ...{ "request body": request.body, "response body": response.body },
  };
  for (const [side, { headers }] of Object.entries({ request, response })) {
    for (const { name, value } of headers) {
      const header = `${side} header ${name.toLowerCase()}`;
      const earlier = valueByName[header];
      valueByName[header] = earlier === undefined ? value : `${earlier}, ${value}`;
    }
  }
  return valueByName;
}
