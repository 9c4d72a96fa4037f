import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt, control: call } = useConsole("webhooks");
beforeEach(() => control("POST", "/reset"));

const control = async (method: string, path: string, body?: unknown) => (await call(method, path, body)).body;

/** A receiver inside the server, and a webhook of Acme that delivers to it. */
async function createReceiver(answers: unknown[], events = ["user.created"]) {
  const receiver = await control("POST", "/receivers", { answers });
  const { body } = await api.call("ada", "POST", "/webhooks", { url: receiver.url, events });
  return { receiver, webhook: body.data };
}

const trigger = async (event = "user.created") =>
  (await control("POST", "/events", { event, organization: "org_acme" })).deliveries[0];

describe("the console's webhooks", { timeout: 4 * PATIENCE_MS }, () => {
  it("suggests a record of the event's collection [interfaces 4]", async () => {
    const { page } = await open("?show=trigger&event=thread.deleted");
    const subject = page.getByRole("textbox", { name: "Record", exact: true });
    await see(subject).toHaveAttribute("placeholder", /^thread_/);
    const example = (await subject.getAttribute("placeholder"))!;
    const { body } = await api.call(undefined, "GET", `/_control/sandboxes/default/state/threads/${example}`);
    expect(body.id).toBe(example);
    await choose(page, "Event", /^user\.created/);
    await see(subject).toHaveAttribute("placeholder", /^usr_/);
    await choose(page, "Event", /^invoice\.paid/);
    await see(subject).toHaveAttribute("placeholder", /^inv_/);
  });

  it("shows a delivery's six attempts as the clock advances [G24]", async () => {
    await createReceiver([500]);
    const { page, complaints } = await open();
    const delivery = await trigger();
    const row = page.getByRole("row", { name: /retry in 1 min/ });
    await see(row).toBeVisible();
    await see(row.getByRole("img", { name: "1 failed, 1 due, 4 expected" })).toBeVisible();
    await row.click();
    await see(page).toHaveURL(new RegExp(`delivery=${delivery.delivery_id}`));
    const attempts = page.getByRole("list", { name: "Attempts" }).getByRole("listitem");
    await see(attempts).toHaveText([/^failed.*first: returned 500/, /^due/, ...Array(4).fill(/^expected/)]);
    await expectAccessible(page);
    for (const [made, by] of [
      [2, "1m"],
      [3, "5m"],
      [4, "15m"],
      [5, "1h"],
      [6, "6h"],
    ] as const) {
      await control("POST", "/clock/advance", { by });
      await see(attempts.filter({ hasText: /^failed/ })).toHaveCount(made);
    }
    await see(attempts).toHaveCount(6);
    // Each attempt says why it failed.
    await attempts.nth(5).locator("summary").first().click();
    await see(attempts.nth(5)).toContainText("The receiver answered 500; a delivery succeeds with");
    await see(attempts.nth(5).getByRole("region", { name: "Response" })).toContainText("500");
    await see(page.getByRole("row", { name: /given up/ }).first()).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("filters deliveries, runs a retry early, and redelivers all that failed [interfaces 14]", async () => {
    const { receiver } = await createReceiver([500, 500, 200]);
    for (const _ of [1, 2]) await trigger();
    const { page, complaints } = await open();
    const grid = page.getByRole("grid", { name: "Deliveries" });
    const filter = page.getByRole("searchbox", { name: "Filter deliveries" });
    await filter.fill(`state:retrying event:user.* to:${receiver.id}`);
    await see(grid.getByRole("row")).toHaveCount(3);
    await see(page.getByRole("status").filter({ hasText: /^2 of \d/ })).toBeVisible();
    await filter.fill("state:retrying event:thread.*");
    await see(page.getByText("No deliveries match")).toBeVisible();
    await filter.fill(receiver.id);
    await see(grid.getByRole("row")).toHaveCount(3);
    await filter.fill(`to:${receiver.id}`);
    await grid.getByRole("row").nth(1).click();
    await page.getByRole("button", { name: "Run next retry now" }).press("Enter");
    await see(page.getByText(/^Ran the next retry/)).toBeVisible();
    await see(grid.getByRole("row", { name: /delivered/ })).toHaveCount(1);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Redeliver all failed …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Redeliver all failed" }).click();
    await see(page.getByText(/^Redelivered \d+ deliver/)).toBeVisible();
    await see(grid.getByRole("row", { name: /delivered/ })).toHaveCount(2);
    expect(complaints).toEqual([]);
  });

  it("does not say that a selected row which the filter hides was deleted [interfaces 2]", async () => {
    await createReceiver([200]);
    const { delivery_id } = await trigger();
    const path = "/v1/organizations/org_acme/knowledge/connectors/notifications/test";
    await api.call("ada", "POST", path, { notification_type: "email" });
    const [email] = (await control("GET", "/outbox")).items;
    for (const [query, empty] of [
      [`?delivery=${delivery_id}`, "No deliveries match"],
      [`?show=outbox&email=${email.id}`, "No e-mails match"],
    ]) {
      const { page } = await open(`${query}&find=unknown`);
      await see(page.getByText(empty!)).toBeVisible();
      await see(page.getByText("It may have been deleted")).toBeHidden();
    }
  });

  it("opens a delivery that the list does not have, and says if it is gone [interfaces 2]", async () => {
    const deliveries = Array.from({ length: 501 }, (_, n) => ({
      delivery_id: `del_${100 + n}`,
      event: "user.created",
      status: "failed",
    }));
    const fixture = { organizations: [{ id: "org_a" }], webhooks: [{ id: "wh_a", deliveries }] };
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "many", fixture });
    const { items } = (await api.call(undefined, "GET", "/_control/sandboxes/many/state/deliveries")).body;
    const { delivery_id } = items[500];
    for (const filter of ["", "&find=unknown"]) {
      const { page } = await openAt(`/s/many/webhooks?delivery=${delivery_id}${filter}`);
      await see(page.getByText("Newest 500 of 501")).toBeVisible();
      const pane = page.getByRole("region", { name: `Delivery ${delivery_id}` });
      await see(pane.getByRole("region", { name: "Payload" })).toContainText("user.created");
    }
    const { page } = await openAt("/s/many/webhooks?delivery=del_gone");
    await see(page.getByRole("alert")).toHaveText("There is no del_gone in deliveries.");
    await expectAccessible(page);
    await api.call(undefined, "DELETE", "/_control/sandboxes/many");
  });

  it("shows the payload with the signature that the receiver verified [6.3]", async () => {
    const { webhook, receiver } = await createReceiver([200]);
    const { delivery_id } = await trigger();
    const { page } = await open(`?delivery=${delivery_id}`);
    const [received] = (await control("GET", `/receivers/${receiver.id}/requests`)).items;
    const digest = createHmac("sha256", webhook.secret).update(received.body).digest("hex");
    const pane = page.getByRole("region", { name: `Delivery ${delivery_id}` });
    await see(pane.getByRole("region", { name: "Payload" }).locator("pre")).toHaveText(received.body);
    await see(pane.getByRole("region", { name: "Signature" })).toContainText(
      `X-Service-Signature: sha256=${digest}`,
    );
    expect(received.headers["x-service-signature"]).toBe(`sha256=${digest}`);
    // The attempt shows its request, signature and response.
    const attempt = pane.getByRole("list", { name: "Attempts" }).getByRole("listitem").first();
    await attempt.locator("summary").first().click();
    await see(attempt).toContainText(`x-service-signature${received.headers["x-service-signature"]}`, {
      ignoreCase: true,
    });
    await see(attempt).toContainText("The sent signature matches the one computed below.");
    await see(attempt).toContainText(`POST ${webhook.url}`);
    await see(attempt.getByRole("region", { name: "Request" }).locator("pre.body")).toHaveText(received.body);
    await see(attempt.getByRole("region", { name: "Response" })).toContainText("200");
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await see(pane).toContainText("The service redelivers only failed deliveries");
  });

  it("redelivers by the API's own operation, as a user of the organization [4.21]", async () => {
    await createReceiver([500, 503, 200]);
    const { delivery_id } = await trigger();
    const { page } = await open(`?delivery=${delivery_id}`);
    const pane = page.getByRole("region", { name: `Delivery ${delivery_id}` });
    const scheduled = pane.getByRole("region", { name: "Scheduled retry" });
    const redelivery = pane.getByRole("region", { name: "Redelivery" });
    await see(scheduled).toContainText("Makes the scheduled attempt early. The clock does not move.");
    await see(redelivery).toContainText("Makes an additional attempt through the API.");
    await choose(page, "Call as", /^Dan/);
    await pane.getByRole("button", { name: "Redeliver as this user" }).click();
    await see(pane).toContainText("Not delivered: the receiver returned 503.");
    await see(pane.getByRole("listitem").nth(1)).toContainText("redelivery: returned 503");
    await pane.getByRole("button", { name: "Redeliver as this user" }).click();
    await see(redelivery).toContainText("Delivered: the receiver returned 200.");
    await see(scheduled).toHaveCount(0);
    await see(page.getByRole("row", { name: /^delivered user.created/ }).first()).toBeVisible();
    const { entries } = await control("GET", `/journal?operation=webhooks.redeliver`);
    expect(entries.map(({ principal }: { principal: string }) => principal)).toEqual(["usr_dan", "usr_dan"]);
  });

  it("reports that no user of the organization has an active key [4.21]", async () => {
    await createReceiver([500]);
    const { delivery_id } = await trigger();
    for (const { id, current } of (await control("GET", "/state/api_keys")).items)
      if (current === "org_acme") await control("PATCH", `/state/api_keys/${id}`, { revoked: true });
    const { page } = await open(`?delivery=${delivery_id}`);
    await see(page.getByRole("alert")).toContainText("No user of org_acme has an active key");
    await see(page.getByRole("button", { name: "Redeliver as this user" })).toHaveCount(0);
  });

  it("shows retries that a 410 cancelled and the webhook that it disabled [3.3]", async () => {
    const { webhook } = await createReceiver([500, 410]);
    await trigger();
    await control("POST", "/clock/advance", { by: "1m" });
    const { page } = await open(`?webhook=${webhook.webhook_id}`);
    const row = page.getByRole("row", { name: /^cancelled/ });
    await see(row.getByRole("img", { name: "2 failed, 4 cancelled" })).toBeVisible();
    await row.click();
    await page
      .getByRole("region", { name: /^Delivery/ })
      .getByRole("link", { name: webhook.url })
      .click();
    const pane = page.getByRole("region", { name: `Webhook ${webhook.webhook_id}` });
    await see(pane.getByRole("alert")).toContainText(/inactive: .*410.*receives no events/);
    expect(await page.content()).not.toContain(webhook.secret);
    await expectAccessible(page);
    await pane.getByRole("button", { name: "Activate" }).click();
    await see(pane.getByRole("alert")).toHaveCount(0);
    await pane.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await see(page.getByRole("row", { name: webhook.url })).toHaveCount(0);
  });

  it("shows given up deliveries as given up after the retry schedule became longer [G24]", async () => {
    const S = "/_control/sandboxes/longer";
    const fixture = { extends: "reference" };
    const settings = { retry_schedule: ["1m"] };
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "longer", fixture, settings });
    const { body: receiver } = await api.call(undefined, "POST", `${S}/receivers`, { answers: [500] });
    const webhook = { url: receiver.url, events: ["user.created"], organization_id: "org_acme" };
    const { body } = await api.call(undefined, "POST", `${S}/state/webhooks`, webhook);
    const event = { event: "user.created", organization: "org_acme" };
    await api.call(undefined, "POST", `${S}/events`, event);
    await api.call(undefined, "POST", `${S}/clock/advance`, { by: "1m" });
    await api.call(undefined, "PATCH", S, { settings: { retry_schedule: Array(8).fill("1m") } });
    await api.call(undefined, "POST", `${S}/events`, event);
    const { page } = await openAt(`/s/longer/webhooks?webhook=${body.webhook_id}`);
    const givenUp = page.getByRole("row", { name: /^given up/ });
    await see(givenUp.getByRole("img", { name: "2 failed", exact: true })).toBeVisible();
    // Only the first five delays of a schedule count.
    const retrying = page.getByRole("row", { name: /^retry in 1 min/ });
    await see(retrying.getByRole("img", { name: "1 failed, 1 due, 4 expected", exact: true })).toBeVisible();
    await api.call(undefined, "PATCH", `${S}/state/webhooks/${body.webhook_id}`, { active: false });
    const cancelled = page.getByRole("row", { name: /^cancelled/ });
    await see(cancelled.getByRole("img", { name: "1 failed, 5 cancelled", exact: true })).toBeVisible();
    await api.call(undefined, "DELETE", S);
  });

  it("triggers an event with data from a form, and keeps invalid input [interfaces 4]", async () => {
    const { receiver } = await createReceiver([200], ["file.processed"]);
    const { page } = await open("?show=trigger");
    await choose(page, "Event", /^file\.processed/);
    await see(page).toHaveURL(/event=file\.processed/);
    const subject = page.getByRole("textbox", { name: "Record" });
    await subject.fill("file_nowhere");
    await page.getByRole("textbox", { name: "filename" }).fill("minutes.pdf");
    await page.getByRole("textbox", { name: "file_size" }).fill("4711");
    await choose(page, "status", "completed");
    await expectAccessible(page);
    const send = page.getByRole("button", { name: "Trigger event" });
    await send.click();
    await see(subject).toHaveAccessibleDescription(/This value must be the id of one of/);
    await subject.fill("");
    await send.click();
    await see(page.getByRole("region", { name: "Deliveries" })).toContainText("200");
    const [{ body }] = (await control("GET", `/receivers/${receiver.id}/requests`)).items;
    expect(JSON.parse(body)).toMatchObject({
      event: "file.processed",
      data: { filename: "minutes.pdf", file_size: 4711, status: "completed" },
    });
    await choose(page, "Event", /^invoice\.paid/);
    await send.click();
    await see(page.getByRole("alert")).toContainText(
      "Not sent: no active webhook of the organization subscribes to",
    );
  });

  it("names the inactive webhook that would have received a triggered event, and leads to it [interfaces 4]", async () => {
    await control("POST", "/state/organizations", { id: "org_quiet", name: "Quiet" });
    await control("POST", "/state/webhooks", {
      ...{ webhook_id: "wh_quiet", url: "http://127.0.0.1:9/quiet", events: ["file.processed"] },
      ...{ organization_id: "org_quiet", active: false, inactive_because: "paused by hand" },
    });
    const { page } = await open("?show=trigger&event=file.processed", { height: 640 });
    await choose(page, "Organization", /^Quiet/);
    await page.getByRole("button", { name: "Trigger event" }).click();
    const answer = page.getByRole("alert");
    await see(answer).toBeInViewport({ ratio: 0.99 });
    await see(answer).toContainText(
      "wh_quiet would receive it, but is inactive: paused by hand. Activate the webhook and trigger the event again.",
    );
    await see(answer).not.toContainText("wh_ops");
    await answer.getByRole("link", { name: "wh_quiet" }).click();
    await page.getByRole("button", { name: "Activate" }).click();
    await page.goBack();
  });

  it("covers no field with the button of a long form, when Tab moves to it on a phone [interfaces 2]", async () => {
    const { page } = await open("?show=trigger&event=user.created", { width: 390, height: 700 });
    const names = ["Record", "user_id", "email", "created_at"];
    await page.getByRole("textbox", { name: "created_at" }).waitFor();
    await page.getByRole("button", { name: /Event$/ }).focus();
    for (const name of names) {
      const field = page.getByRole("textbox", { name });
      while (!(await field.evaluate((one) => one.matches(":focus")))) await page.keyboard.press("Tab");
      const { y, height } = (await field.boundingBox())!;
      const button = await page.getByRole("button", { name: "Trigger event" }).boundingBox();
      expect(y + height, name).toBeLessThanOrEqual(button!.y);
    }
  });

  it("creates a receiver, registers a webhook for it, and shows signature checks [interfaces 4]", async () => {
    const { page, complaints } = await open("?show=receivers&open=new");
    await choose(page, "Responses", /^Custom/);
    const answers = page.getByRole("textbox", { name: "Custom responses" });
    await answers.fill("200, soon");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(answers).toHaveAccessibleDescription(/“soon” is not a valid response/);
    await answers.fill("201, 503");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const pane = page.getByRole("region", { name: /^Receiver rcv_/ });
    await see(pane).toContainText("No requests yet.");
    const [receiver] = (await control("GET", "/receivers")).items;
    expect(receiver.answers).toEqual([201, 503]);
    await pane.getByRole("link", { name: "Register webhook" }).click();
    await see(page.getByRole("textbox", { name: "URL" })).toHaveValue(receiver.url);
    await page.getByRole("searchbox", { name: "Filter events" }).fill("user");
    await page.getByRole("option", { name: /^user\.created/ }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Register", exact: true }).click();
    const hook = page.getByRole("region", { name: /^Webhook wh_/ });
    await hook.getByRole("button", { name: "Send test event" }).click();
    await see(hook).toContainText("Delivered: the receiver returned 201.");
    await trigger();
    // A request without a signature.
    await fetch(receiver.url, { method: "POST", body: "{}" });
    await page.goto(`${api.url}/_console/s/default/webhooks?show=receivers&receiver=${receiver.id}`);
    const received = page.getByRole("list", { name: "Received" }).getByRole("listitem");
    await see(received).toHaveText([/^unsignedPOST503/, /^validuser\.created503/, /^validwebhook\.test201/]);
    await received.first().getByText("unsigned", { exact: true }).click();
    await see(received.first()).toContainText("The X-Service-Signature header is missing.");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("does not fill the URL of an earlier receiver into the form for another webhook [interfaces 4]", async () => {
    const { receiver } = await createReceiver([200]);
    const { page } = await open(`?show=webhooks&register=new&to=${encodeURIComponent(receiver.url)}`);
    const url = page.getByRole("textbox", { name: "URL" });
    await see(url).toHaveValue(receiver.url);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Register webhook" }).click();
    await see(url).toHaveValue("");
  });

  it("keeps the field for custom responses while they begin like usual ones [interfaces 4]", async () => {
    const { page } = await open("?show=receivers&open=new");
    await choose(page, "Responses", /^Custom/);
    const answers = page.getByRole("textbox", { name: "Custom responses" });
    await answers.fill("");
    await answers.pressSequentially("500, 201");
    await see(answers).toHaveValue("500, 201");
    await see(answers).toBeFocused();
  });

  it("saves the responses of a receiver that forwards [interfaces 4]", async () => {
    const { receiver } = await createReceiver(["forward"]);
    const { page } = await open(`?show=receivers&receiver=${receiver.id}`);
    const answers = page.getByRole("textbox", { name: "Custom responses" });
    await see(answers).toHaveValue("forward");
    await answers.fill("503, soon");
    await page.getByRole("button", { name: "Save responses" }).click();
    await see(answers).toHaveAccessibleDescription(/hang, reset or forward\./);
    await answers.fill("503, forward");
    await page.getByRole("button", { name: "Save responses" }).click();
    await see(page.getByText("Saved. The next request gets the first of these responses.")).toBeVisible();
    expect((await control("GET", "/receivers")).items[0].answers).toEqual([503, "forward"]);
  });

  it("runs the receiver test and shows failures first [interfaces 14]", async () => {
    const { receiver } = await createReceiver(["hang"]);
    const { page, complaints } = await open("?show=test");
    await choose(page, "Webhook", receiver.url);
    const inputs = [page.getByRole("textbox", { name: "URL" }), page.getByLabel("Secret")];
    await see(inputs[0]!).toHaveValue(receiver.url);
    await choose(page, "Webhook", "None, enter a URL");
    for (const input of inputs) await see(input).toHaveValue("");
    await choose(page, "Webhook", receiver.url);
    await page.getByRole("button", { name: "Run test" }).click();
    await see(page.getByRole("alert")).toContainText(/^1 of \d+: /);
    await page.getByRole("button", { name: "Stop" }).click();
    await see(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
    await control("PATCH", `/receivers/${receiver.id}`, { answers: [410] });
    await page.getByRole("button", { name: "Run test" }).click();
    const report = page.getByRole("region", { name: "Report" });
    await see(report.getByRole("alert")).toContainText("would have disabled the webhook");
    const checks = report.getByRole("list", { name: "Checks" }).getByRole("listitem");
    await see(checks.first()).toContainText("failed");
    await see(checks.first()).toContainText("Fix:");
    // The details use the full width below the title.
    const [title, list] = [checks.first().locator("summary"), report.getByRole("list", { name: "Checks" })];
    expect((await title.boundingBox())!.width).toBeGreaterThan((await list.boundingBox())!.width * 0.9);
    await see(checks.last()).toContainText("passed");
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    const url = page.getByRole("textbox", { name: "URL" });
    await url.fill("partner.example/hook");
    await page.getByRole("button", { name: "Run test" }).click();
    await see(url).toHaveAccessibleDescription(/absolute http or https/);
    expect(complaints.filter((said) => !said.includes("422"))).toEqual([]);
  });

  it("shows the result of the receiver test below a form that fills a phone's window [interfaces 14]", async () => {
    const { receiver } = await createReceiver([410]);
    const { page } = await open("?show=test", { width: 360, height: 740 });
    await choose(page, "Webhook", receiver.url);
    await page.getByRole("button", { name: "Run test" }).click();
    await see(page.getByRole("region", { name: "Report" }).getByRole("alert")).toBeInViewport();
  });

  it("shows the e-mails that the service would have sent, and finds one [interfaces 2]", async () => {
    const { page, complaints } = await open("?show=outbox");
    await see(page.getByText("No e-mails yet")).toBeVisible();
    const path = "/v1/organizations/org_acme/knowledge/connectors/notifications/test";
    await api.call("ada", "POST", path, { notification_type: "email" });
    await api.call("ben", "POST", path, { notification_type: "email" });
    const { items } = await control("GET", "/outbox");
    const rows = page.getByRole("grid", { name: "E-mails" }).getByRole("row");
    await see(rows).toHaveCount(3);
    await page.getByRole("searchbox", { name: "Filter e-mails" }).fill(items[0].to);
    await see(rows).toHaveCount(2);
    await page.getByRole("grid").focus();
    await page.keyboard.press("Enter");
    const pane = page.getByRole("region", { name: "E-mail", exact: true });
    await see(pane).toContainText(items[0].body);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it("lists the active webhooks first at the first click on State [interfaces 2]", async () => {
    await createReceiver([200]);
    const { webhook } = await createReceiver([200]);
    await api.call("ada", "PUT", `/webhooks/${webhook.webhook_id}`, { active: false });
    const { page } = await open("?show=webhooks");
    const grid = page.getByRole("grid", { name: "Webhooks" });
    await grid.getByRole("columnheader", { name: "State" }).getByRole("button").click();
    await see(grid.getByRole("row").nth(1).getByRole("gridcell").first()).toHaveText("active");
    await see(grid.getByRole("row").last().getByRole("gridcell").first()).toHaveText("inactive");
  });

  it("sets the width of a column by keys or by dragging, and remembers it [interfaces 2]", async () => {
    await createReceiver([500]);
    await trigger();
    const { page } = await open();
    const column = page.getByRole("columnheader", { name: "Event" });
    const measureWidth = async () => Math.round((await column.boundingBox())!.width);
    await see(column).toBeVisible();
    const first = await measureWidth();
    await column.getByRole("button").press("Shift+ArrowLeft");
    await column.getByRole("button").press("Shift+ArrowLeft");
    await expect.poll(measureWidth).toBe(first - 32);
    await page.reload();
    await expect.poll(measureWidth).toBe(first - 32);
    const { x, y } = (await column.boundingBox())!;
    await page.mouse.move(x + first - 32 - 4, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 90, y + 8, { steps: 4 });
    await page.mouse.up();
    await expect.poll(measureWidth).toBe(90);
    await page.mouse.dblclick(x + 86, y + 8);
    await expect.poll(measureWidth).toBe(first);
  });
});
