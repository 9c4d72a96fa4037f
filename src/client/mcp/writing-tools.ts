import { type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import { buffer } from "node:stream/consumers";
import { cutText } from "../../engine/contract/text.ts";
import { CLOSED_UNANSWERED, toFailure } from "../../hosts/node/outbound/outbound-failure.ts";
import { requireKey } from "../sandbox.ts";
import {
  type Arguments,
  createForwardingTool,
  getSandboxName,
  optional,
  requireAction,
  required,
  SANDBOX,
  send,
  type Tool,
  type ToolTarget,
  text,
} from "./tool.ts";

const MAX_BODY_CHARS = 50_000;

/** The tools that change something (interfaces.md 13). */
export const WRITING_TOOLS: readonly Tool[] = [
  createForwardingTool("sandboxes.create", {
    name: "create_sandbox",
    title: "Create a sandbox",
    description:
      "Creates a sandbox with its own world, with the given fixture, seed, clock, scenarios and settings.",
  }),
  createForwardingTool("sandboxes.reset", {
    name: "reset_sandbox",
    title: "Reset a sandbox",
    description: "Resets data, clock, journal and history to the initial state. Settings and snapshots stay.",
    destroys: true,
    repeatable: true,
  }),
  {
    name: "call_api",
    title: "Call the emulated API",
    description:
      "Sends a request to the emulated API of a sandbox, as a user of its fixture (`as`) or with headers of your own, and returns status, headers and body of the answer.",
    destroys: true,
    fields: () => ({
      ...SANDBOX,
      method: required(text("Such as GET")),
      path: required(text("From /v1, /v2 or /webhooks on, with its query: /v1/models")),
      as: optional(text("A user id, such as usr_dan, with whose API key the request is sent")),
      headers: optional({
        type: "object",
        description: "By their names",
        additionalProperties: { type: "string" },
      }),
      body: optional({ description: "A text as it is, anything else as JSON" }),
    }),
    run: callApi,
  },
  {
    name: "change_state",
    title: "Change state",
    description:
      "Creates, updates or deletes a record of a collection, with the events and audit entries of a real change unless silent.",
    destroys: true,
    fields: () => ({
      ...SANDBOX,
      action: required({ enum: ["create", "update", "delete"] }),
      collection: required(text("Such as threads")),
      id: optional(text("Of the record; for update and delete")),
      record: optional({ type: "object", description: "Its fields; for create and update" }),
      silent: optional({ type: "boolean", description: "No events and no audit entries" }),
      actor: optional(text("The id of the user who makes the change")),
    }),
    run: changeState,
  },
  {
    name: "arm_fault",
    title: "Arm a fault",
    description:
      "Arms an inline rule: which requests or deliveries it matches, how often, and its effect. With remove: removes one rule, or all of them.",
    fields: (api) => ({
      ...SANDBOX,
      ...api.getCall("faults.add").fields,
      remove: optional(text("The id of a rule to remove, or `all`; instead of a rule")),
    }),
    run: armFault,
  },
  createForwardingTool("clock.advance", {
    name: "advance_clock",
    title: "Advance the clock",
    description:
      "Advances a sandbox's clock, in any mode, and reports what became due and ran. Takes one of by, to and next.",
  }),
  createForwardingTool("events.trigger", {
    name: "trigger_event",
    title: "Trigger an event",
    description: "Sends a webhook event as a real change would, and waits for the first attempts.",
  }),
  {
    name: "save_or_restore",
    title: "Save or restore a snapshot",
    description:
      "Saves a sandbox's whole state under a name, or restores it. Settings, scenarios and journal stay.",
    destroys: true,
    fields: () => ({
      ...SANDBOX,
      action: required({ enum: ["save", "restore"] }),
      snapshot: required(text("Its name")),
    }),
    run: (target, { action, snapshot, ...args }) =>
      runAction("save_or_restore", action, {
        save: () => send(target, "snapshots.save", { ...args, name: snapshot }),
        restore: () => send(target, "snapshots.restore", { ...args, snap: snapshot }),
      }),
  },
  createForwardingTool("held.release", {
    name: "release_held",
    title: "Release what is held",
    description:
      "Lets a held request or delivery continue, or answers it with answer, error or wire instead.",
  }),
  createForwardingTool("history.rewind", {
    name: "rewind",
    title: "Rewind",
    description:
      "Rewinds a sandbox's world to before or after an entry of its history. The undone entries can be restored by another rewind.",
    destroys: true,
    repeatable: true,
  }),
];

async function callApi({ client }: ToolTarget, args: Arguments): Promise<unknown> {
  const { method, path, as, body } = args;
  const route = String(path);
  if (!/^\/(?![/_])/.test(route))
    throw new Error(
      "path is one of the emulated API, such as /v1/models; the argument sandbox names the sandbox",
    );
  const sandbox = await client.open(getSandboxName(args));
  const headers = new Headers(args["headers"] as Record<string, string> | undefined);
  if (as !== undefined) headers.set("api-key", requireKey(sandbox.credentials, String(as)));
  if (body !== undefined && !headers.has("content-type"))
    headers.set("content-type", typeof body === "string" ? "text/plain" : "application/json");
  const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  if (sent !== undefined) headers.set("content-length", String(Buffer.byteLength(sent)));
  const { url, host } = client.http;
  if (host !== undefined && !headers.has("host")) headers.set("host", host);
  // The server may not reach itself at the agent's address.
  const base = host === undefined ? sandbox.url : `${url}/_s/${sandbox.name}`;
  // `fetch` would replace the Host.
  const outgoing = (base.startsWith("https:") ? requestTls : request)(base + route, {
    method: String(method).toUpperCase(),
    headers: Object.fromEntries(headers),
    // A request that is not valid, which is allowed here, would break the next one of its connection.
    agent: false,
  });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject);
      outgoing.once("close", () => reject(new Error(CLOSED_UNANSWERED)));
      outgoing.end(sent);
    });
    return { status: answer.statusCode, headers: answer.headers, ...(await readBody(answer)) };
  } catch (error) {
    throw new Error(`the request got no whole answer: ${toFailure(error).error.message}`);
  }
}

