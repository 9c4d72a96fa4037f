import type { SandboxClient } from "../../client/sandbox.ts";
import type { AdvanceTo, ClockChange, ClockState, Duration, Pending, RanTimer } from "../../client/types.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { flag, group, type Result, sandboxCommand, text } from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable } from "../process.ts";
import { readRate } from "../start-options.ts";
import { lookUpDeliveries } from "./deliveries.ts";

const formatClockLine = ({ now, mode, rate }: ClockState) =>
  `${now}  ${mode}${mode === "scaled" ? ` x${rate}` : ""}`;

function formatPending(pending: readonly Pending[], limit = pending.length): string {
  const rows = pending.slice(0, limit).map(({ due_at, kind, subject }) => [due_at, kind, subject]);
  const more = pending.length > limit ? `\n… and ${pending.length - limit} more` : "";
  return rows.length === 0 ? "Nothing is due." : formatTable(["due at", "kind", "subject"], rows) + more;
}

/** A timer that ran; if it was a webhook's retry, with the receiver's answer (G24). */
interface AnsweredTimer extends RanTimer {
  /** 0 for no answer. */
  response_code?: number;
  /** Why a failed retry failed. */
  why?: string;
}

const MAX_ANSWERS = 200;

/** Adds the answers of the first `MAX_ANSWERS` retries, from their deliveries' logs of attempts. */
async function addAnswers(sandbox: SandboxClient, ran: readonly RanTimer[]): Promise<AnsweredTimer[]> {
  const retries = ran.filter(({ kind }) => kind === "webhook.retry");
  const deliveries = await lookUpDeliveries(
    sandbox,
    retries.slice(0, MAX_ANSWERS).map(({ subject }) => subject),
  );
  return ran.map((timer) => {
    const attempt = deliveries.get(timer.subject)?.log.find(({ at }) => at === timer.at);
    if (attempt === undefined) return timer;
    const { response_code, why } = attempt;
    return { ...timer, response_code, ...(why === null ? {} : { why }) };
  });
}

function formatRan(ran: readonly AnsweredTimer[]): string {
  if (ran.length === 0) return "Nothing became due.";
  const isAnswered = ran.some(({ response_code }) => response_code !== undefined);
  const rows = ran.map(({ at, kind, subject, response_code: code, why = "" }) => [
    at,
    kind,
    subject,
    ...(isAnswered ? [code === 0 ? "none" : String(code ?? ""), why] : []),
  ]);
  return formatTable(["ran at", "kind", "subject", ...(isAnswered ? ["answer", "why"] : [])], rows);
}

/** @throws UsageError if no timer of that kind is pending */
async function findNextInstant({ clock }: SandboxClient, kind: string): Promise<string> {
  const pending = await clock.pending();
  const next = pending.find((one) => one.kind === kind);
  if (next !== undefined) return next.due_at;
  const kinds = [...new Set(pending.map((one) => one.kind))];
  const nearest = findNearest(kind, kinds);
  const hint =
    nearest === undefined ? `pending kinds: ${kinds.join(", ") || "none"}` : `did you mean "${nearest}"?`;
  throw new UsageError(`no ${kind} is pending; ${hint}`);
}

/** Enough for the longest retry schedules of thousands of deliveries. */
const MAX_STEPS = 10_000;

async function advanceUntilDelivered(sandbox: SandboxClient): Promise<Result> {
  const ran: AnsweredTimer[] = [];
  let { now } = await sandbox.clock.show();
  const retriedIds = new Set<string>();
  for (let step = 0; step < MAX_STEPS; step++) {
    const retries = (await sandbox.clock.pending()).filter(({ kind }) => kind === "webhook.retry");
    if (retries.length === 0) break;
    for (const { subject } of retries) retriedIds.add(subject);
    // Advances by a duration, since the clock may run, and the instant be past by now.
    const waitMs = Math.max(0, Date.parse(retries[0]!.due_at) - Date.parse(now));
    const advanced = await sandbox.clock.advance(waitMs);
    now = advanced.now;
    for (const timer of await addAnswers(sandbox, advanced.ran)) ran.push(timer);
  }
  const { items } = await sandbox.deliveries.list({ status: "failed", limit: 10_000 });
  const failedDeliveries = items.filter(({ delivery_id }) => retriedIds.has(delivery_id));
  return {
    value: { now, ran, failed: failedDeliveries },
    text: `${formatRan(ran)}\nNow ${now}.`,
    failed: failedDeliveries
      .map(({ delivery_id, why }) => `${delivery_id} failed for good: ${why}`)
      .join("\n"),
  };
}

