import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { PROBLEM_TYPE, type ProblemBody, type ProblemKind } from "../engine/contract/problems.ts";
import type { ControlCall, ControlServer } from "./operation.ts";
import { Problem } from "./problem.ts";

/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number;
  /** Name, value, name, value … */
  headers: string[];
  body: Buffer;
}

export interface WireRequest {
  method: string;
  target: string;
  headers: readonly (readonly string[])[];
  body: Buffer | undefined;
}

/**
 * interfaces 15: a sandbox that another node owns, for calls that name two. It is asked as any client would ask, for
 * this node passes on what is sent to it, and in the name of whoever made the call.
 */
export class Elsewhere {
  readonly name: string;
  private readonly server: ControlServer;
  private readonly caller: ControlCall["headers"];

  constructor(name: string, server: ControlServer, caller: ControlCall["headers"]) {
    this.name = name;
    this.server = server;
    this.caller = caller;
  }

  /** A call below S of that sandbox. @throws Problem as its owner does */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const { host, authorization } = this.caller;
    const headers = Object.entries({ host, authorization, "content-type": "application/json" });
    const answer = await this.send({
      method,
      target: `/_control/sandboxes/${this.name}${path}`,
      headers: headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    });
    const text = answer.body.toString();
    if (answer.status < 400) return text === "" ? undefined : JSON.parse(text);
    const { type, title: _, status, detail, ...extension } = JSON.parse(text) as ProblemBody;
    throw new Problem(type.slice(PROBLEM_TYPE.length) as ProblemKind, { detail, status, extension });
  }

  /** @throws Error where the answer was broken */
  async send({ method, target, headers, body }: WireRequest): Promise<WireAnswer> {
    const flat = headers.flatMap(([name, value]) => [name!, value!]);
    if (body !== undefined) flat.push("Content-Length", String(body.length));
    const asked = request({
      ...{ ...this.server.address(), method, path: target, headers: flat as never },
      ...{ setHost: false, agent: false },
    });
    asked.end(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once("response", resolve).once("error", reject);
    });
    return { status: answer.statusCode!, headers: answer.rawHeaders, body: await buffer(answer) };
  }
}
