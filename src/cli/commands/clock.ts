import type { CommandModule } from "yargs";
import type { SandboxClient } from "../../client/sandbox.ts";
import type { ClockState, Duration, Pending } from "../../client/types.ts";
import { nearest } from "../../engine/contract/text.ts";
import { EXIT_FAILED, UsageError } from "../failure.ts";
import { readRate } from "../option-values.ts";
import { complain, print, table } from "../output.ts";
import { type RanWithAnswer, ranTable, withAnswers } from "../ran-timers.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

const show = (clock: ClockState) =>
  `${clock.now}  ${clock.mode}${clock.mode === "scaled" ? ` x${clock.rate}` : ""}`;

function dueTable(pending: readonly Pending[], limit = pending.length): string {
  const due = pending.slice(0, limit).map(({ due_at, kind, subject }) => [due_at, kind, subject]);
  const more = pending.length > limit ? `\n… and ${pending.length - limit} more` : "";
  return due.length === 0 ? "Nothing is due." : table(["due at", "kind", "subject"], due) + more;
}

type AdvanceOptions = Target & {
  by: string | undefined;
  kind: string | undefined;
  "until-delivered": boolean;
};

async function advance({
  by: given,
  kind,
  "until-delivered": untilDelivered,
  ...target
}: AdvanceOptions): Promise<void> {
  if (untilDelivered && (given !== undefined || kind !== undefined))
    throw new UsageError("--until-delivered excludes <by> and --kind; leave them out");
  if (given === undefined && !untilDelivered)
    throw new UsageError(
      "<by> is missing: understudy clock advance <by>, a duration such as 5m, an instant or `next`; or --until-delivered instead",
    );
  const by = String(given);
  if (kind !== undefined && by !== "next")
    throw new UsageError("--kind goes with `next`: understudy clock advance next --kind KIND");
  const sandbox = await openSandbox(target);
  if (untilDelivered) return advanceUntilDelivered(sandbox, target);
  const result = await sandbox.clock.advance(
    kind !== undefined
      ? await findNext(sandbox, kind)
      : by === "next"
        ? { next: true }
        : /^\d{4}-/.test(by)
          ? { to: by }
          : (by as Duration),
  );
  const ran = await withAnswers(sandbox, result.ran);
  print(target.json, { ...result, ran }, `${ranTable(ran)}\nIt is ${result.now}.`);
}

/** @throws UsageError if no timer of that kind is pending */
async function findNext({ clock }: SandboxClient, kind: string): Promise<{ to: string }> {
  const pending = await clock.pending();
  const next = pending.find((one) => one.kind === kind);
  if (next !== undefined) return { to: next.due_at };
  const kinds = [...new Set(pending.map((one) => one.kind))];
  const meant = nearest(kind, kinds);
  const hint = meant === undefined ? `pending are ${kinds.join(", ") || "none"}` : `did you mean "${meant}"?`;
  throw new UsageError(`no ${kind} is pending; ${hint}`);
}

/** More steps than long retry schedules of many deliveries take. */
const MAX_STEPS = 10_000;

async function advanceUntilDelivered(sandbox: SandboxClient, target: Target): Promise<void> {
  const ran: RanWithAnswer[] = [];
  let { now } = await sandbox.clock.show();
  const retried = new Set<string>();
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = (await sandbox.clock.pending()).find(({ kind }) => kind === "webhook.retry");
    if (next === undefined) break;
    const moved = await sandbox.clock.advance({ to: next.due_at });
    now = moved.now;
    for (const timer of await withAnswers(sandbox, moved.ran)) {
      ran.push(timer);
      if (timer.kind === "webhook.retry") retried.add(timer.subject);
    }
  }
  const failed = (await sandbox.deliveries.list({ status: "failed", limit: 10_000 })).items.filter(
    ({ delivery_id }) => retried.has(delivery_id),
  );
  print(target.json, { now, ran, failed }, `${ranTable(ran)}\nIt is ${now}.`);
  if (failed.length === 0) return;
  complain(failed.map(({ delivery_id, why }) => `${delivery_id} failed for good: ${why}`).join("\n"));
  process.exitCode = EXIT_FAILED;
}

export const clockCommand: CommandModule = {
  command: "clock",
  describe: "Read and move a sandbox's time",
  builder: (argv) =>
    argv
      .command({
        command: "show",
        describe: "The sandbox's now, and what is due next",
        builder: targetOptions,
        async handler(target: Target) {
          const { clock } = await openSandbox(target);
          const [state, pending] = [await clock.show(), await clock.pending()];
          print(target.json, { ...state, pending }, `${show(state)}\n\n${dueTable(pending, 20)}`);
        },
      } as CommandModule<object, Target>)
      .command({
        command: "pending",
        describe: "All that is due, soonest first",
        builder: targetOptions,
        async handler(target: Target) {
          const pending = await (await openSandbox(target)).clock.pending();
          print(target.json, pending, dueTable(pending));
        },
      } as CommandModule<object, Target>)
      .command({
        command: "advance [by]",
        describe: "Move forward and run what becomes due: 90s, 5m, 6h, 2d, PT5M, an instant, or `next`",
        builder: (one) =>
          targetOptions(one)
            .option("kind", {
              type: "string",
              requiresArg: true,
              describe: "With `next`: to the next of this kind, such as webhook.retry",
            })
            .option("until-delivered", {
              type: "boolean",
              default: false,
              describe: "From retry to retry until none is pending; exit 1 when a delivery failed for good",
            })
            .example(
              "$0 clock advance next --kind webhook.retry",
              "The next retry, whatever else comes before it",
            )
            .example("$0 clock advance --until-delivered", "All six attempts, in a moment") as never,
        handler: advance,
      } as CommandModule<object, AdvanceOptions>)
      .command({
        command: "set <instant>",
        describe: "Go to an instant, running what becomes due on the way; the mode stays",
        builder: targetOptions,
        async handler(target: Target & { instant: string }) {
          const sandbox = await openSandbox(target);
          // PUT would have to repeat the mode, and the real clock takes no instant.
          const moved = await sandbox.clock.advance({ to: target.instant });
          const ran = await withAnswers(sandbox, moved.ran);
          const state = await sandbox.clock.show();
          print(target.json, { ...state, ran }, `${ranTable(ran)}\n${show(state)}`);
        },
      } as CommandModule<object, Target & { instant: string }>)
      .command({
        command: "freeze",
        describe: "Stop where it is",
        builder: targetOptions,
        async handler(target: Target) {
          const state = await (await openSandbox(target)).clock.freeze();
          print(target.json, state, show(state));
        },
      } as CommandModule<object, Target>)
      .command({
        command: "run [rate]",
        describe:
          "Let it run from where it is, as fast as wanted (x1, x60, x3600), or with the wall clock: real",
        builder: targetOptions,
        async handler(target: Target & { rate?: string }) {
          // `real` is the wall clock, which may be far ahead; x1 runs as fast from where it stands.
          const wanted =
            target.rate === "real"
              ? ({ mode: "real" } as const)
              : ({ mode: "scaled", rate: readRate(target.rate ?? "x1") } as const);
          const state = await (await openSandbox(target)).clock.set(wanted);
          print(target.json, state, show(state));
        },
      } as CommandModule<object, Target & { rate?: string }>)
      .demandCommand(1, "clock needs an action: show, pending, advance, set, freeze or run")
      .example("$0 clock advance 6h", "Six hours of retries, in a moment"),
  handler: () => {},
};
