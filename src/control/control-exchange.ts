import { type Answer, type PlainRequest, splitTarget } from "../engine/pipeline/plain-http.ts";
import type { Stepped } from "../engine/pipeline/run-steps.ts";
import type { Change } from "../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { AnswerJudge } from "./answer-judge.ts";
import type { ControlCall, ControlOperation, ControlServer } from "./operation.ts";

/** One call of the control API on its way through its steps, which complete it; also what its handler sees. */
export class ControlExchange implements ControlCall, Stepped {
  readonly server: ControlServer;
  readonly judge: AnswerJudge | undefined;
  readonly request: PlainRequest;
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
  stage = "route";
  operation: ControlOperation = undefined as unknown as ControlOperation;
  params: Readonly<Record<string, string>> = {};
  /** Only operations below S read it, and those have it. */
  sandbox: Sandbox = undefined as unknown as Sandbox;
  query: unknown = undefined;
  body: unknown = undefined;
  /** The call in the history, if it may change a world. */
  change: Change | undefined = undefined;
  /** For `settle`: changes after it are this call's. */
  mark: number | undefined = undefined;
  value: unknown = undefined;
  answer: Answer | undefined = undefined;

  constructor(server: ControlServer, judge: AnswerJudge | undefined, request: PlainRequest) {
    const { path, query } = splitTarget(request.target);
    this.server = server;
    this.judge = judge;
    this.request = request;
    this.path = path;
    this.search = query;
  }

  get headers(): ControlCall["headers"] {
    return this.request.headers as ControlCall["headers"];
  }

  get origin(): string {
    return `http://${this.headers["host"]}`;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }
}
