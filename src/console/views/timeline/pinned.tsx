import type { JournalEntry } from "../../../../types/control-api.ts";
import { toAddress, useParameters, useSandboxName } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { Dialog, DialogButton } from "../../components/dialog.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Mark } from "../../components/mark.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { findNode, type Node } from "./nodes.ts";
import { describeNode, toShortTitle } from "./words.ts";

/** The `seq` of pinned entries, in the address. */
export function usePins() {
  const { get, set } = useParameters();
  const pins = get("pin")?.split(".") ?? [];
  return {
    pins,
    toggle: (seq: string) =>
      set({ pin: (pins.includes(seq) ? pins.filter((one) => one !== seq) : [...pins, seq]).join(".") }),
  };
}

/** Links to the pinned entries; two of them can be compared. */
export function PinnedEntries({ nodes }: { nodes: readonly Node[] }) {
  const { pins, toggle } = usePins();
  const { get } = useParameters();
  if (pins.length === 0) return null;
  const pinnedNodes = pins.map((pin) => findNode(nodes, pin)).filter((node) => node !== undefined);
  const requests = pinnedNodes.filter(({ request }) => request);
  return (
    <div className="chips pinned" role="group" aria-label="Pinned">
      <span className="quiet small">Pinned</span>
      {pinnedNodes.map((node) => {
        const title = toShortTitle(describeNode(node));
        return (
          <span key={node.seq} className="pin flow">
            <ViewLink view="timeline" query={{ ...pickKeptParameters(get), entry: String(node.seq) }}>
              <Mark outcome={node.outcome} /> {node.request && (node.request.status || "no response")} {title}
            </ViewLink>
            <ActionButton
              label="✕"
              name={`Unpin ${title}`}
              look="square"
              onPress={() => toggle(String(node.seq))}
            />
          </span>
        );
      })}
      {requests.length === 2 && (
        <DialogButton label="Compare the two">
          {(close) => <CompareDialog first={requests[0]!} second={requests[1]!} onClose={close} />}
        </DialogButton>
      )}
    </div>
  );
}

const KEPT_PARAMETERS = ["find", "show", "order", "pin", "from", "to"] as const;

function pickKeptParameters(get: (name: string) => string | undefined) {
  return Object.fromEntries(KEPT_PARAMETERS.map((name) => [name, get(name)]));
}

/** Address of an entry that keeps the filters. */
export function useEntryAddress(seq: number): string {
  const { get } = useParameters();
  return toAddress(useSandboxName(), "timeline", { ...pickKeptParameters(get), entry: String(seq) });
}

function CompareDialog(props: { first: Node; second: Node; onClose: () => void }) {
  const [first, second] = [props.first, props.second].sort((a, b) => a.seq - b.seq) as [Node, Node];
  const { data, error } = useSandboxQuery(
    ["compare entries", first.seq, second.seq],
    (calls) => Promise.all([calls.entry(first.seq), calls.entry(second.seq)]),
    { live: false },
  );
  const differences = data && listDifferences(data[0], data[1]);
  return (
    <Dialog title="Compare two entries" onClose={props.onClose}>
      <LoadError error={error} />
      {differences?.length === 0 && <EmptyState title="No differences" />}
      {differences && differences.length > 0 && (
        <table className="fields two-sides">
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Entry {first.seq}</th>
              <th scope="col">Entry {second.seq}</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ what, before, after }) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td className="was" data-side={`Entry ${first.seq}`}>
                  {before}
                </td>
                <td className="is" data-side={`Entry ${second.seq}`}>
                  {after}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <ActionButton label="Close" onPress={props.onClose} />
    </Dialog>
  );
}

interface EntryDifference {
  /** Such as `request body.name` or `response header etag`. */
  what: string;
  before: string;
  after: string;
}

/** Every value of two entries that differs, bodies field by field. */
function listDifferences(first: JournalEntry, second: JournalEntry): EntryDifference[] {
  const [before, after] = [flatten(first), flatten(second)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((what) => ({ what, before: before.get(what) ?? "", after: after.get(what) ?? "" }));
}

function flatten(entry: JournalEntry): Map<string, string> {
  const { method, path, operation, principal, status, code, decision, request, response } = entry;
  const valueByName = new Map<string, string>();
  addValues(valueByName, "", {
    method,
    path,
    query: request.query,
    operation,
    principal,
    status,
    code,
    decision,
  });
  for (const [side, { headers, body }] of Object.entries({ request, response })) {
    for (const { name, value } of headers)
      addValues(valueByName, `${side} header ${name.toLowerCase()}`, value);
    addValues(valueByName, `${side} body`, body);
  }
  return valueByName;
}

function addValues(valueByName: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined || value === "") return;
  if (typeof value !== "object") return void valueByName.set(name, String(value));
  for (const [key, one] of Object.entries(value)) {
    const below = Array.isArray(value) ? `${name}[${key}]` : name === "" ? key : `${name}.${key}`;
    addValues(valueByName, below, one);
  }
}
