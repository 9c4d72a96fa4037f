import { isDeepStrictEqual } from "node:util";
import type { Check, Context } from "../check.ts";
import { checkSuccess, hasSucceeded, toExcerpt } from "../check-answer.ts";
import { checkAnyRefusal, checkRefusal } from "../check-refusal.ts";
import { checkReceivedDelivery, openReceiver } from "../receiver.ts";
import { checkDeliveryOutcome, type ListedDelivery } from "./figures.ts";

async function findCurrentOrganization(context: Context): Promise<string | null> {
  return (await context.send("models.list")).headers.get("service-organization");
}

/** Runs first, while little of the rate limit is used, since the other organization may have a smaller plan. */
export const currentOrganizationCheck: Check = {
  id: "users.set_current_organization/there-and-back",
  family: "writes",
  section: "4.5",
  title: "users.set_current_organization changes the organization and back",
  async run(context) {
    const { known, verdict } = context;
    const before = await findCurrentOrganization(context);
    if (before === null) return verdict.notObservable("no answer names the current organization");
    const setCurrent = (organization_id: string) =>
      context.send("users.set_current_organization", { body: { organization_id } });
    checkSuccess(verdict, await setCurrent(before));
    const other = known.listCandidates("other_organization_id").find((id) => id !== before);
    if (other === undefined)
      return verdict.note(
        `only set it to ${before} again; ${known.describeMissing(["other_organization_id"])}`,
      );
    await context.checkAndUndo(
      `set the key's organization to ${other}`,
      async () => {
        checkSuccess(verdict, await setCurrent(other));
        const now = await findCurrentOrganization(context);
        verdict.expect(now === other, `the next answer is for the organization ${now}, not ${other}`, "G32");
      },
      { undo: () => setCurrent(before), undone: `back to ${before}`, undoing: `setting ${before} again` },
    );
    const after = await findCurrentOrganization(context);
    verdict.expect(after === before, `the organization was not set back to ${before}`, "G32");
  },
};

/** Moves a department to the top, then back under its parent, which the user names (sections 3.5 and 4.3). */
const reparent: Check = {
  id: "departments.reparent/there-and-back",
  family: "writes",
  section: "4.3",
  title: "departments.reparent moves a department to the top, and back",
  async run(context) {
    const { verdict } = context;
    const ids = context.requireIds("organization_id", "department_id", "parent_department_id");
    const { organization_id, department_id, parent_department_id } = ids;
    const parent = parent_department_id === "null" ? null : parent_department_id;
    const params = { organization_id, department_id };
    const move = (new_parent_id: string | null) =>
      context.send("departments.reparent", { params, body: { new_parent_id } });

    const cycle = await move(department_id);
    if (cycle.status === 403) {
      checkAnyRefusal(verdict, cycle);
      return verdict.notObservable("the key's user may not move departments");
    }
    const details = { department_id, new_parent_id: department_id };
    checkRefusal(verdict, cycle, { code: "DEPARTMENT_CYCLE_DETECTED", details });
    if (parent === null) return verdict.note("it is already at the top, so only the cycle was tried");
    const undoAnswer = await context.checkAndUndo(
      `moved ${department_id} to the top`,
      async () => void checkSuccess(verdict, await move(null)),
      { undo: () => move(parent), undone: `back under ${parent}`, undoing: "moving it back" },
    );
    checkSuccess(verdict, undoAnswer);
  },
};

/** A host name that never resolves (RFC 2606); the webhook is also inactive. */
const UNREACHABLE_URL = "https://understudy-verify.invalid/hook";
const DESCRIPTION = "Created by understudy verify, which deletes it again";

const webhookLifecycle: Check = {
  id: "webhooks/lifecycle",
  family: "writes",
  section: "4.21",
  title: "webhooks are created, listed, changed, tested and deleted",
  async run(context) {
    // A service on this machine can call a receiver that the run opens.
    const isLocal = /^(127\.[\d.]+|localhost|\[::1\])$/.test(new URL(context.target.options.url).hostname);
    const receiver = isLocal && !context.known.isGiven("webhook_url") ? await openReceiver() : undefined;
    try {
      await tryWebhook(context, receiver);
    } finally {
      receiver?.close();
    }
  },
};

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

async function tryWebhook(context: Context, receiver: Receiver | undefined): Promise<void> {
  const { known, verdict } = context;
  const url = known.findOne("webhook_url") ?? receiver?.url ?? UNREACHABLE_URL;
  const body = { url, events: ["user.created"], description: DESCRIPTION, active: false };
  const created = await context.send("webhooks.create", { body });
  const { webhook_id, secret } = (created.json?.data ?? {}) as { webhook_id?: string; secret: string };
  const hasExpectedForm = checkSuccess(verdict, created);
  if (!hasSucceeded(created) || webhook_id === undefined) return;
  const params = { webhook_id };
  const deleted = await context.checkAndUndo(
    `created the inactive webhook ${webhook_id}`,
    async () => {
      if (!hasExpectedForm) return;
      await checkLifecycle(context, { params, created: body });
      for (const one of receiver?.deliveries ?? [])
        checkReceivedDelivery(verdict, one, { webhook_id, secret });
    },
    {
      undo: () => context.send("webhooks.delete", { params }),
      undone: "deleted it again",
      undoing: "deleting it",
    },
  );
  checkSuccess(verdict, deleted);
  await checkListed(context, webhook_id, undefined);
  checkRefusal(verdict, await context.send("webhooks.list_deliveries", { params }), {
    code: "RESOURCE_NOT_FOUND",
    details: params,
    codeAssumption: "G27",
    detailsAssumption: "G27",
  });
}

