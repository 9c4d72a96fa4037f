import { ControlError } from "../../client/http.ts";
import type { SandboxClient } from "../../client/sandbox.ts";
import type { DeliveryDetail, JournalEntry, ListedDelivery } from "../../client/types.ts";
import { choice, flag, group, number, sandboxCommand, text } from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable } from "../process.ts";

const list = sandboxCommand({
  command: "list",
  describe: "List deliveries of all webhooks, newest first",
  options: {
    status: choice(
      ["success", "failed", "pending"],
      "Only this status; a pending delivery is retried, a failed one no longer",
    ),
    event: text("Only this event's"),
    since: text("Only events since this time on the sandbox's clock"),
    webhook: text("Only this webhook's, by its id"),
    limit: number("The maximum number, newest first; 100 by default"),
  },
  async run({ status, event, webhook, since, limit }, { deliveries }) {
    const page = await deliveries.list({ status, event, webhook, since, limit } as object);
    return { value: page, text: formatList(page.items, page.total) };
  },
});

const show = sandboxCommand({
  command: "show <id>",
  describe: "Show a delivery with the request and response of each attempt",
  async run({ id }, { deliveries }) {
    const delivery = await deliveries.get(id);
    return { value: delivery, text: formatDetail(delivery) };
  },
});

const redeliver = sandboxCommand({
  command: "redeliver [ids..]",
  describe: "Retry failed deliveries now, once; exit 1 if one fails again",
  args: { ids: "The deliveries' ids" },
  options: {
    "all-failed": flag("All failed deliveries, including those with a pending retry"),
    since: text("With --all-failed: only events since this time on the sandbox's clock"),
    webhook: text("With --all-failed: only this webhook's, by its id"),
    again: flag("With ids: also redeliver those that succeeded, as if their answer was lost"),
  },
  check({ ids, "all-failed": all, since, webhook, again }) {
    if (ids.length === 0 && !all) throw new UsageError("name the deliveries, or use --all-failed");
    if (ids.length > 0 && all) throw new UsageError("--all-failed cannot be combined with ids");
    if (again && all) throw new UsageError("--again needs ids, and cannot be combined with --all-failed");
    for (const [name, value] of Object.entries({ since, webhook }))
      if (value !== undefined && !all) throw new UsageError(`--${name} needs --all-failed`);
  },
  toOptionName: (inputField) => (inputField.startsWith("ids[") ? "<ids>" : undefined),
  async run({ ids, "all-failed": all, since, webhook, again }, sandbox) {
    const selection = all ? { all_failed: true as const, since, webhook } : { ids, again };
    const page = await sandbox.deliveries.redeliver(selection);
    const { items } = page;
    // A delivery that succeeded before keeps its status if it now fails again, so its latest attempt decides.
    const results = again ? await readLatestAttempts(sandbox, items) : items;
    const failed = results.filter(({ status }) => status === "failed").length;
    const shown = items.map((one, i) => ({ ...one, why: results[i]!.why }));
    const count = items.length;
    const text = `${formatList(shown, count)}\n\n${count - failed} of ${count} were delivered.`;
    return { value: page, text: count === 0 ? "No failed deliveries." : text, failed: failed > 0 };
  },
});

export const deliveriesCommand = group(
  "deliveries",
  "Show deliveries to webhooks and why they failed, and send them again",
  [list, show, redeliver],
  ["$0 deliveries redeliver --all-failed --since 2026-03-15", "After the receiver is fixed"],
);

/** The deliveries by id; one that was deleted with its webhook is missing. @throws ControlError, UnreachableError */
export async function lookUpDeliveries(
  { deliveries }: SandboxClient,
  ids: readonly string[],
): Promise<Map<string, DeliveryDetail>> {
  const found = new Map<string, DeliveryDetail>();
  for (const id of new Set(ids)) {
    const delivery = await deliveries.get(id).catch((error) => {
      if (!(error instanceof ControlError && error.status === 404)) throw error;
    });
    if (delivery) found.set(id, delivery);
  }
  return found;
}

type DeliverySummary = Pick<
  ListedDelivery,
  "delivery_id" | "webhook_id" | "status" | "response_code" | "attempts"
>;

