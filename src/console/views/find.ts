import type { AdvanceTo, ClockChange } from "../../../types/control-api.ts";
import { type Parameters, toAddress } from "../address.ts";
import { createSandboxCalls, server } from "../api/calls.ts";
import { undoEntry } from "../api/undo.ts";
import { showConfirmation } from "../components/confirmations.tsx";
import { pluralize } from "../components/text.tsx";
import { formatAbsolute, formatClock } from "../components/time.tsx";
import { switchScenario } from "./faults/switch-scenario.tsx";
import type { Command, FindCommands } from "./index.ts";
import { createFilter } from "./timeline/filter.ts";
import { buildNodes, type Node } from "./timeline/nodes.ts";
import { describeNode } from "./timeline/words.ts";

const MAX_RESULTS = 20;
/** Records that contain the text, of which those are shown whose id begins with it. */
const MAX_SEARCHED = 1000;
/** Shorter texts match too many entries. */
const MIN_TYPED = 3;

/** Collections, and records whose id starts with the text. */
const findRecords: FindCommands = async (typed, sandbox) => {
  const calls = createSandboxCalls(sandbox);
  const { items } = await calls.collections();
  const collections = items.map(({ name, records }) => ({
    id: `collection ${name}`,
    group: "Collections",
    title: name,
    detail: pluralize(records, "record"),
    to: toAddress(sandbox, "world", { collection: name }),
  }));
  const word = typed.trim();
  const collection = items.find(({ prefix }) => prefix !== "" && word.startsWith(prefix));
  if (collection === undefined) return collections;
  const records = await calls.records(collection.name, { contains: word, limit: MAX_SEARCHED });
  const ids = records.items
    .map((record) => String((record as unknown as Record<string, unknown>)[collection.id_field]))
    .filter((id) => id.startsWith(word))
    .slice(0, MAX_RESULTS);
  return [
    ...collections,
    ...ids.map((id) => ({
      id: `record ${id}`,
      group: "Records",
      title: id,
      detail: collection.name,
      to: toAddress(sandbox, "world", { collection: collection.name, record: id }),
    })),
  ];
};

const findOperations: FindCommands = async (_typed, sandbox) => {
  const { operations } = await createSandboxCalls(sandbox).coverage();
  return operations.map(({ operation, method, path }) => ({
    id: `operation ${operation}`,
    group: "Operations",
    title: operation,
    detail: `${method} ${path}`,
    to: toAddress(sandbox, "api", { operation }),
  }));
};

/** Entries that the timeline's filter finds, newest first. */
const findEntries: FindCommands = async (typed, sandbox, timeline) => {
  const text = typed.trim();
  if (text.length < MIN_TYPED) return [];
  const matches = createFilter({ text, outcomes: new Set(), from: undefined, to: undefined });
  const matchingNodes = buildNodes(timeline).filter(matches).slice(-MAX_RESULTS);
  return matchingNodes.reverse().map((node) => ({
    id: `entry ${node.seq}`,
    group: "Timeline",
    title: describeNode(node),
    detail: describeEntry(node),
    to: toAddress(sandbox, "timeline", { entry: String(node.seq) }),
  }));
};

function describeEntry({ request, entry }: Node): string {
  const { status, code, sent_code = code, operation, principal } = request ?? {};
  const answer = status === 0 ? "no response" : status;
  const id = request?.id ?? entry?.id;
  return [answer, sent_code, operation, principal, entry?.subject, id].filter(Boolean).join(" ");
}

const findSandboxes: FindCommands = async (_typed, sandbox) => {
  const { items } = await server.sandboxes();
  return items
    .filter(({ name }) => name !== sandbox)
    .map(({ name, fixture, clock }) => ({
      id: `sandbox ${name}`,
      group: "Sandboxes",
      title: name,
      detail: `${fixture}, ${formatClock(clock)}`,
      to: toAddress(name, "timeline"),
    }));
};

const findActions: FindCommands = async (_typed, sandbox) => {
  const entryIds: string[] = [];
  const calls = createSandboxCalls(sandbox, (id) => entryIds.push(id));
  const createAction = (title: string, detail: string, more: Pick<Command, "to" | "run">): Command => ({
    id: `action ${title}`,
    group: "Actions",
    title,
    detail,
    ...more,
  });
  const createLink = (title: string, view: string, parameters: Parameters) =>
    createAction(title, view, { to: toAddress(sandbox, view, parameters) });
  const createClockChange = (title: string, to: AdvanceTo | ClockChange) =>
    createAction(title, "clock", {
      run: async () => {
        const { now, ran } = await ("mode" in to ? calls.setClock(to) : calls.advance(to));
        const [entryId] = entryIds.splice(0);
        showConfirmation({
          text: `Now ${formatAbsolute(now)}. ${pluralize(ran.length, "timer")} ran.`,
          undo: entryId ? () => undoEntry(calls, entryId) : undefined,
        });
      },
    });
  return [
    createLink("Create key", "keys", { make: "key" }),
    createLink("New rule", "faults", { compose: "*" }),
    createLink("Explain a call", "faults", { explain: "models.list" }),
    createLink("Create sandbox", "sandboxes", { make: "sandbox" }),
    createLink("Reset or fork this sandbox", "sandboxes", { sandbox }),
    createLink("Register webhook", "webhooks", { show: "webhooks", register: "new" }),
    createLink("Trigger event", "webhooks", { show: "trigger" }),
    createLink("Take snapshot", "world", { show: "snapshots" }),
    createClockChange("Advance to the next timer", { next: true }),
    createClockChange("Advance by 5 min", { by: "5m" }),
    createClockChange("Advance by 1 day", { by: "1d" }),
    createClockChange("Freeze", { mode: "frozen" }),
    createClockChange("Run", { mode: "scaled", rate: 1 }),
    createClockChange("Run ×60", { mode: "scaled", rate: 60 }),
    createClockChange("Follow real time", { mode: "real" }),
  ];
};

const findScenarios: FindCommands = async (_typed, sandbox) => {
  const calls = createSandboxCalls(sandbox);
  const { items } = await calls.scenarios();
  const switchTo = (name: string, on: boolean) => switchScenario(calls, { name, on });
  return items
    .filter(({ problem }) => problem === undefined)
    .map(({ name, description, active }) => ({
      id: `scenario ${name}`,
      group: "Scenarios",
      title: `${active ? "Deactivate" : "Activate"} ${name}`,
      detail: description,
      run: async () => {
        await switchTo(name, !active);
        showConfirmation({
          text: `${active ? "Deactivated" : "Activated"} ${name}.`,
          undo: () => switchTo(name, active),
        });
      },
    }));
};

/** Scenarios are last: Enter runs the first result, and a text such as "thread" is in the description of one. */
export const FINDERS: readonly FindCommands[] = [
  findActions,
  findRecords,
  findOperations,
  findEntries,
  findSandboxes,
  findScenarios,
];
