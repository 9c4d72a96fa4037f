import type { Check, Context } from "../../check.ts";
import { judgeRefusal } from "../../judge-refusal.ts";
import { judgeSuccess, succeeded } from "../../judge-success.ts";

/** A name that resolves nowhere (RFC 2606); the webhook is inactive besides. */
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
