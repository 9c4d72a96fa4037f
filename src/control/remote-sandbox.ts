import type { Static } from "typebox";
import { fromUtf8, toUtf8 } from "../engine/bytes.ts";
import { PROBLEM_TYPE, type ProblemBody, type ProblemKind } from "../engine/contract/problems.ts";
import { findNearest } from "../engine/contract/text.ts";
import type { WireAnswer, WireRequest } from "../engine/pipeline/plain-http.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { ControlCall, ControlServer } from "./operation.ts";
import { Problem, unprocessable } from "./problem.ts";
import { renderSandbox, type SandboxBody } from "./sandbox-body.ts";

const MAX_TAKEOVERS = 16;

/**
 * All sandboxes in order of creation. Each node lists its own; this node takes over those without an owner, as for any
 * request to them.
 */
export async function listSandboxes(
  { server: { directory, sandboxes }, site, headers }: Pick<ControlCall, "server" | "site" | "headers">,
  withForks = false,
): Promise<Static<typeof SandboxBody>[]> {
  const render = (sandbox: Sandbox) => ({
    ...renderSandbox(sandbox, site),
    ...(withForks && { forked_from: sandbox.forked_from ?? null }),
  });
  const listLocal = () => [...sandboxes.all()].map(render);
  if (directory.isForwarded(headers)) return listLocal();
  const [names, others] = await Promise.all([
    directory.listNames(),
    directory.askOtherNodes(`/_control/sandboxes${withForks ? "?forks=true" : ""}`, headers),
  ]);
  const remote = others.flatMap((answer) => (answer as { items: Static<typeof SandboxBody>[] }).items);
  const bodies = new Map([...remote, ...listLocal()].map((body) => [body.name, body]));
  const unowned = names.filter((name) => !bodies.has(name));
  for (let from = 0; from < unowned.length; from += MAX_TAKEOVERS) {
    const batch = unowned.slice(from, from + MAX_TAKEOVERS);
    const takenOver = await Promise.all(batch.map((name) => directory.find(name)));
    for (const sandbox of takenOver) if (sandbox) bodies.set(sandbox.name, render(sandbox));
  }
  return names.flatMap((name) => bodies.get(name) ?? []);
}

/**
 * Finds a second sandbox, which a field of the call names.
 * @throws Problem 422 if there is none of that name
 */
export async function requireNamedSandbox(
  { server, headers }: Pick<ControlCall, "server" | "headers">,
  name: string,
  field: string,
): Promise<Sandbox | RemoteSandbox> {
  const sandbox = await server.directory.find(name);
  if (sandbox !== undefined) return sandbox;
  const names = await server.directory.listNames();
  if (names.includes(name)) return new RemoteSandbox(name, server, headers);
  throw unprocessable(field, name, "must be the name of a sandbox of this server", findNearest(name, names));
}

/**
 * A sandbox that another node owns (interfaces.md 15), for calls that name two. Requests go to this server with the
 * caller's token, as from any client, and are forwarded from here.
 */
export class RemoteSandbox {
  readonly name: string;
  private readonly server: ControlServer;
  private readonly callerHeaders: ControlCall["headers"];

  constructor(name: string, server: ControlServer, callerHeaders: ControlCall["headers"]) {
    this.name = name;
    this.server = server;
    this.callerHeaders = callerHeaders;
  }

  /** A call below S of that sandbox. @throws Problem of its owner */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const { host, authorization } = this.callerHeaders;
    const headers = Object.entries({ host, authorization, "content-type": "application/json" });
    const answer = await this.send({
      method,
      target: `/_control/sandboxes/${this.name}${path}`,
      headers: headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      body: body === undefined ? undefined : toUtf8(JSON.stringify(body)),
    });
    const text = fromUtf8(answer.body);
    if (answer.status < 400) return text === "" ? undefined : JSON.parse(text);
    const { type, title: _, status, detail, ...extension } = JSON.parse(text) as ProblemBody;
    throw new Problem(type.slice(PROBLEM_TYPE.length) as ProblemKind, { detail, status, extension });
  }

  /** @throws Error if the answer was broken */
  send(request: WireRequest): Promise<WireAnswer> {
    return this.server.sendToSelf(request);
  }
}
