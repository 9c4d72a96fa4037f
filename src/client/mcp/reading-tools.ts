import type { JsonSchema } from "../../engine/contract/schema.ts";
import type { CoverageMatrix } from "../types.ts";
import {
  type Arguments,
  createForwardingTool,
  getSandboxName,
  type OpenApi,
  optional,
  required,
  SANDBOX,
  send,
  type Tool,
  type ToolTarget,
  text,
} from "./tool.ts";

const DEFAULT_LIMIT = 20;

const TOOLS: readonly Tool[] = [
  createForwardingTool("sandboxes.list", {
    name: "list_sandboxes",
    title: "List sandboxes",
    description:
      "All sandboxes of the server with base URL, fixture, seed, clock, active scenarios and record counts.",
  }),
  {
    name: "describe_operation",
    title: "Describe an operation",
    description:
      "An operation of the emulated API, or one of the sandbox's own, by its id: method, path, parameters, body and documented answers, with the schemas that they refer to. Without an id: the ids of all.",
    fields: () => ({ ...SANDBOX, operation: optional(text("Such as departments.reparent")) }),
    run: describeOperation,
  },
  createForwardingTool("faults.explain", {
    name: "explain_request",
    title: "Explain a request",
    description:
      "What would happen to a request, without sending or counting it: the outcome of each step, and for each rule whether it would trigger and why.",
  }),
  createForwardingTool("journal.list", {
    name: "list_journal",
    title: "List the journal",
    description: `Requests that reached a sandbox, newest first, each with the reasons for its answer. ${DEFAULT_LIMIT} unless limit says otherwise.`,
    defaults: { limit: DEFAULT_LIMIT },
  }),
  createForwardingTool("deliveries.list", {
    name: "list_deliveries",
    title: "List deliveries",
    description: `Deliveries to webhooks, newest first, with the reasons of failures and of inactive webhooks; with an id one delivery, with each attempt and its bytes. ${DEFAULT_LIMIT} unless limit says otherwise.`,
    defaults: { limit: DEFAULT_LIMIT },
    itemCall: "deliveries.show",
  }),
  createForwardingTool("history.list", {
    name: "list_history",
    title: "List the history",
    description: `Changes of a sandbox's world, newest first, each with its cause. ${DEFAULT_LIMIT} unless limit says otherwise.`,
    defaults: { limit: DEFAULT_LIMIT },
  }),
  createForwardingTool("journal.verify", {
    name: "verify_requests",
    title: "Verify requests",
    description:
      "Whether a sandbox received the expected requests, as often as expected; if not, the nearest requests and their differences.",
  }),
  createForwardingTool("clock.pending", {
    name: "list_pending",
    title: "List what is pending",
    description: "Pending work of a sandbox that becomes due as its clock advances: retries, jobs, expiries.",
  }),
  createForwardingTool("held.list", {
    name: "list_held",
    title: "List what is held",
    description: "Requests and deliveries that a rule with the effect `hold` keeps waiting, oldest first.",
  }),
  {
    name: "diff_snapshots",
    title: "Compare snapshots",
    description: "What was added, removed and changed between two snapshots of a sandbox, by collection.",
    fields: () => ({
      ...SANDBOX,
      before: required(text("A snapshot's name")),
      after: optional(text("Another snapshot; by default `now`, the current state")),
    }),
    run: (target, { before, after = "now", ...args }) =>
      send(target, "snapshots.diff", { ...args, a: before, b: after }),
  },
  {
    name: "coverage",
    title: "Coverage",
    description:
      "Which documented outcomes a sandbox has answered (with `all`: every sandbox, including deleted ones): a percentage, and the missing outcomes of each operation.",
    fields: () => ({
      ...SANDBOX,
      operation: optional(text("Only of this operation")),
      all: optional({ type: "boolean", description: "Of all sandboxes, including deleted ones" }),
    }),
    run: readCoverage,
  },
  {
    name: "make_bundle",
    title: "Make a bundle",
    description:
      "World, requests and answers of a sandbox as one document for `understudy replay`; a long one is not included, but the result says how to fetch it.",
    fields: () => SANDBOX,
    run: makeBundle,
  },
];

/** The tools that change nothing (interfaces.md 13). */
export const READING_TOOLS = TOOLS.map((tool) => ({ ...tool, reads: true }));

async function describeOperation(target: ToolTarget, { operation, ...args }: Arguments): Promise<unknown> {
  const document = (await send(target, "operations.document", args)) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== undefined)
      .map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  );
  const ids = operations.map(({ described }) => described.operationId!).sort();
  if (operation === undefined) return { operations: ids };
  const match = operations.find(({ described }) => described.operationId === operation);
  if (match === undefined)
    throw new Error(`there is no operation ${JSON.stringify(operation)}; there are ${ids.join(", ")}`);
  const { described, ...place } = match;
  return { ...place, ...described, components: collectComponents(described, document) };
}

/** The components that a part of the document leads to, by their paths. */
function collectComponents(part: unknown, { components }: OpenApi): Record<string, JsonSchema> {
  const byPath: Record<string, JsonSchema> = {};
  const follow = (value: unknown) => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const key = `#/components/${kind}/${name}`;
      const component = components[kind!]?.[name!];
      if (component === undefined || byPath[key] !== undefined) continue;
      byPath[key] = component;
      follow(component);
    }
  };
  follow(part);
  return byPath;
}

async function readCoverage(target: ToolTarget, { operation, all, ...args }: Arguments): Promise<unknown> {
  const call = String(all) === "true" ? "coverage.show_all" : "coverage.show";
  const { operations, ...sum } = (await send(target, call, args)) as CoverageMatrix;
  const matches = operations.filter((one) => operation === undefined || one.operation === operation);
  if (matches.length === 0)
    throw new Error(`there is no operation ${JSON.stringify(operation)}; describe_operation lists them`);
  return {
    ...sum,
    operations: matches.map(({ operation: id, percent, outcomes }) => ({
      operation: id,
      percent,
      seen: outcomes.filter(({ hits }) => hits > 0).map(({ code, status }) => code ?? status),
      missing: outcomes.filter(({ hits }) => hits === 0).map(({ code, status }) => code ?? status),
    })),
  };
}

/** A truncated bundle could not be replayed. */
const MAX_BUNDLE_CHARS = 80_000;

async function makeBundle(target: ToolTarget, args: Arguments): Promise<unknown> {
  const bundle = await send(target, "bundle.make", args);
  const { length } = JSON.stringify(bundle);
  if (length <= MAX_BUNDLE_CHARS) return { bundle };
  const { url, http } = target.client;
  const name = getSandboxName(args);
  const isOpen = http.token === undefined;
  return {
    characters: length,
    fetch: `understudy bundle bug.json --url ${url} --sandbox ${name}${isOpen ? "" : " --token TOKEN"}`,
    or: `curl -X POST ${isOpen ? "" : "-H 'authorization: Bearer TOKEN' "}${url}/_control/sandboxes/${name}/bundle > bug.json`,
  };
}
