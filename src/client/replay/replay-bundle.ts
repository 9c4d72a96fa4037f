import { OwnOperationError } from "../../engine/contract/errors.ts";
import type { OperationSource } from "../../engine/own/join.ts";
import { toBaseHeaders } from "../../engine/pipeline/plain-http.ts";
import { apiKeys } from "../../engine/resources/api-keys/schema.ts";
import type { WorldChange } from "../../engine/sandbox/history-entry.ts";
import { createSendToSelf } from "../../hosts/node/send-to-self.ts";
import type { Bundle, BundleBody, ControlStep, RequestStep } from "../../tools/bundle/bundle.ts";
import {
  type Difference,
  findFirstDifference,
  toRecordedAnswer,
} from "../../tools/bundle/recorded-message.ts";
import { createRecordedOutbound, sendAndAwaitEntry } from "../../tools/bundle/replay-traffic.ts";
import {
  inventSecret,
  resolvePlaceholders,
  SecretPlaceholders,
} from "../../tools/bundle/secret-placeholders.ts";
import { openReplayServer, type ReplayServer } from "./open-replay-server.ts";
import { PendingAttempts } from "./pending-attempts.ts";

export interface ReplayResult {
  requests: number;
  control_calls: number;
  /** Requests that went to an upstream, if any; they are not repeated. */
  passed_on?: number;
  /** Undefined if every answer was the same. */
  difference?: Difference & { step: string; request?: number };
}

interface ReplayOptions {
  /** The own operations that the bundle names. */
  operations?: readonly OperationSource[];
  onStep?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/**
 * Repeats the steps of a bundle, and compares every answer with the recorded one (interfaces.md 2).
 * @throws OwnOperationError without the operations that it needs
 */
export async function replayBundle(bundle: Bundle, options: ReplayOptions = {}): Promise<ReplayResult> {
  requireOperations(bundle, options.operations ?? []);
  return new Replay(bundle).run(options);
}

/** @throws OwnOperationError */
function requireOperations({ operations = [] }: Bundle, sources: readonly OperationSource[]): void {
  for (const { source, sha256 } of operations) {
    if (sources.length === 0)
      throw new OwnOperationError(
        `The bundle needs the operations of ${source}; give the same files with --operations or --openapi.`,
      );
    if (sha256 !== undefined && !sources.some((one) => one.sha256 === sha256))
      throw new OwnOperationError(
        `The bundle needs the operations of ${source} with the SHA-256 ${sha256}; the given files differ, so the answers might differ too.`,
      );
  }
}

/** Control calls after which the clock shows an earlier instant. */
const GOES_BACK = new Set(["snapshots.restore", "history.rewind"]);
/** Requests whose answer waits for an attempt. */
const WAITS_FOR_ATTEMPT = /\/(test|redeliver)(\?|$)/;

class Replay {
  private readonly bundle: Bundle;
  private readonly secrets = new SecretPlaceholders();
  private server!: ReplayServer;
  private currentRequest: RequestStep | undefined;
  /** Whether the current step is a restore or a rewind, which begins attempts again without waiting for them. */
  private isGoingBack = false;
  /** The instant of the current request's change in the recording; `advanceToCommit` moves the clock to it. */
  private commitInstant: string | undefined;
  private readonly pendingAttempts = new PendingAttempts();
  private requests = 0;
  private controlCalls = 0;
  private passedOn = 0;
  private restores = 0;

  constructor(bundle: Bundle) {
    this.bundle = bundle;
  }

