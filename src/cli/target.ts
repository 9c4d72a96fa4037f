import type { Argv } from "yargs";
import { connect, type UnderstudyClient, usualUrl } from "../client/connect.ts";
import type { SandboxClient } from "../client/sandbox.ts";

/** The running server and sandbox that a command acts on (interfaces 2). */
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

/** @throws UnreachableError if no Understudy answers; ControlError if it has no such sandbox */
export async function openSandbox(target: Target): Promise<SandboxClient> {
  const client = server(target);
  await client.health();
  return client.open(target.sandbox);
}
