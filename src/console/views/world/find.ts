import { addressOf } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { counted } from "../../parts/counted.ts";
import type { FindCommands } from "../view.ts";

const MAX_FOUND = 20;

/** Collections, and records by what their id begins with. */
export const find: FindCommands = async (typed, sandbox) => {
  const calls = sandboxCalls(sandbox);
  const { items } = await calls.collections();
  const collections = items.map(({ name, records }) => ({
    id: `collection ${name}`,
    group: "Collections",
    title: name,
    detail: counted(records, "record"),
    to: addressOf(sandbox, "world", { collection: name }),
  }));
  const word = typed.trim();
  const of = items.find(({ prefix }) => prefix !== "" && word.startsWith(prefix));
  if (of === undefined) return collections;
  const records = await calls.records(of.name);
  const found = records.items
    .map((record) => String((record as unknown as Record<string, unknown>)[of.id_field]))
    .filter((id) => id.startsWith(word))
    .slice(0, MAX_FOUND);
  return [
    ...collections,
    ...found.map((id) => ({
      id: `record ${id}`,
      group: "Records",
      title: id,
      detail: of.name,
      to: addressOf(sandbox, "world", { collection: of.name, record: id }),
    })),
  ];
};
