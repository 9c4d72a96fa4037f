import { addressOf } from "../../address.ts";
import type { FindCommands } from "../view.ts";
import { keeperOf } from "./filter.ts";
import { type Node, nodesOf } from "./nodes.ts";
import { titleOf } from "./words.ts";

const MAX_FOUND = 20;
/** Less fits too many. */
const MIN_TYPED = 3;

/** What happened, by whatever the timeline finds it by; newest first. */
export const find: FindCommands = async (typed, sandbox, story) => {
  const text = typed.trim();
  if (text.length < MIN_TYPED) return [];
  const nodes = nodesOf(story);
  const keep = keeperOf({ text, outcomes: new Set(), from: undefined, to: undefined }, nodes);
  const found: Node[] = [];
  for (let at = nodes.length - 1; at >= 0 && found.length < MAX_FOUND; at -= 1)
    if (keep(nodes[at]!)) found.push(nodes[at]!);
  return found.map((node) => ({
    id: `entry ${node.id}`,
    group: "Timeline",
    title: titleOf(node),
    detail: detailOf(node),
    to: addressOf(sandbox, "timeline", { entry: node.id }),
  }));
};

function detailOf({ id, request, entry }: Node): string {
  const { status, code, operation, principal } = request ?? {};
  return [status === 0 ? "no answer" : status, code, operation, principal, entry?.subject, id]
    .filter(Boolean)
    .join(" ");
}
