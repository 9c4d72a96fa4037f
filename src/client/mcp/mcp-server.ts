import {
  fromJsonSchema,
  type jsonSchemaValidator,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { CATALOGUE } from "../../engine/contract/errors.ts";
import type { JsonSchema } from "../../engine/contract/schema.ts";
import { cutText } from "../../engine/contract/text.ts";
import { mapValues } from "../../engine/maps.ts";
import type { UnderstudyClient } from "../connect.ts";
import { ControlError } from "../http.ts";
import { isObject } from "../options.ts";
import { CLIENT_TEST_TOOL } from "./client-test-tool.ts";
import { READING_TOOLS } from "./reading-tools.ts";
import { type Arguments, ControlApi, type Tool, type ToolFields, type ToolTarget } from "./tool.ts";
import { WRITING_TOOLS } from "./writing-tools.ts";

export const TOOLS: readonly Tool[] = [...READING_TOOLS, ...WRITING_TOOLS, CLIENT_TEST_TOOL];

/** A longer answer does not help a model, which can narrow its question. */
const MAX_RESULT_CHARS = 100_000;

/** @throws UnreachableError if no server answers, ControlError if it asks for a token */
export async function loadTarget(client: UnderstudyClient): Promise<ToolTarget> {
  return { client, api: await ControlApi.load(client.http) };
}

/** Creates the tools, resources and prompts for one server, over either transport (interfaces.md 13). */
export function createMcpServer(target: ToolTarget, version: string): McpServer {
  const server = new McpServer(
    { name: "understudy-sandbox", title: "Understudy", version },
    {
      instructions:
        "A local mock server for the AI platform's HTTP API. Work in a sandbox of your own (create_sandbox), send requests with call_api, ask list_journal and explain_request why an answer was given.",
    },
  );
  for (const tool of TOOLS) addTool(server, tool, target);
  addResources(server, target.client);
  addPrompts(server);
  return server;
}

function addTool(server: McpServer, tool: Tool, target: ToolTarget): void {
  const { name, title, description, reads = false, destroys = false, repeatable = reads } = tool;
  const fields = tool.fields(target.api);
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: fromJsonSchema<Arguments>(toSchema(fields), ACCEPT_ALL),
      annotations: {
        readOnlyHint: reads,
        destructiveHint: destroys,
        idempotentHint: repeatable,
        openWorldHint: false,
      },
    },
    async (args: Arguments) => {
      try {
        requireValidArguments(name, fields, args);
        return toContent(await tool.run(target, args));
      } catch (error) {
        return { isError: true, content: [{ type: "text" as const, text: describeError(error) }] };
      }
    },
  );
}

function toSchema(fields: ToolFields): JsonSchema & { type: "object" } {
  return {
    type: "object",
    properties: mapValues(fields, ({ schema }) => schema),
    required: Object.keys(fields).filter((name) => fields[name]!.required),
    additionalProperties: false,
  };
}

/** Accepts all arguments here: the control API refuses wrong ones, with better messages. */
const ACCEPT_ALL: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

/** Values by the type in their schema; the control API checks those of other types. */
const CHECKED_KINDS: Readonly<Record<string, { noun: string; fits: (value: unknown) => boolean }>> = {
  string: { noun: "a text", fits: (value) => typeof value === "string" },
  object: { noun: "a map", fits: isObject },
  array: { noun: "a list", fits: Array.isArray },
};

/** @throws Error if an argument does not exist, is missing, or has another type */
function requireValidArguments(tool: string, fields: ToolFields, args: Arguments): void {
  const names = Object.keys(fields);
  const argumentsText = names.length === 0 ? "it takes none" : `its arguments are ${names.join(", ")}`;
  for (const name of Object.keys(args)) {
    if (!names.includes(name))
      throw new Error(`${tool} has no argument ${JSON.stringify(name)}; ${argumentsText}`);
  }
  const missing = names.filter((name) => fields[name]!.required && args[name] === undefined);
  if (missing.length > 0)
    throw new Error(`${tool} needs the argument ${missing.join(" and ")}; ${argumentsText}`);
  for (const [name, value] of Object.entries(args)) {
    const kind = CHECKED_KINDS[String(fields[name]!.schema.type)];
    if (value === undefined || kind === undefined || kind.fits(value)) continue;
    throw new Error(`${tool} takes ${name} as ${kind.noun}, not ${cutText(JSON.stringify(value), 100)}`);
  }
}

/** @param value absent for a call that answers nothing, such as the release of a held request */
function toContent(value: unknown = {}) {
  const structuredContent = (Array.isArray(value) ? { items: value } : value) as Record<string, unknown>;
  const text = JSON.stringify(structuredContent);
  if (text.length <= MAX_RESULT_CHARS)
    return { content: [{ type: "text" as const, text }], structuredContent };
  const truncationNote = `\n… the first ${MAX_RESULT_CHARS} of ${text.length} characters; ask for less, by a filter or a limit`;
  return { content: [{ type: "text" as const, text: cutText(text, MAX_RESULT_CHARS) + truncationNote }] };
}

/** The server's message, with its problem document for the details. */
function describeError(error: unknown): string {
  const { message } = error as Error;
  return error instanceof ControlError ? `${message}\n${JSON.stringify(error.problem)}` : message;
}

