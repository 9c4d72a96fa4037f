import type { Check, Context } from "../check.ts";
import { judgeSuccess, succeeded } from "../judge-answer.ts";
import { judgeAnyRefusal, judgeRefusal } from "../judge-refusal.ts";
import { whatIsMissing } from "../known-objects.ts";
import type { Exchange } from "../target.ts";

async function currentOrganization({ contract, target }: Context): Promise<string | null> {
  const exchange = await target.send({ operation: contract.operation("models.list") });
  return exchange.headers.get("service-organization");
}

const current: Check = {
  id: "users.set_current_organization/there-and-back",
  family: "writes",
  section: "4.5",
  title: "users.set_current_organization sets the organization, and back",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const before = await currentOrganization(context);
    if (before === null) return verdict.notObservable("no answer says what the organization is now");
    const operation = contract.operation("users.set_current_organization");
    const set = (organization_id: string) => target.send({ operation, body: { organization_id } });
    judgeSet(context, await set(before), before);
    const other = known.candidates("other_organization_id").find((id) => id !== before);
    if (other === undefined) {
      verdict.note(`set to ${before} again only; ${whatIsMissing(known, ["other_organization_id"])}`);
      return;
    }
    const change = { done: `set the key's organization to ${other}`, undone: false, detail: "" };
    changes.push(change);
    try {
      judgeSet(context, await set(other), other);
      const now = await currentOrganization(context);
      verdict.expect(now === other, `the next answer is of ${now}, not ${other}`, "G32");
    } finally {
      const back = await target.undo(() => set(before));
      change.undone = succeeded(back);
      change.detail = change.undone ? `back to ${before}` : `setting ${before} again answered ${back.status}`;
    }
    verdict.expect((await currentOrganization(context)) === before, `it is not ${before} again`, "G32");
  },
};

function judgeSet({ verdict }: Context, exchange: Exchange, organization_id: string): void {
  if (!judgeSuccess(verdict, exchange) || !succeeded(exchange)) return;
  const { success, current_organization_id, organization } = exchange.json;
  verdict.expect(success === true, `success is ${success}`);
  const fits = current_organization_id === organization_id && organization.id === organization_id;
  verdict.expect(fits, `it was set to ${current_organization_id} instead of ${organization_id}`);
}

/** 3.5 and 4.3. Moves a department to the top and back under the parent that the user says it has. */
const reparent: Check = {
  id: "departments.reparent/there-and-back",
  family: "writes",
  section: "4.3",
  title: "departments.reparent moves a department to the top, and back",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const names = ["organization_id", "department_id", "parent_department_id"];
    const [where] = known.bindings(names, 1);
    if (where === undefined) return verdict.notObservable(whatIsMissing(known, names));
    const { organization_id, department_id, parent_department_id } = where as Record<string, string>;
    const parent = parent_department_id === "null" ? null : parent_department_id!;
    const operation = contract.operation("departments.reparent");
    const params = { organization_id: organization_id!, department_id: department_id! };
    const move = (new_parent_id: string | null) =>
      target.send({ operation, params, body: { new_parent_id } });

    const cycle = await move(department_id!);
    if (cycle.status === 403) {
      judgeAnyRefusal(verdict, cycle);
      return verdict.notObservable("the key's user may not move departments");
    }
    const details = { department_id, new_parent_id: department_id };
    judgeRefusal(verdict, cycle, { code: "DEPARTMENT_CYCLE_DETECTED", details });
    if (parent === null) return verdict.note("it is at the top already, so only the cycle was tried");
    const change = { done: `moved ${department_id} to the top`, undone: false, detail: "" };
    changes.push(change);
    try {
      judgeMoved(context, await move(null), null);
    } finally {
      const back = await target.undo(() => move(parent));
      change.undone = succeeded(back);
      change.detail = change.undone ? `back under ${parent}` : `moving it back answered ${back.status}`;
      judgeMoved(context, back, parent);
    }
  },
};

