import { describe, expect, it, vi } from "vitest";
import { choose } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { readExample } from "../../support/own/serve-document.ts";

const ALL_MS = 400_000;
vi.setConfig({ testTimeout: ALL_MS, hookTimeout: 60_000 });

const { api, walkTo, control } = useConsole("api");

describe("the console's forms to try an operation out", { timeout: ALL_MS }, () => {
  it("proposes values of this world with which every operation succeeds [interfaces 2]", async () => {
    const { body } = await control("GET", "/coverage");
    const failed: string[] = [];
    const ids = body.operations.map(({ operation }: { operation: string }) => operation);
    for (const id of ids) {
      const name = id.replaceAll(/\W|_/g, "-");
      await api.call(undefined, "POST", "/_control/sandboxes", { name });
      const { page } = await walkTo(`/s/${name}/api?operation=${id}`);
      const pane = page.getByRole("region", { name: `Operation ${id}` });
      const send = pane.getByRole("button", { name: "Send", exact: true });
      await see(send).toBeEnabled();
      await send.click();
      const response = pane.getByRole("region", { name: "Response", exact: true });
      await see(response).toContainText(/\d{3}/, { timeout: PATIENCE_MS });
      const [status] = /\b\d{3}\b/.exec(await response.innerText())!;
      if (/^[23]/.test(status)) continue;
      failed.push(`${id} ${status}`);
      // The page shows the reason before the call.
      await see(pane.getByRole("status").first(), id).toContainText(WHY[id] ?? "not explained");
    }
    expect(failed.map((one) => one.split(" ")[0])).toEqual(Object.keys(WHY));
    expect(failed.length).toBeLessThan(ids.length / 8);
  });

  it("keeps what was sent, and does not propose the next record to delete [interfaces 2]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "sent" });
    const { page } = await walkTo("/s/sent/api?operation=threads.delete");
    const id = page.getByRole("textbox", { name: "thread_id" });
    await see(id).toHaveValue(/^thread_/);
    const sent = await id.inputValue();
    for (const status of ["200", "404"]) {
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await see(page.getByRole("region", { name: "Response", exact: true })).toContainText(status);
      await see(id).toHaveValue(sent);
    }
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/sent/state/threads");
    expect(body.items).toHaveLength(2);
  });

  it("names the missing record, and leads to the form that adds it [interfaces 2]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "bare" });
    await api.call(undefined, "DELETE", "/_control/sandboxes/bare/state/webhooks/wh_ops");
    const { page } = await walkTo("/s/bare/api?operation=webhooks.test");
    await see(
      page.getByText("This sandbox has no webhook yet, so the call is answered with 404."),
    ).toBeVisible();
    await page.getByRole("link", { name: "Add one" }).press("Enter");
    await see(page.getByRole("region", { name: "New record" })).toBeVisible();
    expect(new URL(page.url()).searchParams.get("collection")).toBe("webhooks");
  });

  it("lists the first own operations, which appear while the page is open [interfaces 18]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "first-own" });
    const { page } = await walkTo("/s/first-own/api?filter=v2");
    await see(page.getByRole("row", { name: /^models.list_v2/ })).toBeVisible();
    const openapi = readExample("issue-tracker/openapi.yaml");
    const put = await api.call(undefined, "PUT", "/_control/sandboxes/first-own/operations", { openapi });
    expect(put.status).toBe(200);
    await see(page.getByRole("row", { name: /^createIssue/ })).toBeVisible();
  });

  it("says that there is no operation of the name in the address [interfaces 2]", async () => {
    const { page } = await walkTo("/s/default/api?operation=no.such");
    await see(page.getByText("No operation no.such. It may have been deleted.")).toBeVisible();
    expect(await page.getByRole("row").count()).toBeGreaterThan(10);
  });

  it("leads from a call that a setting refuses to the setting, with which it succeeds [interfaces 2]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "strict" });
    const { page } = await walkTo("/s/strict/api?operation=models.list_for_organization");
    await see(page.getByText(/until the setting preview is on/)).toBeVisible();
    await page.getByRole("link", { name: "Edit settings" }).press("Enter");
    const form = page.getByRole("region", { name: "Settings" });
    await choose(page, "preview", /^on/);
    await form.getByRole("button", { name: "Save settings" }).press("Enter");
    await see(page.getByText('Changed preview: "on".')).toBeVisible();
    await see(form.getByRole("button", { name: "Save settings" })).toHaveCount(0);
    await page.goBack();
    const readOperation = () => new URL(page.url()).searchParams.get("operation");
    await expect.poll(readOperation).toBe("models.list_for_organization");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("200");
  });
});

/** Operations that cannot succeed at first, with a part of the reason on the page. */
const WHY: Readonly<Record<string, string>> = {
  "auth.refresh_token": "create a token first",
  "models.list_for_organization": "until the setting preview is on",
  "files.register": "call files.create_upload_url first",
  "uploads.put": "call files.create_upload_url first",
  "uploads.cancel": "call files.create_upload_url first",
};
