import type { JournalEntry } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ActionButton, Dialog, DialogButton } from "../../components/button.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { FieldTable, listDifferingFields } from "../../components/record-changes.tsx";
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
  const { data, error } = useSandboxQuery(
    ["compare entries", first.seq, second.seq],
    async (calls) => {
      const [before, after] = await Promise.all([calls.entry(first.seq), calls.entry(second.seq)]);
      return { before: flatten(before), after: flatten(after) };
    },
    { live: false },
  );
  return (
    <Dialog title="Compare two entries" onClose={props.onClose}>
      <LoadError error={error} />
      {data &&
        (listDifferingFields(data).length === 0 ? (
          <EmptyState title="No differences" />
        ) : (
          <FieldTable {...data} head="Part" words={{ before: nameSide(first), after: nameSide(second) }} />
        ))}
      <ActionButton label="Close" onPress={props.onClose} />
    </Dialog>
  );
}

/** The time of a request: two calls of the same path differ in it. */
function nameSide({ request }: Node): string {
  return formatTimeOfDay(request!.at);
}

/** Every value of an entry by name, such as `request body.name` or `response header etag`. */
function flatten(entry: JournalEntry): Record<string, unknown> {
  const { method, path, operation, principal, status, decision, request, response } = entry;
  const { query } = request;
  const valueByName: Record<string, unknown> = {
    ...{ method, path, query, operation, principal, status, decision },
  };
  for (const [side, { headers, body }] of Object.entries({ request, response })) {
    for (const { name, value } of headers) {
      const header = `${side} header ${name.toLowerCase()}`;
      const earlier = valueByName[header];
      valueByName[header] = earlier === undefined ? value : `${earlier}, ${value}`;
    }
    addValues(valueByName, `${side} body`, body);
  }
  return valueByName;
}

/** Adds null, and empty objects and lists, as values too. */
function addValues(valueByName: Record<string, unknown>, name: string, value: unknown): void {
  const parts = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (parts.length === 0) valueByName[name] = value;
  for (const [key, part] of parts)
    addValues(valueByName, Array.isArray(value) ? `${name}[${key}]` : `${name}.${key}`, part);
}
