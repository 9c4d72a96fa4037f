import type { CommandModule } from "yargs";
import { ControlError } from "../../client/http.ts";
import type { SandboxClient } from "../../client/sandbox.ts";
import type { EventName } from "../../client/types.ts";
import { EXIT_FAILED, UsageError } from "../failure.ts";
import { typedValue } from "../option-values.ts";
import { complain, print, table } from "../output.ts";
import { failureReasons } from "../ran-timers.ts";
import { sendEvents } from "../send-events.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & {
  event: string;
  for: string | undefined;
  set: string[] | undefined;
  organization: string | undefined;
  count: number;
  rate: string | undefined;
  duplicate: boolean;
  shuffle: boolean;
  expect: "success" | undefined;
};

export const triggerCommand: CommandModule<object, Options> = {
  command: "trigger <event>",
  describe: "Emit a webhook event through the path of a real change",
  builder: (argv) =>
    targetOptions(argv)
      .positional("event", {
        type: "string",
        describe: "An event name such as user.created",
        demandOption: true,
      })
      .option("for", { type: "string", requiresArg: true, describe: "Id of the object that fills the data" })
      .option("set", {
        type: "string",
        requiresArg: true,
        array: true,
        describe: "path=value, overrides a field of the data",
      })
      .option("organization", {
        type: "string",
        requiresArg: true,
        describe: "Whose webhooks hear of it, by id",
      })
      .option("count", {
        type: "number",
        default: 1,
        requiresArg: true,
        describe: "How many times, one event each",
      })
      .option("rate", {
        type: "string",
        requiresArg: true,
        describe: "With --count: at most so many a second, such as 5/s",
      })
      .option("duplicate", {
        type: "boolean",
        default: false,
        describe: "Deliver each twice, with the same id and bytes, as a sender does whom no receipt reached",
      })
      .option("shuffle", {
        type: "boolean",
        default: false,
        describe: "With --count: deliver in another order than that in which they happened",
      })
      .option("expect", {
        choices: ["success"],
        describe: "Exit 1 when an attempt fails, or when nobody listens",
      })
      .example(
        "$0 trigger user.created --count 100 --rate 20/s --expect success",
        "Does the receiver keep up?",
      )
      .example(
        "$0 trigger user.created --count 9 --duplicate --shuffle",
        "Is each processed once, whatever the order?",
      )
      .example("$0 trigger file.processed --for file_handbook", "As if its processing had just ended")
      .example("$0 trigger user.created --set email=new@acme.test", "With a field of your own") as never,
  async handler(options) {
    const { count, expect, organization, duplicate, shuffle } = options;
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
      throw new UsageError(`--count takes a whole number from 1 to ${MAX_COUNT}`);
    if (shuffle && count < 2) throw new UsageError("--shuffle needs --count of 2 or more");
    const apart = options.rate === undefined ? 0 : apartOf(options.rate);
    const data = dataOf(options.set);
    const sandbox = await openSandbox(options);
    const deliveries = await sendEvents(sandbox, {
      // The server knows better which events there are, and which was meant.
      event: options.event as EventName,
      options: { for: options.for, data, organization },
      ...{ count, apart, duplicate, shuffle },
    }).catch(inFlags);
    const whys = await failureReasons(sandbox, deliveries);
    const rows = deliveries.map(({ delivery_id, webhook_id, status, response_code }) => [
      delivery_id,
      webhook_id,
      status,
      String(response_code),
      whys.get(delivery_id) ?? "",
    ]);
    const text =
      rows.length === 0
        ? `${options.event} was emitted; no active webhook is registered for it.${await inactiveText(sandbox, options.event)}`
        : table(["delivery", "webhook", "status", "code", "why"], rows);
    const told = deliveries.map((one) => ({ ...one, why: whys.get(one.delivery_id) ?? null }));
    print(options.json, { deliveries: told }, text);
    const failed = deliveries.filter(({ status }) => status !== "success").length;
    if (expect === undefined || (deliveries.length > 0 && failed === 0)) return;
    const what =
      deliveries.length === 0 ? "nobody listens" : `${failed} of ${deliveries.length} attempts failed`;
    complain(what);
    process.exitCode = EXIT_FAILED;
  },
};

/** Webhooks that would have heard of it, a line each. */
async function inactiveText(sandbox: SandboxClient, event: string): Promise<string> {
  const { items } = await sandbox.state("webhooks").list({ active: false, limit: 1000 });
  return items
    .filter(({ events }) => (events as readonly string[]).includes(event))
    .map(
      ({ webhook_id, inactive_because: why }) =>
        `\n${webhook_id} is inactive: ${why ?? "it was created so"}.`,
    )
    .join("");
}

const MAX_COUNT = 10_000;

/** Milliseconds between two events: `5/s`, `5`. @throws UsageError */
function apartOf(rate: string): number {
  const perSecond = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(rate)?.[1] ?? Number.NaN);
  if (!(perSecond > 0)) throw new UsageError(`--rate takes events a second such as 5/s, not "${rate}"`);
  return 1000 / perSecond;
}

/** The server names the fields of its request; whoever sits at a terminal has typed flags. */
function inFlags(error: unknown): never {
  if (!(error instanceof ControlError)) throw error;
  const { status, problem } = error;
  const { detail, field = "" } = problem;
  const flag =
    field === "for" || field === "organization"
      ? `--${field}`
      : field.startsWith("data.")
        ? `--set ${field.slice(5)}`
        : field;
  if (field === "" || !detail.startsWith(field)) throw error;
  throw new ControlError(status, { ...problem, detail: flag + detail.slice(field.length) });
}

/** `a.b=1` becomes `{a: {b: 1}}`; a value that is JSON is read as JSON. @throws UsageError */
function dataOf(assignments: readonly string[] | undefined): Record<string, unknown> | undefined {
  if (assignments === undefined) return undefined;
  const data: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const mark = assignment.indexOf("=");
    if (mark < 1) throw new UsageError(`--set takes path=value, not "${assignment}"`);
    const path = assignment.slice(0, mark).split(".");
    if (
      path.some(
        (part) => part === "" || part === "__proto__" || part === "constructor" || part === "prototype",
      )
    ) {
      throw new UsageError(`--set cannot address "${assignment.slice(0, mark)}"`);
    }
    let place = data;
    for (const part of path.slice(0, -1)) {
      if (typeof place[part] !== "object" || place[part] === null) place[part] = {};
      place = place[part] as Record<string, unknown>;
    }
    place[path.at(-1)!] = typedValue(assignment.slice(mark + 1));
  }
  return data;
}