export interface Attempt {
  delivery_id: string;
  webhook_id: string;
  status: "success" | "failed";
  response_code: number;
  why: string | null;
}

/** The latest attempt of each; a delivery that succeeded stays delivered when a second attempt fails. */
export async function readLatestAttempts(
  sandbox: SandboxClient,
  deliveries: readonly DeliverySummary[],
): Promise<Attempt[]> {
  const unclear = deliveries.filter(({ attempts, status }) => attempts > 1 || status === "failed");
  const found = await lookUpDeliveries(
    sandbox,
    unclear.map(({ delivery_id }) => delivery_id),
  );
  return deliveries.map(({ delivery_id, webhook_id, ...delivery }) => {
    const { response_code, why } = found.get(delivery_id)?.log.at(-1) ?? { ...delivery, why: null };
    const status = response_code >= 200 && response_code < 300 ? "success" : "failed";
    return { delivery_id, webhook_id, status, response_code, why };
  });
}

/** As `--status` names it: a failed delivery with a retry to come is pending. */
const getStatus = (status: string, nextRetry: string | null | undefined) =>
  status === "failed" && nextRetry ? "pending" : status;

function formatList(items: readonly ListedDelivery[], total: number): string {
  if (items.length === 0) return "No deliveries.";
  const rows = items.map(({ delivery_id, event, webhook_id, attempts, next_retry, why, active, ...one }) => [
    delivery_id,
    event,
    active ? webhook_id : `${webhook_id} (inactive)`,
    getStatus(one.status, next_retry),
    String(attempts),
    next_retry ?? "",
    why ?? "",
  ]);
  const reasonsByWebhook = new Map(items.map((one) => [one.webhook_id, one.inactive_because]));
  const reasons = [...reasonsByWebhook].map(([id, why]) =>
    why === null ? "" : `\n${id} is inactive: ${why}.`,
  );
  const more = total > items.length ? `\n… and ${total - items.length} older ones; --limit shows more` : "";
  const head = ["delivery", "event", "webhook", "status", "attempts", "next retry", "why"];
  return formatTable(head, rows) + reasons.join("") + more;
}

function formatDetail(delivery: DeliveryDetail): string {
  const { delivery_id, event, webhook_id, url, inactive_because, status, log, exchanges, body } = delivery;
  const { attempts, response_code, created_at, delivered_at, last_attempt, next_retry } = delivery;
  const times = { created: created_at, delivered: delivered_at, "last attempt": last_attempt };
  const rows = log.map(({ at, kind, response_code, duration_ms, why, fault }) => [
    at,
    kind,
    response_code === 0 ? "none" : String(response_code),
    `${duration_ms} ms`,
    [why, fault].filter((text) => text !== null).join("; "),
  ]);
  const inactive = inactive_because === null ? "" : `, inactive: ${inactive_because}`;
  return [
    `${delivery_id}: ${event} to ${webhook_id} (${url}${inactive}), ${getStatus(status, next_retry)}`,
    `attempts: ${attempts}, last answer: ${response_code || "none"}`,
    ...Object.entries({ ...times, "next retry": next_retry }).flatMap(([name, at]) =>
      at == null ? [] : `${name}: ${at}`,
    ),
    "",
    rows.length === 0
      ? "The individual attempts were not recorded."
      : formatTable(["at", "attempt", "answer", "took", ""], rows),
    "",
    ...(exchanges.length === 0
      ? [`The journal no longer has its attempts; the body of each:\n${body}`]
      : exchanges.map(formatExchange)),
  ].join("\n");
}

function formatExchange({ id, delivery, request, response, status, reasons }: JournalEntry): string {
  const formatMessage = ({ headers, body }: JournalEntry["response"]) => [
    ...headers.map(({ name, value }) => `  ${name}: ${value}`),
    ...(body === undefined ? [] : ["", `  ${typeof body === "string" ? body : JSON.stringify(body)}`]),
  ];
  return [
    `> ${id}: POST ${delivery!.url}`,
    ...formatMessage(request),
    `< ${status === 0 ? "no answer" : status}`,
    ...formatMessage(response),
    ...reasons.map((reason) => `  ${reason}`),
    "",
  ].join("\n");
}
