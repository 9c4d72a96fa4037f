import type { JsonSchema } from "../../engine/contract/schema.ts";
import type { UnderstudyClient } from "../connect.ts";
import type { ControlHttp } from "../http.ts";
import { toPathPart } from "../options.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** The server that a tool acts on, by its control API. */
export interface ToolTarget {
  client: UnderstudyClient;
  api: ControlApi;
}

export type ToolFields = Readonly<Record<string, Pick<Field, "schema" | "required">>>;

/** The declaration of a tool (interfaces.md 13); `run` gets the server that the tool acts on. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** Changes nothing. */
  reads?: boolean;
  /** Deletes something that the tool cannot restore. */
  destroys?: boolean;
  /** Calling it twice has the same effect as calling it once. */
  repeatable?: boolean;
  fields: (api: ControlApi) => ToolFields;
  run: (target: ToolTarget, args: Arguments) => Promise<unknown>;
}

export const text = (description: string): JsonSchema => ({ type: "string", description });
export const optional = (schema: JsonSchema) => ({ schema, required: false });
export const required = (schema: JsonSchema) => ({ schema, required: true });

/** The argument of every tool that acts in a sandbox. */
export const SANDBOX = { sandbox: optional(text("The sandbox's name; `default` unless given")) };

export function getSandboxName({ sandbox = "default" }: Arguments): string {
  return String(sandbox);
}

/** @throws Error if the tool has no such action */
export function requireAction(tool: string, action: unknown, actions: readonly string[]): void {
  if (actions.includes(action as string)) return;
  throw new Error(`${tool} has no action ${JSON.stringify(action)}; its actions are ${actions.join(", ")}`);
}

/**
 * Sends a call of the control API with these arguments, in its path, query or body.
 * @param body the whole body, if it does not consist of arguments
 * @throws ControlError, UnreachableError
 */
export function send(
  { client, api }: ToolTarget,
  id: string,
  args: Arguments,
  body?: unknown,
): Promise<unknown> {
  const { method, path, fields, hasBody } = api.getCall(id);
  const pickArguments = (place: Field["place"]) => {
    const names = Object.keys(fields).filter(
      (one) => fields[one]!.place === place && args[one] !== undefined,
    );
    return Object.fromEntries(names.map((name) => [name, args[name]]));
  };
  const filledPath = path
    .replace("{name}", toPathPart(getSandboxName(args)))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => toPathPart(args[name] as string));
  const query = new URLSearchParams(pickArguments("query") as Record<string, string>);
  return client.http.call(
    method,
    query.size === 0 ? filledPath : `${filledPath}?${query}`,
    hasBody ? (body ?? pickArguments("body")) : undefined,
  );
}

interface Forwarding extends Omit<Tool, "fields" | "run"> {
  defaults?: Arguments;
  /** The call that shows one item of this list, by its `id`. */
  itemCall?: string;
}

/** A tool that makes one call, with the arguments of that call. */
export function createForwardingTool(call: string, { defaults = {}, itemCall, ...tool }: Forwarding): Tool {
  return {
    ...tool,
    fields: (api) => {
      const { path, fields } = api.getCall(call);
      const id: ToolFields =
        itemCall === undefined ? {} : { id: optional(text("The id of one item, to show all of it")) };
      return { ...(path.includes("{name}") ? SANDBOX : {}), ...fields, ...id };
    },
    run: (target, args) =>
      itemCall !== undefined && args["id"] !== undefined
        ? send(target, itemCall, args)
        : send(target, call, { ...defaults, ...args }),
  };
}

interface OperationDescription {
  operationId?: string;
  parameters?: { name: string; in: string; description?: string; required?: boolean; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, OperationDescription>>;
  components: Record<string, Record<string, JsonSchema>>;
}

/** An argument of a call, with the place that it has in the request. */
interface Field {
  place: "path" | "query" | "body";
  schema: JsonSchema;
  required: boolean;
}

/** One call of the control API, from the API's own description (interfaces.md 11). */
interface ControlCall {
  method: string;
  path: string;
  fields: Readonly<Record<string, Field>>;
  hasBody: boolean;
}

/** The control API's own description, from which the tools take their arguments. */
export class ControlApi {
  private readonly document: OpenApi;

  private constructor(document: OpenApi) {
    this.document = document;
  }

  static async load(http: ControlHttp): Promise<ControlApi> {
    return new ControlApi(await http.call<OpenApi>("GET", "/_control/api.json"));
  }

  /** @throws Error for a call that the server does not have, since it is of another version */
  getCall(id: string): ControlCall {
    for (const [path, methods] of Object.entries(this.document.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        if (described.operationId === id) return this.toCall(path, method.toUpperCase(), described);
      }
    }
    throw new Error(
      `this server's control API has no call ${id}: it is of another version than this command`,
    );
  }

  /** Replaces each `$ref` by its schema, or within that schema by its name, since MCP shares none; drops examples and ids. */
  private inline<T>(part: T, ancestors: readonly string[] = []): T {
    if (Array.isArray(part)) return part.map((one) => this.inline(one, ancestors)) as T;
    if (typeof part !== "object" || part === null) return part;
    if ("$ref" in part && typeof part.$ref === "string") {
      const name = part.$ref.slice(part.$ref.lastIndexOf("/") + 1);
      if (ancestors.includes(name)) return { description: name } as T;
      return this.inline(this.document.components["schemas"]![name] as T, [...ancestors, name]);
    }
    const entries = Object.entries(part).filter(
      ([key, value]) => !(key === "$id" || (key === "examples" && Array.isArray(value))),
    );
    return Object.fromEntries(entries.map(([key, value]) => [key, this.inline(value, ancestors)])) as T;
  }

  private toCall(
    path: string,
    method: string,
    { parameters = [], requestBody }: OperationDescription,
  ): ControlCall {
    const fields: Record<string, Field> = {};
    for (const { name, in: place, description, required = false, schema } of parameters) {
      // The sandbox of the path, which every tool calls `sandbox`.
      if ((place !== "path" && place !== "query") || (place === "path" && name === "name")) continue;
      fields[name] = {
        place,
        required,
        schema: { ...this.inline(schema), ...(description && { description }) },
      };
    }
    const body = requestBody && this.inline(Object.values(requestBody.content)[0]!.schema);
    for (const [name, schema] of Object.entries(toProperties(body))) {
      const required = requestBody?.required === true && (body?.required ?? []).includes(name);
      fields[name] = { place: "body", schema, required };
    }
    return { path, method, fields, hasBody: body !== undefined };
  }
}

/** The properties of all alternatives. */
function toProperties(schema: JsonSchema | undefined): Record<string, JsonSchema> {
  if (schema === undefined) return {};
  return Object.assign({}, ...(schema.anyOf ?? []).map(toProperties), schema.properties);
}
