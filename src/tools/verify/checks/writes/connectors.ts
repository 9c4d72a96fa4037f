import type { Check } from "../../check.ts";
import { judgeSuccess, succeeded } from "../../judge-success.ts";
import { whatIsMissing } from "../../parameters.ts";

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