function judgeMoved({ verdict }: Context, exchange: Exchange, parent: string | null): void {
  if (!judgeSuccess(verdict, exchange) || !succeeded(exchange)) return;
  const { id, parent_id, path, depth } = exchange.json;
  const chain = String(path).split("/");
  verdict.expect(parent_id === parent, `parent_id is ${parent_id} instead of ${parent}`);
  verdict.expect(chain.at(-1) === id, `the path ${path} does not end with ${id}`);
  const above = chain.at(-2) ?? null;
  verdict.expect(above === parent, `the path ${path} has ${above} above it, not ${parent}`);
  verdict.expect(depth === chain.length - 1, `the depth of ${path} is ${depth}`, "G10");
}

export { current as currentOrganizationCheck, reparent as reparentCheck };

/** A name that resolves nowhere (RFC 2606); the webhook is also inactive. */
const NOWHERE = "https://understudy-verify.invalid/hook";
const DESCRIPTION = "Made by understudy verify, which deletes it again";

const lifecycle: Check = {
  id: "webhooks/lifecycle",
  family: "writes",
  section: "4.21",
  title: "webhooks are created, listed, changed, tested and deleted",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const url = known.one("webhook_url") ?? NOWHERE;
    const created = await target.send({
      operation: contract.operation("webhooks.create"),
      body: { url, events: ["user.created"], description: DESCRIPTION, active: false },
    });
    const webhook_id = created.json?.data?.webhook_id as string | undefined;
    const judged = judgeSuccess(verdict, created);
    if (!succeeded(created) || webhook_id === undefined) return;
    const change = { done: `created the inactive webhook ${webhook_id}`, undone: false, detail: "" };
    changes.push(change);
    const params = { webhook_id };
    try {
      if (judged) await judgeLife(context, { params, url });
    } finally {
      const operation = contract.operation("webhooks.delete");
      const deleted = await target.undo(() => target.send({ operation, params }));
      change.undone = succeeded(deleted);
      change.detail = change.undone ? "deleted it again" : `deleting it answered ${deleted.status}`;
      judgeSuccess(verdict, deleted);
    }
    const gone = await target.send({ operation: contract.operation("webhooks.list_deliveries"), params });
    judgeRefusal(verdict, gone, {
      code: "RESOURCE_NOT_FOUND",
      details: params,
      codeGap: "G27",
      detailsGap: "G27",
    });
  },
};

interface Made {
  params: { webhook_id: string };
  url: string;
}

async function judgeLife(context: Context, { params, url }: Made): Promise<void> {
  const { contract, target, verdict, known } = context;
  const listed = await target.send({ operation: contract.operation("webhooks.list") });
  if (judgeSuccess(verdict, listed) && succeeded(listed)) {
    const own = (listed.json.data as { webhook_id: string; url: string }[]).find(
      ({ webhook_id }) => webhook_id === params.webhook_id,
    );
    verdict.expect(own?.url === url, `${params.webhook_id} is not in the list as it was created`);
    verdict.expect(own !== undefined && !("secret" in own), "the list shows its secret");
  }
  const updated = await target.send({
    operation: contract.operation("webhooks.update"),
    params,
    body: { url, events: ["user.created", "thread.deleted"], active: false },
  });
  if (judgeSuccess(verdict, updated) && succeeded(updated)) {
    const events = updated.json?.data?.events;
    verdict.expect(events?.length === 2, `after the update its events are ${events}`, "G23");
  }
  if (!known.isGiven("webhook_url")) {
    verdict.note("no delivery was tried: --use webhook_url=… names a receiver that may be called");
    return;
  }
  await judgeDelivery(context, params);
}

