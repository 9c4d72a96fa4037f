import type { Method } from "../../engine/contract/operation.ts";
import type { Settings } from "../../engine/contract/settings.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { apiKeys } from "../../engine/resources/api-keys/schema.ts";
import { type Delivery, deliveries } from "../../engine/resources/webhooks/schema.ts";
import type { Sandbox, SandboxChange } from "../../engine/sandbox/sandbox.ts";
import type { LoadedFixture } from "../../engine/sandbox/sandbox-value.ts";
import type { ClockMode } from "../../engine/state/clock.ts";
import { listWrites } from "../../engine/state/transaction.ts";
import type { Commit } from "../../engine/state/world-parts.ts";
import type { RecordedAttempt } from "./bundle.ts";

/** The initial state of a sandbox, from which a replay begins. */
interface InitialSandbox {
  fixture: LoadedFixture;
  seed: number;
  resets: number;
  mode: ClockMode;
  rate: number | undefined;
  /** Milliseconds since 1970 on the sandbox's clock. */
  begin: number;
  settings: Settings;
  scenarios: readonly string[];
  ownResources: Sandbox["ownResources"];
  /** The journal's position at that time. */
  position: number;
}

/** A control call that changed a sandbox. */
interface ChangingCall {
  operation: string;
  method: Method;
  /** Below S, such as `/clock/advance`, with its query. */
  path: string;
  body: unknown;
  status: number;
}

export interface RecordedCall {
  /** The journal's position after the call's answer. */
  after: number;
  /** The sandbox's clock after the call's answer, in milliseconds since 1970. */
  now: number;
  /** The sandbox's clock at the world's latest change, in milliseconds since 1970; for a restore, just before it. */
  changed: number;
  /** Whether the call has an entry in the history. */
  hasHistoryEntry: boolean;
  call: ChangingCall;
}

export interface Recording {
  initial: InitialSandbox;
  calls: RecordedCall[];
  /** By delivery, in the order of their ends. Restores and deletions do not remove any, since they do not undo a call to a receiver. */
  attempts: Map<string, RecordedAttempt[]>;
  attemptCount: number;
  callBytes: number;
  /** The ids of API keys that were created since, by key. */
  keys: Map<string, string>;
  /** The names of snapshots that were saved since, by a call that a replay repeats. */
  savedSnapshots: Set<string>;
  /** The reason why this sandbox cannot be replayed; undefined if it can. */
  replayProblem: string | undefined;
  restores: number;
  /** Number of restores whose control call has not been recorded yet. */
  unrecordedRestores: number;
}

/** A sandbox with more control calls cannot be put into a bundle. */
const MAX_CALLS = 10_000;
const MAX_ATTEMPTS = 10_000;
/** Limit for the bodies of all control calls, as JSON. */
const MAX_RECORDED_BYTES = 32 * 1024 * 1024;
/** Calls that begin a recording or do not change the sandbox's world. */
const NOT_REPEATED = new Set([
  "clock.stop",
  "coverage.clear",
  "held.release",
  "history.fork",
  "history.repeat",
  "journal.clear",
  "sandboxes.reset",
  "sandboxes.delete",
  "sandboxes.fork",
  "snapshots.upload",
]);

/**
 * The parts of a bundle that the journal lacks (interfaces.md 4): each sandbox's initial state, and the control calls that
 * changed it, in order. It contains only references, so the recording is cheap.
 */
export class Recordings {
  private readonly recordings = new WeakMap<Sandbox, Recording>();

  find(sandbox: Sandbox): Recording | undefined {
    return this.recordings.get(sandbox);
  }

  readonly onChange = (sandbox: Sandbox, change: SandboxChange): void => {
    if (change === "created" || change === "reset") this.begin(sandbox);
    if (change !== "restored") return;
    const recording = this.recordings.get(sandbox);
    if (recording === undefined) return;
    recording.unrecordedRestores += 1;
    recording.restores += 1;
    // After an edit of its fixture, an untouched sandbox is restored (interfaces.md 6), and marked as untouched afterwards.
    queueMicrotask(() => {
      if (!sandbox.world.isUntouched || this.recordings.get(sandbox) !== recording) return;
      if (sandbox.journal.lastSequence === recording.initial.position) this.begin(sandbox);
      else recording.replayProblem ??= "its fixture was edited after it had answered requests";
    });
  };

  /** Marks a sandbox as not replayable; `why` completes the sentence `... cannot be put into a bundle: `. */
  markNotReplayable(sandbox: Sandbox, why: string): void {
    const recording = this.recordings.get(sandbox);
    if (recording !== undefined) recording.replayProblem ??= why;
  }

