import {
  fromJsonSchema,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  McpServer,
} from "@modelcontextprotocol/server";
import type { UnderstudyClient } from "../connect.ts";
import { ControlError } from "../http.ts";
import { ControlApi, type JsonSchema } from "./control-api.ts";
import { addPrompts } from "./prompts.ts";
import { READING_TOOLS } from "./reading-tools.ts";
import { addResources } from "./resources.ts";
import type { Arguments, Reach, Tool, ToolFields } from "./tool.ts";
import { WRITING_TOOLS } from "./writing-tools.ts";

export const TOOLS: readonly Tool[] = [...READING_TOOLS, ...WRITING_TOOLS];

/** More than this helps no model; what is asked for can be narrowed. */
const MAX_RESULT_CHARS = 100_000;

/** @throws UnreachableError where no server answers, ControlError where it asks for a token */
export async function findReach(client: UnderstudyClient): Promise<Reach> {
  return { client, api: await ControlApi.of(client.http) };
}

/** interfaces 13, over either transport: tools, resources and prompts for one server. */
export function mcpServer(reach: Reach, version: string): McpServer {
  const server = new McpServer(
    { name: "understudy-sandbox", title: "Understudy", version },
    {
      instructions:
        "A stateful sandbox of an AI platform's HTTP API. Work in a sandbox of your own (create_sandbox), send requests with call_api, ask list_journal and explain_request why an answer was given.",
    },
  );
  for (const tool of TOOLS) addTool(server, tool, reach);
  addResources(server, reach.client);
  addPrompts(server);
  return server;
}

function addTool(server: McpServer, tool: Tool, reach: Reach): void {
  const { name, title, description, reads = false, destroys = false, repeatable = reads } = tool;
  const fields = tool.fields(reach.api);
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: fromJsonSchema<Arguments>(toSchema(fields), ACCEPTING),
      annotations: {
        readOnlyHint: reads,
        destructiveHint: destroys,
        idempotentHint: repeatable,
        openWorldHint: false,
      },
    },
    async (args: Arguments) => {
      try {
        requireFitting(name, fields, args);
        return shown(await tool.run(reach, args));
      } catch (error) {
        return { isError: true, content: [{ type: "text" as const, text: refusalText(error) }] };
      }
    },
  );
}

function toSchema(fields: ToolFields): JsonSchema & { type: "object" } {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    required: Object.keys(fields).filter((name) => fields[name]!.required),
    additionalProperties: false,
  };
}

/** Arguments that do not fit are refused here and by the control API, whose messages say what fits. */
const ACCEPTING: jsonSchemaValidator = {
  getValidator<T>() {
    return (data: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: data as T,
      errorMessage: undefined,
    });
  },
};

/** @throws Error with the sentence for an argument that does not exist, that is missing, or that is no text or map */
function requireFitting(tool: string, fields: ToolFields, args: Arguments): void {
  const known = Object.keys(fields);
  const has = known.length === 0 ? "it takes none" : `its arguments are ${known.join(", ")}`;
  for (const name of Object.keys(args)) {
    if (!known.includes(name)) throw new Error(`${tool} has no argument ${JSON.stringify(name)}; ${has}`);
  }
  const missing = known.filter((name) => fields[name]!.required && args[name] === undefined);
  if (missing.length > 0) throw new Error(`${tool} needs the argument ${missing.join(" and ")}; ${has}`);
  for (const [name, value] of Object.entries(args)) {
    const { type } = fields[name]!.schema;
    if (value === undefined || (type !== "string" && type !== "object")) continue;
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (type === "string" ? typeof value === "string" : isMap) continue;
    throw new Error(
      `${tool} takes ${name} as ${type === "string" ? "a text" : "a map"}, not ${JSON.stringify(value).slice(0, 100)}`,
    );
  }
}

function shown(value: unknown) {
  const structuredContent = (Array.isArray(value) ? { items: value } : value) as Record<string, unknown>;
  const text = JSON.stringify(structuredContent);
  if (text.length <= MAX_RESULT_CHARS)
    return { content: [{ type: "text" as const, text }], structuredContent };
  const cut = `\n… the first ${MAX_RESULT_CHARS} of ${text.length} characters; ask for less, by a filter or a limit`;
  return { content: [{ type: "text" as const, text: text.slice(0, MAX_RESULT_CHARS) + cut }] };
}

/** The server's own words, and its problem document for what they leave out. */
export function refusalText(error: unknown): string {
  const { message } = error as Error;
  return error instanceof ControlError ? `${message}\n${JSON.stringify(error.problem)}` : message;
}