const JSON_TYPE = "application/json";

/** Adds resources that a model can read before it calls a tool (interfaces.md 13). */
function addResources(server: McpServer, { http }: UnderstudyClient): void {
  const createReader = (find: (uri: URL) => string | Promise<string>) => async (uri: URL) => ({
    contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: await find(uri) }],
  });
  const add = (name: string, title: string, find: () => string | Promise<string>) =>
    server.registerResource(name, `understudy://${name}`, { title, mimeType: JSON_TYPE }, createReader(find));
  add("openapi.json", "The emulated API, OpenAPI 3.1", () => http.fetchText("/_control/openapi.json"));
  add("control-api.json", "The control API, OpenAPI 3.1", () => http.fetchText("/_control/api.json"));
  add("fidelity", "The fidelity ledger: what is assumed, and why", () =>
    http.fetchText("/_control/fidelity"),
  );
  add("errors", "The error catalogue", () => JSON.stringify(CATALOGUE));
  // `understudy://sandboxes/default/journal/req_1` is at `/_control/sandboxes/default/journal/req_1`.
  const readSandbox = createReader((uri) => http.fetchText(`/_control/sandboxes${uri.pathname}`));
  const addSandboxResource = (name: string, title: string, path: string) => {
    const template = new ResourceTemplate(`understudy://sandboxes/{sandbox}/${path}`, { list: undefined });
    server.registerResource(name, template, { title, mimeType: JSON_TYPE }, readSandbox);
  };
  addSandboxResource("journal-entry", "A request of a sandbox's journal, whole", "journal/{id}");
  addSandboxResource("state", "The records of a collection", "state/{collection}");
}

type PromptArguments = Readonly<Record<string, string | undefined>>;

interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: Readonly<Record<string, string>>;
  write: (args: PromptArguments) => string;
}

const PROMPTS: readonly Prompt[] = [
  {
    name: "reproduce_bug",
    title: "Reproduce a bug as a bundle",
    description: "From a report to a file that replays it",
    arguments: { report: "What is said to go wrong" },
    write: ({
      report = "(ask for it)",
    }) => `Reproduce this bug against Understudy, and end with a bundle that replays it.

The report: ${report}

1. create_sandbox with a frozen clock, so that the same requests give the same bytes; work there alone.
2. Use change_state, advance_clock and call_api to reach the state that the report describes, in as few steps as possible.
3. Send the request that goes wrong with call_api. list_journal gives the reason for its answer, explain_request what another request would get, list_history what changed.
4. If the bug needs a failure of the service, call arm_fault; if it needs time to pass, advance_clock.
5. Rewind and try again without each step; leave out every step that the bug does not need.
6. Tell me the requests, the wrong answer and the right one, and give me the bundle of make_bundle as a file, which \`understudy replay\` repeats.`,
  },
  {
    name: "exercise_refusals",
    title: "Exercise every refusal",
    description: "Whether an application copes with each documented error of the operations that it calls",
    arguments: {
      operation: "An operation id, or a glob of ids; all that the application calls unless given",
    },
    write: ({
      operation = "(every operation that the application calls)",
    }) => `Find out whether my application copes with every documented refusal of ${operation}.

1. create_sandbox, and have the application use its base_url.
2. describe_operation for the documented codes; coverage says which have been seen.
3. For each that is missing: arm_fault with match {operation}, effect {error: CODE} and times 1, have the application make the call, and look at what it shows or does.
4. verify_requests counts its attempts: it may repeat a request after a 429 or 503, never after a 403 or 422.
5. Repeat this with phase "after" for each operation that changes something: then the answer is lost although the change was made.
6. End with a table: code, what the application did, what it should do; and with coverage.`,
  },
  {
    name: "harden_receiver",
    title: "Harden a webhook receiver",
    description: "From a receiver's address to what it should do better",
    arguments: { url: "The receiver's address" },
    write: ({ url = "(ask for it)" }) => `Harden my webhook receiver at ${url}.

1. create_sandbox with a frozen clock; register the receiver with call_api (describe_operation webhooks.create), and keep the secret of the answer.
2. trigger_event for each event that it should understand; list_deliveries and list_pending show what followed from its answers.
3. The same event twice: is it handled once? Two events out of order: does the later one win?
4. Have it answer slowly, with 500 and not at all; advance_clock by {next: true} through the retries, and see that it recovers.
5. Read its code: is the signature made of the raw body, compared in constant time, refused when it is missing, stale or of another secret?
6. Let \`understudy receiver-test ${url} --secret SECRET\` grade it, and end with what to change, the worst first.`,
  },
];

function addPrompts(server: McpServer): void {
  for (const { name, title, description, arguments: descriptions, write } of PROMPTS) {
    const properties = mapValues(descriptions, (description) => ({ type: "string", description }));
    const argsSchema = fromJsonSchema<PromptArguments>({
      type: "object",
      properties,
      additionalProperties: false,
    });
    server.registerPrompt(name, { title, description, argsSchema }, (args: PromptArguments) => ({
      messages: [{ role: "user" as const, content: { type: "text" as const, text: write(args) } }],
    }));
  }
}