  /** Must not throw. */
  readonly onCall = (sandbox: Sandbox, call: ChangingCall, hasHistoryEntry = false): void => {
    const recording = this.recordings.get(sandbox);
    if (recording === undefined) return;
    const { savedSnapshots } = recording;
    const [, snapshot = ""] = /^\/snapshots\/([^/?]+)/.exec(call.path) ?? [];
    if (call.operation === "snapshots.save") savedSnapshots.add((call.body as { name: string }).name);
    if (call.operation === "snapshots.upload") savedSnapshots.delete(snapshot);
    const isUnknown = snapshot !== "" && !savedSnapshots.has(snapshot);
    if (NOT_REPEATED.has(call.operation) || (call.operation === "snapshots.delete" && isUnknown)) return;
    if (call.operation === "snapshots.restore" && isUnknown)
      recording.replayProblem ??= `it went back to the snapshot ${snapshot}, which was not saved since the sandbox was created or reset`;
    const isRestore = call.operation === "snapshots.restore" || call.operation === "history.rewind";
    if (isRestore) recording.unrecordedRestores -= 1;
    recording.callBytes += call.body === undefined ? 0 : JSON.stringify(call.body).length;
    if (recording.calls.length >= MAX_CALLS || recording.callBytes > MAX_RECORDED_BYTES) {
      recording.replayProblem ??= `more than ${MAX_CALLS} control calls, or more than 32 MB of them, have changed it`;
      recording.calls.length = 0;
      return;
    }
    const { journal, world } = sandbox;
    recording.calls.push({
      hasHistoryEntry,
      after: journal.lastSequence,
      now: world.epochNow(),
      changed: isRestore ? world.restoredAt : world.changedAt,
      call: world.isStopped ? toReachedInstant(call, world.epochNow()) : call,
    });
  };

  /** Records that a receiver was closed without a call; a replay closes it by a call. */
  onLeaseEnd(sandbox: Sandbox, receiver_id: string): void {
    this.onCall(sandbox, {
      operation: "receivers.delete",
      method: "DELETE",
      path: `/receivers/${receiver_id}`,
      body: undefined,
      status: 204,
    });
  }

  readonly onCommit = (sandbox: Sandbox, { writes }: Pick<Commit, "writes">): void => {
    const recording = this.recordings.get(sandbox);
    if (recording === undefined) return;
    for (const { id, before, after } of listWrites(apiKeys, writes))
      if (before === undefined && after !== undefined) recording.keys.set(after.key, id);
    for (const { id, before, after } of listWrites(deliveries, writes)) {
      const attempt = findNewAttempt(before, after);
      if (attempt === undefined) continue;
      if (++recording.attemptCount > MAX_ATTEMPTS) {
        recording.replayProblem ??= `more than ${MAX_ATTEMPTS} attempts to deliver were made`;
        recording.attempts.clear();
        return;
      }
      const { response_code, ended_at } = attempt;
      getOrAdd(recording.attempts, id, () => []).push({
        response_code,
        ...(ended_at !== undefined && { ended_at: toIso(sandbox.world.origin + ended_at) }),
        ...(recording.restores > 0 && { restores: recording.restores }),
      });
    }
  };

  private begin(sandbox: Sandbox): void {
    const { world, faults, journal, source, seed, resets, settings } = sandbox;
    const { mode, rate } = world.clock;
    this.recordings.set(sandbox, {
      initial: {
        fixture: source,
        seed,
        resets,
        mode,
        rate: mode === "scaled" ? rate : undefined,
        begin: world.origin,
        settings,
        scenarios: faults.rules.scenarios,
        ownResources: sandbox.ownResources,
        position: journal.lastSequence,
      },
      calls: [],
      attempts: new Map(),
      attemptCount: 0,
      callBytes: 0,
      keys: new Map(),
      savedSnapshots: new Set(),
      replayProblem: world.isUntouched
        ? undefined
        : "it began as a copy of another sandbox, not from its fixture",
      restores: 0,
      unrecordedRestores: 0,
    });
  }
}

/** Deliveries of fixtures and state calls are not attempts: only a real attempt increases the number of attempts by one. */
function findNewAttempt(before: Delivery | undefined, after: Delivery | undefined) {
  if (after === undefined || after.attempts !== (before?.attempts ?? 0) + 1) return undefined;
  const last = after.attempt_log.at(-1);
  return last === before?.attempt_log.at(-1) ? undefined : last;
}

/** A stopped advance ended at the instant that it had reached, not at its target. */
function toReachedInstant(call: ChangingCall, now: number): ChangingCall {
  const at = toIso(now);
  if (call.operation === "clock.advance") return { ...call, body: { to: at } };
  return call.operation === "clock.set" ? { ...call, body: { ...(call.body as object), now: at } } : call;
}

export function toIso(instant: number): string {
  return new Date(instant).toISOString();
}
