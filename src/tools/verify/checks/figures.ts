import { DEFAULT_RETRY_SCHEDULE } from "../../../engine/webhooks/schedule.ts";
import { type Check, createSuccessCheck } from "../check.ts";
import { toExcerpt } from "../check-answer.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

interface Figures {
  monthly_limit: number | null;
  current_usage: number;
  utilization_percentage: number | null;
  remaining_budget?: number | null;
  status: string;
}

/** Figures have two decimals, and are classified before rounding (G33). */
const ROUNDING = 0.01;
const WORST_STATUS_FIRST = ["exceeded", "warning", "ok", "no_limit"];

function checkFigures(verdict: Verdict, name: string, figures: Figures): void {
  const { monthly_limit, current_usage, utilization_percentage: utilization, status } = figures;
  if (monthly_limit === null || status === "no_limit") {
    verdict.expect(status === "no_limit", `${name} has no limit and the status ${status}`);
    verdict.expect(
      monthly_limit === null && utilization === null,
      `${name} has figures without a limit`,
      "G33",
    );
    return;
  }
  if (utilization === null) {
    const assumption = monthly_limit === 0 ? "G33" : undefined;
    verdict.expect(false, `${name} has a limit and no utilization`, assumption);
    return;
  }
  const isNearBorder = [80, 100].some((border) => Math.abs(utilization - border) < ROUNDING);
  const expected = utilization >= 100 ? "exceeded" : utilization >= 80 ? "warning" : "ok";
  verdict.expect(isNearBorder || status === expected, `${name}: ${utilization} percent, status ${status}`);
  if (monthly_limit > 0) {
    const share = (current_usage / monthly_limit) * 100;
    // One percent of the share is tolerated.
    const difference = Math.abs(share - utilization) - share / 100;
    // A service may round to whole percents, and the usage to two decimals.
    const assumption = difference <= 0.5 + (ROUNDING / monthly_limit) * 100 ? "G33" : undefined;
    const problem = `${name}: ${current_usage} of ${monthly_limit} is not ${utilization} percent`;
    verdict.expect(difference <= 0.1, problem, assumption);
  }
  if (typeof figures.remaining_budget === "number") {
    const remaining = Math.max(0, monthly_limit - current_usage);
    // Each of the three amounts is rounded.
    const fits = Math.abs(remaining - figures.remaining_budget) < 2 * ROUNDING;
    verdict.expect(fits, `${name}: remaining_budget is ${figures.remaining_budget}, not ${remaining}`, "G33");
  }
}

function checkUsage(verdict: Verdict, { json: body }: Exchange): void {
  const keys = body.api_key_limits as (Figures & { api_key_id: string })[];
  checkFigures(verdict, "organization_limits", body.organization_limits);
  if (body.api_limits !== null) checkFigures(verdict, "api_limits", body.api_limits);
  for (const key of keys) checkFigures(verdict, key.api_key_id, key);
  const { total_keys, keys_with_limits, keys_exceeded, overall_status } = body.summary;
  const limited = keys.filter(({ monthly_limit }) => monthly_limit !== null).length;
  const exceeded = keys.filter(({ status }) => status === "exceeded").length;
  verdict.expect(keys_with_limits === limited, `keys_with_limits is ${keys_with_limits}, not ${limited}`);
  verdict.expect(keys_exceeded === exceeded, `keys_exceeded is ${keys_exceeded}, not ${exceeded}`);
  verdict.expect(total_keys === keys.length, `total_keys is ${total_keys}, not ${keys.length}`, "G33");
  const statuses = [body.organization_limits, body.api_limits, ...keys].map((one) => one?.status);
  const worst = WORST_STATUS_FIRST.find((status) => statuses.includes(status));
  verdict.expect(overall_status === worst, `overall_status is ${overall_status}, not ${worst}`, "G33");
}

const usageFigures = createSuccessCheck(
  "usage.retrieve_limits",
  { name: "figures", section: "3.6", title: "usage.retrieve_limits has figures that fit each other" },
  checkUsage,
  async (context, { params }) => {
    for (const month of [1, 12])
      await context.sendAndCheck("usage.retrieve_limits", { params, query: { month, year: 2020 } });
  },
);

const processingProgress = createSuccessCheck(
  "store_files.retrieve_status",
  {
    name: "progress",
    section: "3.1",
    title: "store_files.retrieve_status: progress, step and end agree with the status",
  },
  (verdict, { json: body }) => {
    const { status, progress_percent, current_step, started_at, completed_at } = body;
    const isInOrder = completed_at === null || Date.parse(started_at) <= Date.parse(completed_at);
    verdict.expect(isInOrder, `completed at ${completed_at}, but started at ${started_at}`);
    if (status === "completed") {
      const fits = progress_percent === 100 && current_step === null && completed_at !== null;
      verdict.expect(fits, `completed, but ${toExcerpt(body)}`);
    } else if (status === "processing") {
      verdict.expect(progress_percent < 100 && current_step !== null, `processing, but ${toExcerpt(body)}`);
      verdict.expect(completed_at === null, `processing, but completed at ${completed_at}`, "G11");
    } else
      verdict.expect(status === "failed" && current_step === null, `${status}: ${toExcerpt(body)}`, "G11");
  },
);

const compareCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const createModelCheck = (operation: string, section: string, assumption?: string | undefined) =>
  createSuccessCheck(
    operation,
    { name: "order", section, title: `${operation} sorts and counts active models` },
    (verdict, { json: body }) => {
      const list = body.models as { order: number; title: string; is_active: boolean }[];
      const active = list.every(({ is_active }) => is_active);
      verdict.expect(active, "an inactive model is listed", assumption);
      verdict.expect(body.total_count === list.length, `total_count is ${body.total_count}`, assumption);
      const isSortedBy = (compareTitles: (a: string, b: string) => number) =>
        list.every((model, i) => {
          const previous = list[i - 1] ?? model;
          return (previous.order - model.order || compareTitles(previous.title, model.title)) <= 0;
        });
      const isByCodePoints = isSortedBy(compareCodePoints);
      const isSorted =
        isByCodePoints ||
        isSortedBy((a, b) => compareCodePoints(a.toLowerCase(), b.toLowerCase())) ||
        isSortedBy((a, b) => a.localeCompare(b, "en"));
      verdict.expect(isSorted, "models are not sorted by order and title", assumption);
      if (isSorted)
        verdict.expect(isByCodePoints, "titles are not sorted by code points", assumption ?? "G39");
    },
  );

const modelOrder = createModelCheck("models.list_for_organization", "4.18");
const organizationModels: Check = {
  ...modelOrder,
  async run(context) {
    if (context.successes.has("models.list_for_organization")) return modelOrder.run(context);
    context.verdict.confirm("G22");
    context.verdict.note("the service does not have this operation yet");
  },
};

const authConfigTotal = createSuccessCheck(
  "connectors.list_auth_configs",
  { name: "total", section: "4.10", title: "connectors.list_auth_configs counts its entries" },
  (verdict, { json: { auth_configs, total } }) => {
    verdict.expect(total === auth_configs.length, `total is ${total}, not ${auth_configs.length}`);
  },
);

const hiddenSecrets = createSuccessCheck(
  "webhooks.list",
  { name: "no-secret", section: "2.12", title: "webhooks.list shows no secret" },
  (verdict, { text }) => {
    verdict.expect(!/"secret"\s*:|:\s*"whsec_/.test(text), "a secret is in the listing");
  },
);

export interface ListedDelivery {
  delivery_id: string;
  status: string;
  response_code: number;
  attempts: number;
  delivered_at?: unknown;
  last_attempt?: unknown;
  next_retry?: unknown;
}

const deliveryTimes = createSuccessCheck(
  "webhooks.list_deliveries",
  {
    name: "times",
    section: "2.12",
    title: "webhooks.list_deliveries shows when each was delivered, or last tried",
  },
  (verdict, { json }) => {
    const list = json.data as ListedDelivery[];
    if (list.length === 0) return verdict.note("a webhook has no deliveries, so its list was not checked");
    for (const delivery of list) {
      const timeField = delivery.status === "success" ? "delivered_at" : "last_attempt";
      verdict.expect(typeof delivery[timeField] === "string", `${delivery.delivery_id} has no ${timeField}`);
      if (delivery.status === "success") continue;
      // Section 2.12 does not say whether it is absent or null after the last attempt.
      verdict.expect("next_retry" in delivery, `${delivery.delivery_id} has no next_retry`, "G24");
      checkNextRetry(verdict, delivery);
    }
  },
);

/** A receiver may take this long: a retry may become due during a redelivery, and its delay begins when an attempt ends. */
const MAX_ANSWER_MS = 30_000;

/** Checks that a retry is not due before the last attempt, and not after the longest delay of section 6.4. */
function checkNextRetry(verdict: Verdict, delivery: ListedDelivery): void {
  const { delivery_id, attempts, last_attempt, next_retry } = delivery;
  if (typeof next_retry !== "string" || typeof last_attempt !== "string") return;
  // A redelivery counts as an attempt, and leaves the next retry as it was (G24).
  const longest = DEFAULT_RETRY_SCHEDULE[attempts - 1] ?? DEFAULT_RETRY_SCHEDULE.at(-1)!;
  const delay = Date.parse(next_retry) - Date.parse(last_attempt);
  verdict.expect(
    delay >= -MAX_ANSWER_MS && delay <= longest + 2 * MAX_ANSWER_MS,
    `${delivery_id} was tried ${attempts} times, last at ${last_attempt}, and again at ${next_retry}`,
  );
}

const deliveryOutcomes = createSuccessCheck(
  "webhooks.list_deliveries",
  {
    name: "outcomes",
    section: "3.3",
    title: "webhooks.list_deliveries: a delivery succeeded if the receiver answered 2xx",
  },
  (verdict, { json }) => {
    for (const delivery of json.data as ListedDelivery[]) checkDeliveryOutcome(verdict, delivery);
  },
);

/** Checks that a delivery is a success exactly if its receiver answered 2xx (section 3.3). */
export function checkDeliveryOutcome(
  verdict: Verdict,
  { delivery_id, status, response_code, attempts }: ListedDelivery,
): void {
  verdict.expect(attempts >= 1, `${delivery_id} is listed with ${attempts} attempts`);
  const isAccepted = response_code >= 200 && response_code < 300;
  const problem = `${delivery_id} was answered ${response_code}, and its status is "${status}"`;
  verdict.expect(isAccepted === (status === "success"), problem);
}

export const figureChecks: readonly Check[] = [
  usageFigures,
  processingProgress,
  createModelCheck("models.list", "G21", "G21"),
  organizationModels,
  authConfigTotal,
  hiddenSecrets,
  deliveryTimes,
  deliveryOutcomes,
];
