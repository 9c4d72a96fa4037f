import type { CommandModule } from "yargs";
import type { DeliveryDetail, DeliveryFilter, JournalEntry, ListedDelivery } from "../../client/types.ts";
import { EXIT_FAILED, UsageError } from "../failure.ts";
import { print, table } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type ListOptions = Target & DeliveryFilter;
type RedeliverOptions = Target & {
  ids: string[];
  "all-failed": boolean;
  since: string | undefined;
  webhook: string | undefined;
  again: boolean | undefined;
};

const SINCE = {
  type: "string",
  requiresArg: true,
  describe: "Of events since this time of the sandbox",
} as const;
const WEBHOOK = { type: "string", requiresArg: true, describe: "Of this webhook, by id" } as const;

export const deliveriesCommand: CommandModule = {
  command: "deliveries",
  describe: "What webhooks were sent, why it failed, and once more",
  builder: (argv) =>
    argv
      .command({
        command: "list",
        describe: "Deliveries of all webhooks, newest first",
        builder: (list) =>
          targetOptions(list)
            .option("status", {
              choices: ["success", "failed", "pending"],
              describe: "Failed for good, or pending a retry",
            })
            .option("event", { type: "string", requiresArg: true, describe: "Of this event" })
            .option("webhook", WEBHOOK)
            .option("since", SINCE)
            .option("limit", {
              type: "number",
              requiresArg: true,
              describe: "Only so many of the newest; 100 by default",
            }),
        async handler({ status, event, webhook, since, limit, ...target }: ListOptions) {
          const { deliveries } = await openSandbox(target as Target);
          const page = await deliveries.list({ status, event, webhook, since, limit });
          print((target as Target).json, page, listText(page.items, page.total));
        },
      } as CommandModule<object, ListOptions>)
      .command({
        command: "show <id>",
        describe: "One with each of its attempts, and what went over the wire",
        builder: targetOptions,
        async handler({ id, ...target }: Target & { id: string }) {
          const delivery = await (await openSandbox(target)).deliveries.get(id);
          print(target.json, delivery, detailText(delivery));
        },
      } as CommandModule<object, Target & { id: string }>)
      .command({
        command: "redeliver [ids..]",
        describe: "One attempt of failed deliveries at once; exit 1 when one fails again",
        builder: (redeliver) =>
          targetOptions(redeliver)
            .positional("ids", { type: "string", array: true, describe: "Their ids", default: [] })
            .option("all-failed", { type: "boolean", default: false, describe: "All that failed" })
            .option("since", SINCE)
            .option("webhook", WEBHOOK)
            .option("again", {
              type: "boolean",
              describe: "With ids: those that were delivered, too, as when a receipt was lost",
            }),
        handler: redeliver,
      } as CommandModule<object, RedeliverOptions>)
      .demandCommand(1, "deliveries needs an action: list, show or redeliver")
      .example("$0 deliveries list --status failed", "What nobody took, and why")
      .example("$0 deliveries redeliver --all-failed --since 2026-03-15", "After the receiver is mended"),
  handler: () => {},
};

async function redeliver({
  ids,
  "all-failed": all,
  since,
  webhook,
  again,
  ...target
}: RedeliverOptions): Promise<void> {
  if (ids.length === 0 && !all) throw new UsageError("name the deliveries, or take --all-failed");
  if (ids.length > 0 && all) throw new UsageError("--all-failed stands for the ids; leave one of them away");
  const { deliveries } = await openSandbox(target);
  const options = all
    ? ({ all_failed: true, since, webhook, again } as const)
    : { ids, since, webhook, again };
  const made = await deliveries.redeliver(options);
  const failed = made.items.filter(({ status }) => status === "failed");
  const text = `${listText(made.items, made.total)}\n\n${made.total - failed.length} of ${made.total} were delivered.`;
  print(target.json, made, made.total === 0 ? "Nothing has failed." : text);
  if (failed.length > 0) process.exitCode = EXIT_FAILED;
}

function listText(items: readonly ListedDelivery[], total: number): string {
  if (items.length === 0) return "No deliveries.";
  const rows = items.map(({ delivery_id, event, webhook_id, status, attempts, next_retry, why, active }) => [
    delivery_id,
    event,
    active ? webhook_id : `${webhook_id} (inactive)`,
    status,
    String(attempts),
    next_retry ?? "",
    why ?? "",
  ]);
  const inactive = new Map(
    items.flatMap(({ webhook_id, inactive_because: why }) =>
      why === null ? [] : [[webhook_id, why] as const],
    ),
  );
  const silent = [...inactive].map(([id, why]) => `\n${id} is inactive: ${why}.`).join("");
  const more = total > items.length ? `\n… and ${total - items.length} older ones; --limit shows more` : "";
  return (
    table(["delivery", "event", "webhook", "status", "attempts", "next retry", "why"], rows) + silent + more
  );
}

function detailText(delivery: DeliveryDetail): string {
  const { delivery_id, event, webhook_id, url, inactive_because, status, log, exchanges, body } = delivery;
  const rows = log.map(({ at, kind, response_code, duration_ms, why, fault }) => [
    at,
    kind,
    response_code === 0 ? "none" : String(response_code),
    `${duration_ms} ms`,
    [why, fault].filter((text) => text !== null).join("; "),
  ]);
  return [
    `${delivery_id}: ${event} to ${webhook_id} (${url}${inactive_because === null ? "" : `, inactive: ${inactive_because}`}), ${status}`,
    "",
    rows.length === 0 ? "No attempt is kept." : table(["at", "attempt", "answer", "took", ""], rows),
    "",
    ...(exchanges.length === 0
      ? [`The journal holds none of its attempts; each sends:\n${body}`]
      : exchanges.map(wireText)),
  ].join("\n");
}

/** The wire of one attempt, as a person reads it. */
function wireText({ id, delivery, request, response, status, reasons }: JournalEntry): string {
  const header = ({ name, value }: { name: string; value: string }) => `  ${name}: ${value}`;
  const shown = (body: unknown) =>
    body === undefined ? [] : ["", `  ${typeof body === "string" ? body : JSON.stringify(body)}`];
  return [
    `> ${id}: POST ${delivery!.url}`,
    ...request.headers.map(header),
    ...shown(request.body),
    `< ${status === 0 ? "no answer" : status}`,
    ...response.headers.map(header),
    ...shown(response.body),
    ...reasons.map((reason) => `  ${reason}`),
    "",
  ].join("\n");
}
