import type { UnderstudyClient } from "../connect.ts";
import type { ControlApi, Field, JsonSchema } from "./control-api.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** The server that a tool acts on, by its control API. */
export interface Reach {
  client: UnderstudyClient;
  api: ControlApi;
}

export type ToolFields = Readonly<Record<string, Pick<Field, "schema" | "required">>>;

/** A tool of interfaces 13, before it is known which server answers. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** Changes nothing. */
  reads?: boolean;
  /** Takes away what cannot be had back by the tool itself. */
  destroys?: boolean;
  /** Twice is as good as once. */
  repeatable?: boolean;
  fields: (api: ControlApi) => ToolFields;
  run: (reach: Reach, args: Arguments) => Promise<unknown>;
}

export const text = (description: string): JsonSchema => ({ type: "string", description });
export const optional = (schema: JsonSchema) => ({ schema, required: false });
export const required = (schema: JsonSchema) => ({ schema, required: true });

/** Every tool takes the sandbox that it is about. */
export const SANDBOX = { sandbox: optional(text("The sandbox's name; `default` unless given")) };

export function sandboxName({ sandbox = "default" }: Arguments): string {
  return String(sandbox);
}

/** Without those that were not given. */
export function pick(args: Arguments, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]),
  );
}

/**
 * Sends a call of the control API with those arguments, each where the call takes it.
 * @throws ControlError, UnreachableError
 */
export function send({ client, api }: Reach, id: string, args: Arguments): Promise<unknown> {
  const { method, path, fields, hasBody } = api.call(id);
  const at = (place: Field["place"]) =>
    pick(
      args,
      Object.keys(fields).filter((name) => fields[name]!.place === place),
    );
  const filled = path
    .replace("{name}", encodeURIComponent(sandboxName(args)))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(args[name])));
  const query = new URLSearchParams(at("query") as Record<string, string>);
  return client.http.call(
    method,
    query.size === 0 ? filled : `${filled}?${query}`,
    hasBody ? at("body") : undefined,
  );
}

interface Forwarding extends Omit<Tool, "fields" | "run"> {
  defaults?: Arguments;
  /** The call that shows one of what this one lists, by its `id`. */
  one?: string;
}

/** A tool that is one call, and takes what that takes. */
export function forwarding(call: string, { defaults = {}, one, ...tool }: Forwarding): Tool {
  return {
    ...tool,
    fields: (api) => {
      const { path, fields } = api.call(call);
      const id: ToolFields = one === undefined ? {} : { id: optional(text("Of one, to be shown whole")) };
      return { ...(path.includes("{name}") ? SANDBOX : {}), ...fields, ...id };
    },
    run: (reach, args) =>
      one !== undefined && args["id"] !== undefined
        ? send(reach, one, args)
        : send(reach, call, { ...defaults, ...args }),
  };
}