/** JSON as a value, text as text; a description of anything else. */
async function readBody(answer: IncomingMessage): Promise<object> {
  const bytes = await buffer(answer).catch(() => {
    throw new Error("the connection was closed before the end of the body");
  });
  const type = answer.headers["content-type"] ?? "";
  if (bytes.length === 0) return {};
  if (!/json|text|xml|csv/i.test(type))
    return { body: `${bytes.length} bytes of ${type || "an unknown type"}` };
  const text = bytes.toString("utf8");
  if (text.length > MAX_BODY_CHARS)
    return {
      body: cutText(text, MAX_BODY_CHARS),
      cut: `the first ${MAX_BODY_CHARS} of ${text.length} characters`,
    };
  try {
    return { body: /json/i.test(type) ? JSON.parse(text) : text };
  } catch {
    return { body: text };
  }
}

function changeState(target: ToolTarget, args: Arguments): Promise<unknown> {
  const { action, id, record = {} } = args;
  if (id === undefined && (action === "update" || action === "delete"))
    throw new Error(`change_state needs the argument id to ${action} a record`);
  return runAction("change_state", action, {
    create: () =>
      send(target, "state.create", args, { ...(id === undefined ? {} : { id }), ...(record as object) }),
    update: () => send(target, "state.update", args, record),
    delete: async () => (await send(target, "state.delete", args)) ?? { deleted: id },
  });
}

async function armFault(target: ToolTarget, { remove, ...args }: Arguments): Promise<unknown> {
  if (remove === undefined) return send(target, "faults.add", args);
  await (remove === "all"
    ? send(target, "faults.clear", args)
    : send(target, "faults.remove", { ...args, id: remove }));
  return send(target, "faults.list", { sandbox: getSandboxName(args) });
}

function runAction(
  tool: string,
  action: unknown,
  actions: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<unknown> {
  requireAction(tool, action, Object.keys(actions));
  return actions[action as string]!();
}