async function judgeDelivery({ contract, target, verdict }: Context, params: Made["params"]): Promise<void> {
  const tested = await target.send({ operation: contract.operation("webhooks.test"), params });
  if (!judgeSuccess(verdict, tested) || !succeeded(tested)) return;
  const listed = await target.send({ operation: contract.operation("webhooks.list_deliveries"), params });
  if (!judgeSuccess(verdict, listed) || !succeeded(listed)) return;
  const [delivery] = listed.json.data as { delivery_id: string; status: string; response_code: number }[];
  if (!verdict.expect(delivery !== undefined, "the test is not among the deliveries", "G24")) return;
  const { delivery_id, status, response_code } = delivery!;
  const accepted = response_code >= 200 && response_code < 300;
  verdict.expect(accepted === (status === "success"), `${response_code} is called ${status}`);
  const operation = contract.operation("webhooks.redeliver");
  const again = await target.send({ operation, params: { ...params, delivery_id } });
  if (status === "success") {
    judgeRefusal(verdict, again, { code: "INVALID_INPUT", details: { field: "status" }, gap: "G23" });
  } else judgeSuccess(verdict, again);
}

export const webhookChecks: readonly Check[] = [lifecycle];

const notifications: Check = {
  id: "connector_notifications.update/unchanged",
  family: "writes",
  section: "4.14",
  title: "connector_notifications.update takes the rules that there are",
  async run({ contract, target, known, verdict, answered, changes }) {
    const first = answered.get("connector_notifications.retrieve");
    const rules = first?.exchange.json?.notifications as object[] | undefined;
    if (first === undefined || !Array.isArray(rules))
      return verdict.notObservable("connector_notifications.retrieve has not answered");
    const operation = contract.operation("connector_notifications.update");
    const { params } = first;
    const exchange = await target.send({ operation, params, body: { notifications: rules } });
    if (judgeSuccess(verdict, exchange) && succeeded(exchange)) {
      changes.push({ done: "set the notification rules", undone: true, detail: "to what they were" });
      const same = JSON.stringify(exchange.json.notifications) === JSON.stringify(rules);
      verdict.expect(same, "the rules came back changed");
    }
    const url = known.one("webhook_url");
    if (url === undefined) return verdict.note("no test was sent: --use webhook_url=… names a receiver");
    const test = contract.operation("connector_notifications.test");
    const body = { notification_type: "webhook", url };
    judgeSuccess(verdict, await target.send({ operation: test, params, body }));
  },
};

const job: Check = {
  id: "connector_jobs/trigger-and-cancel",
  family: "writes",
  section: "4.13",
  title: "a connector job is triggered and cancelled",
  async run({ contract, target, known, verdict, changes }) {
    const names = ["organization_id", "scratch_connection_id"];
    const [where] = known.bindings(names, 1);
    if (where === undefined) return verdict.notObservable(whatIsMissing(known, names));
    const organization_id = where["organization_id"]!;
    const connection_id = where["scratch_connection_id"]!;
    const started = await target.send({
      operation: contract.operation("connector_jobs.trigger"),
      params: { organization_id },
      body: { connection_id, job_type: "sync" },
    });
    const fits = judgeSuccess(verdict, started);
    const job_id = started.json?.job_id as string | undefined;
    if (!succeeded(started) || job_id === undefined) return;
    const change = { done: `started the job ${job_id} of ${connection_id}`, undone: false, detail: "" };
    changes.push(change);
    const params = { organization_id, job_id };
    if (fits) {
      verdict.expect(started.json.status === "running", `it is ${started.json.status}`, "G14");
      judgeSuccess(
        verdict,
        await target.send({ operation: contract.operation("connector_jobs.retrieve"), params }),
      );
    }
    const cancelled = await target.undo(() =>
      target.send({ operation: contract.operation("connector_jobs.cancel"), params }),
    );
    change.undone = succeeded(cancelled);
    change.detail = change.undone ? "cancelled it" : `cancelling it answered ${cancelled.status}`;
    judgeSuccess(verdict, cancelled);
    const after = await target.send({ operation: contract.operation("connector_jobs.retrieve"), params });
    verdict.expect(after.json?.status === "cancelled", `after that it is ${after.json?.status}`, "G14");
  },
};

export const connectorChecks: readonly Check[] = [notifications, job];
