import type { CommandModule } from "yargs";
import { ControlError } from "../../client/http.ts";
import type { EventName } from "../../client/types.ts";
import { UsageError } from "../failure.ts";
import { print, table } from "../output.ts";
import { sandboxOf, type Target, targetOptions } from "../target.ts";
import { typedValue } from "../typed-value.ts";

type Options = Target & { event: string; for: string | undefined; set: string[] | undefined };

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
      .example("$0 trigger file.processed --for file_handbook", "As if its processing had just ended")
      .example("$0 trigger user.created --set email=new@acme.test", "With a field of your own") as never,
  async handler(options) {
    const data = dataOf(options.set);
    const { events } = await sandboxOf(options);
    // The server knows better which events there are, and which was meant.
    const event = options.event as EventName;
    const { deliveries } = await events.trigger(event, { for: options.for, data }).catch(inFlags);
    const rows = deliveries.map(({ delivery_id, webhook_id, status, response_code }) => [
      delivery_id,
      webhook_id,
      status,
      String(response_code),
    ]);
    const text =
      rows.length === 0
        ? `${options.event} was emitted; no active webhook is registered for it.`
        : table(["delivery", "webhook", "status", "code"], rows);
    print(options.json, { deliveries }, text);
  },
};

/** The server names the fields of its request; whoever sits at a terminal has typed flags. */
function inFlags(error: unknown): never {
  if (!(error instanceof ControlError)) throw error;
  const { status, problem } = error;
  const { detail, field = "" } = problem;
  const flag = field === "for" ? "--for" : field.startsWith("data.") ? `--set ${field.slice(5)}` : field;
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