  async run({ onStep, signal, operations = [] }: ReplayOptions): Promise<ReplayResult> {
    const { bundle } = this;
    const fixture = JSON.parse(this.resolve(JSON.stringify(bundle.fixture.document))) as object;
    const outbound = createRecordedOutbound(bundle.deliveries, {
      otherwise: () => readReceiverStatus(this.currentRequest),
      countRestores: () => this.restores,
      waitForEnd: (at, signal) => this.waitForEnd(Date.parse(at), signal),
      waitForCancel: (signal) => this.pendingAttempts.wait(Number.POSITIVE_INFINITY, signal),
      isAwaited: () => this.isAttemptAwaited(),
    });
    this.server = await openReplayServer(bundle, fixture, {
      replay: { outbound, beforeChange: () => this.advanceToCommit() },
      operations,
    });
    try {
      this.registerKeys();
      this.secrets.registerWritten(JSON.stringify(fixture));
      for (const [index, step] of bundle.steps.entries()) {
        if (signal?.aborted) break;
        const difference =
          "control" in step ? await this.replayControlCall(step) : await this.replayRequest(step);
        onStep?.(index + 1, bundle.steps.length);
        if (difference !== undefined) return { ...this.getCounts(), difference };
      }
      return this.getCounts();
    } finally {
      await this.server.close();
    }
  }

  private getCounts() {
    return {
      requests: this.requests,
      control_calls: this.controlCalls,
      ...(this.passedOn > 0 && { passed_on: this.passedOn }),
    };
  }

  private async replayRequest({ request, answer }: RequestStep) {
    const number = ++this.requests;
    if (answer.headers.some(([name, value]) => name === "X-Sandbox-Decision" && value === "upstream")) {
      this.passedOn += 1;
      return undefined;
    }
    this.currentRequest = { request, answer };
    this.isGoingBack = false;
    const { sandbox, port } = this.server;
    if (WAITS_FOR_ATTEMPT.test(request.target))
      await this.pendingAttempts.endAll(Date.parse(request.at), sandbox.world);
    await this.moveTo(request.at);
    if (request.number !== undefined) sandbox.world.requests = request.number;
    // A running clock advanced between the arrival of a request and its change.
    this.commitInstant = request.committed;
    const headers = request.headers.map(([name, value]) => [name!, this.resolve(value!)]);
    const send = createSendToSelf(() => ({ host: "127.0.0.1", port }));
    const entry = await sendAndAwaitEntry(sandbox, send, {
      method: request.method,
      target: this.resolve(request.target),
      headers: [...headers, ...toBaseHeaders(request.base_url)],
      body: this.toBytes(request.body),
    });
    await this.pendingAttempts.whenSettled(sandbox.world);
    const step = { step: `request ${number}, ${request.method} ${request.target}`, request: number };
    if (entry === undefined)
      return { ...step, what: "answer", recorded: String(answer.status), replayed: "no answer" };
    const difference = findFirstDifference(answer, toRecordedAnswer(entry, number, this.secrets));
    return difference && { ...step, ...difference };
  }

