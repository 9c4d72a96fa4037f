import type { Argv } from "yargs";
import { connect, type UnderstudyClient, usualUrl } from "../client/connect.ts";
import type { SandboxClient } from "../client/sandbox.ts";

/** Which running server and sandbox a command acts on (interfaces 2). */
export interface Target {
  url: string;
  sandbox: string;
  token: string | undefined;
  json: boolean;
}

export function targetOptions<T>(argv: Argv<T>): Argv<T & Target> {
  return argv
    .option("url", {
      type: "string",
      default: usualUrl(),
      requiresArg: true,
      describe: "The server's address (or UNDERSTUDY_URL)",
    })
    .option("sandbox", {
      type: "string",
      default: process.env["UNDERSTUDY_SANDBOX"] || "default",
      requiresArg: true,
      describe: "The sandbox to act on (or UNDERSTUDY_SANDBOX)",
    })
    .option("token", {
      type: "string",
      requiresArg: true,
      describe: "Control token of a shared server (or UNDERSTUDY_TOKEN)",
    }) as Argv<T & Target>;
}

export function server({ url, token }: Target): UnderstudyClient {
  return connect(url, { token });
}

/** @throws UnreachableError where no Understudy answers; ControlError where it has no such sandbox */
export async function sandboxOf(target: Target): Promise<SandboxClient> {
  const client = server(target);
  await client.health();
  return client.open(target.sandbox);
}
