import type { CommandModule } from "yargs";
import type { ClockState, Duration, Pending } from "../../client/types.ts";
import { print, table } from "../output.ts";
import { ranTable, withAnswers } from "../ran-timers.ts";
import { rateOf } from "../rate.ts";
import { sandboxOf, type Target, targetOptions } from "../target.ts";

const show = (clock: ClockState) =>
  `${clock.now}  ${clock.mode}${clock.mode === "scaled" ? ` x${clock.rate}` : ""}`;

function dueTable(pending: readonly Pending[], limit = pending.length): string {
  const due = pending.slice(0, limit).map(({ due_at, kind, subject }) => [due_at, kind, subject]);
  const more = pending.length > limit ? `\n… and ${pending.length - limit} more` : "";
  return due.length === 0 ? "Nothing is due." : table(["due at", "kind", "subject"], due) + more;
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
          const { clock } = await sandboxOf(target);
          const [state, pending] = [await clock.show(), await clock.pending()];
          print(target.json, { ...state, pending }, `${show(state)}\n\n${dueTable(pending, 20)}`);
        },
      } as CommandModule<object, Target>)
      .command({
        command: "pending",
        describe: "All that is due, soonest first",
        builder: targetOptions,
        async handler(target: Target) {
          const pending = await (await sandboxOf(target)).clock.pending();
          print(target.json, pending, dueTable(pending));
        },
      } as CommandModule<object, Target>)
      .command({
        command: "advance <by>",
        describe: "Move forward and run what becomes due: 90s, 5m, 6h, 2d, PT5M, an instant, or `next`",
        builder: targetOptions,
        async handler(target: Target & { by: string }) {
          const sandbox = await sandboxOf(target);
          const by = String(target.by);
          const result = await sandbox.clock.advance(
            by === "next" ? { next: true } : /^\d{4}-/.test(by) ? { to: by } : (by as Duration),
          );
          const ran = await withAnswers(sandbox, result.ran);
          print(target.json, { ...result, ran }, `${ranTable(ran)}\nIt is ${result.now}.`);
        },
      } as CommandModule<object, Target & { by: string }>)
      .command({
        command: "set <instant>",
        describe: "Go to an instant, running what becomes due on the way; the mode stays",
        builder: targetOptions,
        async handler(target: Target & { instant: string }) {
          const sandbox = await sandboxOf(target);
          // PUT would have to name the mode anew, and the real one takes no instant.
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
          const state = await (await sandboxOf(target)).clock.freeze();
          print(target.json, state, show(state));
        },
      } as CommandModule<object, Target>)
      .command({
        command: "run [rate]",
        describe:
          "Let it run from where it is, as fast as wanted (x1, x60, x3600), or with the wall clock: real",
        builder: targetOptions,
        async handler(target: Target & { rate?: string }) {
          const { clock } = await sandboxOf(target);
          // `real` is the wall clock, which may be far ahead; x1 runs as fast from where it stands.
          const state = await clock.set(
            target.rate === "real" ? { mode: "real" } : { mode: "scaled", rate: rateOf(target.rate ?? "x1") },
          );
          print(target.json, state, show(state));
        },
      } as CommandModule<object, Target & { rate?: string }>)
      .demandCommand(1, "clock needs an action: show, pending, advance, set, freeze or run")
      .example("$0 clock advance 6h", "Six hours of retries, in a moment"),
  handler: () => {},
};