  private async replayControlCall({ control }: ControlStep) {
    this.controlCalls += 1;
    this.currentRequest = undefined;
    this.isGoingBack = false;
    const { sandbox, url } = this.server;
    await this.pendingAttempts.endAll(Date.parse(control.changed), sandbox.world);
    // Clock calls are compared by their effects: in the recording the clock may have run in real time.
    if (control.operation === "clock.advance" || control.operation === "clock.set") {
      await (control.history ? this.moveAsCall(control.now) : this.moveTo(control.now));
      return undefined;
    }
    await this.moveTo(control.changed);
    this.isGoingBack = GOES_BACK.has(control.operation);
    if (this.isGoingBack) this.restores += 1;
    const body = control.body === undefined ? undefined : this.resolve(control.body);
    this.secrets.registerWritten(body ?? "null");
    const response = await fetch(`${url}/_control/sandboxes/${sandbox.name}${this.resolve(control.path)}`, {
      method: control.method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body }),
    });
    const text = await response.text();
    await this.pendingAttempts.whenSettled(sandbox.world);
    this.registerKeys();
    if (response.status === control.status) return undefined;
    return {
      step: `control call ${this.controlCalls}, ${control.method} ${control.path}`,
      what: "status",
      recorded: String(control.status),
      replayed: `${response.status} ${text.slice(0, 300)}`,
    };
  }

  /** Advances the clock, unless it is later, and runs what is due; while attempts are pending, the next change runs it. */
  private async moveTo(instant: string): Promise<void> {
    const { world } = this.server.sandbox;
    const to = Date.parse(instant);
    await this.pendingAttempts.endUntil(to, world);
    // An advance would wait for the end of pending attempts.
    if (!this.pendingAttempts.isEmpty) world.skipTo(to);
    else if (to > world.epochNow()) await world.advance(to);
  }

  /** Resolves at the recorded end of an attempt, which may be in a later step unless something waits for it. */
  private async waitForEnd(endsAt: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.isAttemptAwaited() || endsAt <= this.findNextInstant()) return this.advanceWithinStep(endsAt);
    await this.pendingAttempts.wait(endsAt, signal);
  }

  /** Whether the current step ends only after the attempts that it makes. */
  private isAttemptAwaited(): boolean {
    const { currentRequest, isGoingBack } = this;
    // An advance, which pins the clock, waits for its attempts, and so does every other control call that begins attempts.
    if (this.server.sandbox.world.clock.pinned !== undefined) return true;
    if (currentRequest === undefined) return !isGoingBack;
    return WAITS_FOR_ATTEMPT.test(currentRequest.request.target);
  }

  /** Moves the clock as a control call does, with an entry in the history: ids of later entries depend on it. */
  private async moveAsCall(instant: string): Promise<void> {
    const { world, history, recorder } = this.server.sandbox;
    const began = { state: recorder.getState(), position: history.lastSequence };
    const change: WorldChange = { kind: "control", title: "Moved the clock.", subject: undefined, began };
    const to = Math.max(Date.parse(instant), world.epochNow());
    await world.runAs({ change }, () => world.advance(to));
    recorder.complete(change);
  }

  /** Advances the clock in the middle of a step, as in a recording with a running clock. */
  private advanceWithinStep(instant: number): void {
    const { world } = this.server.sandbox;
    world.skipTo(Math.min(instant, this.findNextInstant()));
  }

  private advanceToCommit(): void {
    const { commitInstant } = this;
    this.commitInstant = undefined;
    if (commitInstant !== undefined) this.advanceWithinStep(Date.parse(commitInstant));
  }

  /** The clock's instant at the next step; no change of this step may be later. */
  private findNextInstant(): number {
    const next = this.bundle.steps[this.requests + this.controlCalls];
    if (next === undefined) return Number.POSITIVE_INFINITY;
    if ("request" in next) return Date.parse(next.request.at);
    // The clock after the call, which a restore sets back.
    const { operation, now } = next.control;
    return GOES_BACK.has(operation) ? Number.POSITIVE_INFINITY : Date.parse(now);
  }

  private registerKeys(): void {
    for (const { id, key } of this.server.sandbox.world.read().all(apiKeys))
      this.secrets.register(key, `api_key:${id}`);
  }

  private resolve(text: string): string {
    return resolvePlaceholders(text, (kind, name) => {
      const length = Number(/(\d+)$/.exec(name)?.[1] ?? 0);
      if (kind === "answer") return this.secrets.find(`answer:${name}`) ?? inventSecret(name, length);
      // Still known when its record has gone, or has got another key.
      if (kind === "api_key")
        return this.secrets.find(`api_key:${name}`) ?? `ak_${inventSecret(`api_key:${name}`, 39)}`;
      if (kind !== "given") return inventSecret(`${kind}:${name}`, length);
      // `w0:38` is a webhook secret of the user (`SecretPlaceholders.registerWritten`).
      const prefix = name.startsWith("w") ? "whsec_" : "ak_";
      return prefix + inventSecret(name, length - prefix.length);
    });
  }

  private toBytes(body: BundleBody | undefined): Buffer | undefined {
    if (body === undefined) return undefined;
    if ("text" in body) return Buffer.from(this.resolve(body.text));
    return Buffer.from(this.resolve(body.latin1), "latin1");
  }
}

/** The receiver's status, which only the answer to a test of a notification contains (G15); 200 for other steps. */
function readReceiverStatus(step: RequestStep | undefined): number {
  const body = step?.answer.body;
  try {
    const { status_code } = JSON.parse(body !== undefined && "text" in body ? body.text : "");
    return typeof status_code === "number" ? status_code : 200;
  } catch {
    return 200;
  }
}
