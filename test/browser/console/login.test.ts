import { describe, expect, it } from "vitest";
import { expectAccessible, expectToFit, waitForLive } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { startReference } from "../../support/harness.ts";

const TOKEN = "a-token-of-a-shared-server";

const { api, openAt } = useConsole("timeline", { shared: { token: TOKEN } });

describe("logging in to the console of a shared server", { timeout: 4 * PATIENCE_MS }, () => {
  it("asks for the token once, rejects a wrong one, and stores it for the tab only [interfaces 7]", async () => {
    const { page } = await openAt("/s/default/world?collection=users");
    const dialog = page.getByRole("dialog", { name: "Log in to this server" });
    await see(dialog).toBeVisible();
    await expectAccessible(page);
    // The dialog cannot be dismissed.
    await page.keyboard.press("Escape");
    await see(dialog).toBeVisible();
    const field = dialog.getByLabel("Control token");
    await field.fill("a-guess");
    await field.press("Enter");
    await see(dialog.getByRole("alert")).toBeVisible();
    await see(field).toHaveValue("a-guess");
    // As copied from a narrow terminal.
    await field.fill("a-token-of…");
    await field.press("Enter");
    await see(dialog.getByRole("alert")).toContainText("contains a character that no token has");
    await field.fill(TOKEN);
    await field.press("Enter");
    await see(dialog).toHaveCount(0);
    await waitForLive(page);
    await see(page.getByRole("row", { name: /usr_dan/ })).toBeVisible();
    expect(page.url()).toBe(`${api.url}/_console/s/default/world?collection=users`);
    const kept = "JSON.stringify([{ ...localStorage }, document.cookie, history.state])";
    expect(await page.evaluate(kept)).not.toContain(TOKEN);
    await page.reload();
    await see(page.getByRole("row", { name: /usr_dan/ })).toBeVisible();
    const { page: other } = await openAt("");
    await see(other.getByRole("dialog", { name: "Log in to this server" })).toBeVisible();
    await other.setViewportSize({ width: 360, height: 740 });
    await expectToFit(other);
  });

  it("logs in once by the printed link and removes the code from the address [interfaces 7]", async () => {
    const fragment = api.understudy.login!.fragment!;
    const { page, complaints } = await openAt(fragment);
    await waitForLive(page);
    await see(page).toHaveURL(`${api.url}/_console/s/default/timeline`);
    await see(page.getByRole("dialog")).toHaveCount(0);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", { name: /thread_none/ })).toBeVisible();
    expect(complaints).toEqual([]);
    const again = await openAt(fragment);
    await see(again.page.getByRole("dialog", { name: "Log in to this server" })).toBeVisible();
    expect(again.page.url()).not.toContain("login");
  });

  it("asks again when the server restarts with another token, and keeps the input [interfaces 7]", async () => {
    const first = await startReference({ shared: { token: TOKEN } });
    const { port } = new URL(first.url);
    const { page } = await openAt("/s/default/sandboxes?make=sandbox", {}, first.url);
    await page.getByLabel("Control token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await waitForLive(page);
    await page.getByRole("textbox", { name: "Name" }).fill("half-typed");
    await first.close();
    await see(page.getByRole("alert").first()).toContainText("Disconnected");
    const second = await startReference({
      shared: { token: "another-token-of-a-server" },
      port: Number(port),
    });
    const dialog = page.getByRole("dialog", { name: "Log in to this server" });
    await see(dialog).toBeVisible();
    await dialog.getByLabel("Control token").fill("another-token-of-a-server");
    await page.keyboard.press("Enter");
    await see(dialog).toHaveCount(0);
    await waitForLive(page);
    await see(page.getByRole("textbox", { name: "Name" })).toHaveValue("half-typed");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page).toHaveURL(/\/s\/half-typed\/sandboxes/);
    const headers = { authorization: "Bearer another-token-of-a-server" };
    expect(
      (await second.call(undefined, "GET", "/_control/sandboxes/half-typed", undefined, headers)).status,
    ).toBe(200);
    await second.close();
  });
});