interface CreatedWebhook {
  params: { webhook_id: string };
  /** The body of its creation. */
  created: { url: string } & Record<string, unknown>;
}

async function checkLifecycle(context: Context, { params, created }: CreatedWebhook): Promise<void> {
  const { verdict } = context;
  const { url } = created;
  await checkListed(context, params.webhook_id, created);
  const body = { url, events: ["user.created", "thread.deleted"], active: false };
  if ((await context.sendAndCheck("webhooks.update", { params, body })) !== undefined)
    await checkListed(context, params.webhook_id, body);
  if (url === UNREACHABLE_URL)
    return verdict.note("no delivery was tried: --use webhook_url=… names a receiver that may be called");
  await checkDelivery(context, params);
}

/** Checks that the list shows a webhook as it was created or changed; `expected` undefined: that it was deleted. */
async function checkListed(
  { verdict, sendAndCheck }: Context,
  webhook_id: string,
  expected: object | undefined,
): Promise<void> {
  const listed = await sendAndCheck("webhooks.list");
  if (listed === undefined) return;
  const all = listed.json.data as (Record<string, unknown> & { webhook_id: string })[];
  const listedWebhook = all.find((one) => one.webhook_id === webhook_id);
  if (expected === undefined)
    return void verdict.expect(listedWebhook === undefined, `${webhook_id} is listed after its deletion`);
  if (listedWebhook === undefined) return void verdict.expect(false, `${webhook_id} is not listed`);
  for (const [name, value] of Object.entries(expected))
    verdict.expect(
      isDeepStrictEqual(listedWebhook[name], value),
      `${webhook_id} is listed with ${name} ${toExcerpt(listedWebhook[name])} instead of ${toExcerpt(value)}`,
    );
  verdict.expect(!("secret" in listedWebhook), "the list shows its secret");
}

async function checkDelivery(context: Context, params: CreatedWebhook["params"]): Promise<void> {
  const { verdict } = context;
  if ((await context.sendAndCheck("webhooks.test", { params })) === undefined) return;
  const listed = await context.sendAndCheck("webhooks.list_deliveries", { params });
  if (listed === undefined) return;
  const [delivery] = listed.json.data as ListedDelivery[];
  if (!verdict.expect(delivery !== undefined, "the test is not among the deliveries", "G24")) return;
  const { delivery_id, status } = delivery!;
  checkDeliveryOutcome(verdict, delivery!);
  const redelivery = await context.send("webhooks.redeliver", { params: { ...params, delivery_id } });
  if (status === "success")
    checkRefusal(verdict, redelivery, {
      code: "INVALID_INPUT",
      details: { field: "status" },
      assumption: "G23",
    });
  else checkSuccess(verdict, redelivery);
}

const notifications: Check = {
  id: "connector_notifications.update/unchanged",
  family: "writes",
  section: "4.14",
  title: "connector_notifications.update accepts the current rules",
  async run(context) {
    const { known, verdict, changes } = context;
    const { params, exchange } = context.requireSuccess("connector_notifications.retrieve");
    const rules = exchange.json?.notifications as object[] | undefined;
    if (!Array.isArray(rules)) return verdict.notObservable("connector_notifications.retrieve has no list");
    const updated = await context.sendAndCheck("connector_notifications.update", {
      params,
      body: { notifications: rules },
    });
    if (updated !== undefined) {
      changes.push({ done: "set the notification rules", undone: true, detail: "to what they were" });
      const isUnchanged = JSON.stringify(updated.json.notifications) === JSON.stringify(rules);
      verdict.expect(isUnchanged, "the rules came back changed");
    }
    const url = known.findOne("webhook_url");
    if (url === undefined) return verdict.note("no test was sent: --use webhook_url=… names a receiver");
    const body = { notification_type: "webhook", url };
    await context.sendAndCheck("connector_notifications.test", { params, body });
  },
};

const connectorJob: Check = {
  id: "connector_jobs/trigger-and-cancel",
  family: "writes",
  section: "4.13",
  title: "a connector job is triggered and cancelled",
  async run(context) {
    const { verdict } = context;
    const ids = context.requireIds("organization_id", "scratch_connection_id");
    const { organization_id, scratch_connection_id: connection_id } = ids;
    const started = await context.send("connector_jobs.trigger", {
      params: { organization_id },
      body: { connection_id, job_type: "sync" },
    });
    const fits = checkSuccess(verdict, started);
    const job_id = started.json?.job_id as string | undefined;
    if (!hasSucceeded(started) || job_id === undefined) return;
    const params = { organization_id, job_id };
    const cancelled = await context.checkAndUndo(
      `started the job ${job_id} of ${connection_id}`,
      async () => {
        if (!fits) return;
        verdict.expect(started.json.status === "running", `it is ${started.json.status}`, "G14");
        await context.sendAndCheck("connector_jobs.retrieve", { params });
      },
      {
        undo: () => context.send("connector_jobs.cancel", { params }),
        undone: "cancelled it",
        undoing: "cancelling it",
      },
    );
    checkSuccess(verdict, cancelled);
    const after = await context.send("connector_jobs.retrieve", { params });
    verdict.expect(
      after.json?.status === "cancelled",
      `after the cancellation the job has the status ${after.json?.status}`,
      "G14",
    );
  },
};

export const writeChecks: readonly Check[] = [reparent, webhookLifecycle, notifications, connectorJob];
