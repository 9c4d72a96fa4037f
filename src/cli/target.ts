import type { Argv } from "yargs";
import { connect, type UnderstudyClient } from "../client/connect.ts";
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
    .option("url", { type: "string", default: "http://127.0.0.1:4747", describe: "The server's address" })
    .option("sandbox", { type: "string", default: "default", describe: "The sandbox to act on" })
    .option("token", {
      type: "string",
      describe: "Control token of a shared server (or UNDERSTUDY_TOKEN)",
    }) as Argv<T & Target>;
}

export function server({ url, token }: Target): UnderstudyClient {
  return connect(url, { token });
}

export function sandboxOf(target: Target): Promise<SandboxClient> {
  return server(target).open(target.sandbox);
}