const show = sandboxCommand({
  command: "show",
  describe: "Show the sandbox's time, and what is due next",
  async run(_given, { clock }) {
    const [state, pending] = [await clock.show(), await clock.pending()];
    return {
      value: { ...state, pending },
      text: `${formatClockLine(state)}\n\n${formatPending(pending, 20)}`,
    };
  },
});

const pending = sandboxCommand({
  command: "pending",
  describe: "List pending timers, earliest first",
  async run(_given, { clock }) {
    const all = await clock.pending();
    return { value: all, text: formatPending(all) };
  },
});

const advance = sandboxCommand({
  command: "advance [by]",
  describe:
    "Move the clock by 90s, 5m, 6h, 2d or PT5M, to an instant, or to the `next` timer, and run what becomes due",
  options: {
    kind: text("With `next`: to the next timer of this kind, such as webhook.retry"),
    "until-delivered": flag("Run retries until none is pending; exit 1 if a delivery failed for good"),
  },
  examples: [
    ["$0 clock advance next --kind webhook.retry", "To the next retry, past other timers"],
    ["$0 clock advance --until-delivered", "Run all retries at once"],
  ],
  check({ by, kind, "until-delivered": untilDelivered }) {
    if (untilDelivered && (by !== undefined || kind !== undefined))
      throw new UsageError("--until-delivered cannot be combined with <by> and --kind; leave them out");
    if (by === undefined && !untilDelivered)
      throw new UsageError(
        "<by> is missing: give a duration such as 5m, an instant or `next` (understudy clock advance 5m), or use --until-delivered",
      );
    if (kind !== undefined && by !== "next")
      throw new UsageError("--kind goes with `next`: understudy clock advance next --kind KIND");
  },
  toOptionName: () => "<by>",
  async run({ by, kind }, sandbox) {
    if (by === undefined) return advanceUntilDelivered(sandbox);
    let target: Duration | AdvanceTo = by as Duration;
    if (/^\d{4}-/.test(by)) target = { to: by };
    if (by === "next") target = { next: true };
    if (kind !== undefined) target = { to: await findNextInstant(sandbox, kind) };
    const advanced = await sandbox.clock.advance(target);
    const ran = await addAnswers(sandbox, advanced.ran);
    return { value: { ...advanced, ran }, text: `${formatRan(ran)}\nNow ${advanced.now}.` };
  },
});

const set = sandboxCommand({
  command: "set <instant>",
  describe: "Set the time to a later instant and run what becomes due; the mode stays",
  toOptionName: () => "<instant>",
  async run({ instant }, sandbox) {
    // Advances the clock, since a PUT needs the mode, and accepts no instant for the mode `real`.
    const advanced = await sandbox.clock.advance({ to: instant });
    const ran = await addAnswers(sandbox, advanced.ran);
    const state = await sandbox.clock.show();
    return { value: { ...state, ran }, text: `${formatRan(ran)}\n${formatClockLine(state)}` };
  },
});

const freeze = sandboxCommand({
  command: "freeze",
  describe: "Stop the clock at its current time",
  async run(_given, { clock }) {
    const state = await clock.freeze();
    return { value: state, text: formatClockLine(state) };
  },
});

/**
 * `real` shows the wall clock, which may be far ahead; `x1` runs as fast, from the sandbox's current time.
 * @throws UsageError
 */
function toRunChange(rate = "x1"): ClockChange {
  return rate === "real" ? { mode: "real" } : { mode: "scaled", rate: readRate(rate) };
}

const run = sandboxCommand({
  command: "run [rate]",
  describe:
    "Run the clock from its current time, at x1 or a rate such as x60; `real` sets it to the real time",
  check: ({ rate }) => void toRunChange(rate),
  toOptionName: () => "<rate>",
  async run({ rate }, { clock }) {
    const state = await clock.set(toRunChange(rate));
    return { value: state, text: formatClockLine(state) };
  },
});

export const clockCommand = group(
  "clock",
  "Read and move a sandbox's time",
  [show, pending, advance, set, freeze, run],
  ["$0 clock advance 6h", "Six hours of retries, at once"],
);
