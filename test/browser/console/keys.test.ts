import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { KEYS } from "../../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open } = useConsole("keys");
beforeEach(() => api.call(undefined, "POST", "/_control/sandboxes/default/reset"));

const HOUR_MS = 3_600_000;

const fetchStatus = async (key: string) =>
  (await api.call(undefined, "GET", "/v1/models", undefined, { "api-key": key })).status;

describe("the console's keys", { timeout: 4 * PATIENCE_MS }, () => {
  it("creates a working key, shows it once, and copies any key with one click [2.15]", async () => {
    const { page, complaints } = await open();
    await see(page.getByRole("row", { name: /Ada laptop/ })).toBeVisible();
    await page.getByRole("button", { name: "Create key" }).click();
    await choose(page, "Owner", /^Dan/);
    await page.getByRole("textbox", { name: "Name" }).fill("Pipeline");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const made = page.getByRole("region", { name: "New key" });
    await see(made).toContainText("Key created.");
    const key = (await made.locator("pre").first().textContent())!;
    expect(key).toMatch(/^ak_[A-Za-z0-9]{39}$/);
    expect(await fetchStatus(key)).toBe(200);
    await expectAccessible(page);
    await made.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("row", { name: /Pipeline/ });
    await see(row).toContainText("active");
    await row.getByText("active").click();
    await see(page.getByRole("region", { name: /^Key apikey_/ })).toContainText("This key is active");
    await see(page.getByRole("region", { name: /^Key apikey_/ })).toContainText(`ak_…${key.slice(-4)}`);
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await see(page.getByRole("row", { name: /Pipeline/ })).toBeVisible();
    expect(await page.content()).not.toContain(key);
    // Existing keys are not shown either.
    for (const known of Object.values(KEYS)) expect(await page.content()).not.toContain(known);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const readClipboard = () => page.evaluate("navigator.clipboard.readText()");
    await page
      .getByRole("row", { name: /Ada laptop/ })
      .getByRole("button", { name: /^Copy key/ })
      .click();
    await expect.poll(readClipboard).toBe(KEYS.ada);
    // Copying opens no row.
    expect(page.url()).not.toContain("apikey_ada");
    await page
      .getByRole("row", { name: /Ada laptop/ })
      .getByText("active")
      .click();
    const pane = page.getByRole("region", { name: /^Key apikey_ada/ });
    await pane.getByRole("button", { name: "Copy as .env" }).click();
    await expect.poll(readClipboard).toBe(`API_BASE_URL=${api.url}\nAPI_KEY=${KEYS.ada}\n`);
    expect(complaints).toEqual([]);
  });

  it("revokes, reactivates and, after a confirmation, deletes a key [2.15]", async () => {
    const { page } = await open("?key=apikey_dan");
    const pane = page.getByRole("region", { name: "Key apikey_dan" });
    await pane.getByRole("button", { name: "Revoke" }).click();
    await see(pane).toContainText("Calls with this key are rejected: it was revoked.");
    expect(await fetchStatus(KEYS.dan)).toBe(401);
    await pane.getByRole("button", { name: "Reactivate" }).click();
    await see(pane).toContainText("This key is active.");
    expect(await fetchStatus(KEYS.dan)).toBe(200);
    await pane.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await see(pane).toHaveCount(0);
    await see(page.getByRole("row", { name: /Dan/ })).toHaveCount(0);
    expect(await fetchStatus(KEYS.dan)).toBe(401);
    await page.goto(`${api.url}/_console/s/default/keys?key=apikey_dan`);
    await see(page.getByRole("alert")).toContainText("No key apikey_dan");
  });

  it("does not show the error of an earlier attempt when a confirmation opens again [interfaces 2]", async () => {
    const { page } = await open("?key=apikey_dan");
    await page.route(/\/state\/api_keys\/apikey_dan/, (route) =>
      route.request().method() === "DELETE"
        ? route.fulfill({ status: 409, json: { title: "Conflict", detail: "It is in use." } })
        : route.continue(),
    );
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Delete …" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await see(dialog).toContainText("It is in use.");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete …" }).click();
    await see(dialog).toContainText("Delete Dan laptop?");
    expect(await dialog.textContent()).not.toContain("It is in use.");
  });

  it("expires a key by the sandbox clock [2.15]", async () => {
    const { page } = await open("?make=key");
    await page.getByRole("textbox", { name: "Name" }).fill("Short-lived");
    await choose(page, "Expires", /^In 1 hour/);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const key = (await page.getByRole("region", { name: "New key" }).locator("pre").first().textContent())!;
    await page.getByRole("button", { name: "Done" }).click();
    await see(page.getByRole("row", { name: /Short-lived/ })).toContainText("in 1 h");
    await api.call(undefined, "POST", "/_control/sandboxes/default/clock/advance", { by: HOUR_MS });
    await see(page.getByRole("row", { name: /Short-lived/ })).toContainText("expired");
    expect(await fetchStatus(key)).toBe(401);
  });

  it("shows an error at its field, keeps the input, and accepts the corrected input [2.15]", async () => {
    const { page } = await open("?make=key");
    await page.getByRole("textbox", { name: "Name" }).fill("Until then");
    await choose(page, "Expires", /^At/);
    const at = page.getByRole("textbox", { name: "Expires at", exact: true });
    await at.fill("tomorrow");
    const make = page.getByRole("button", { name: "Create", exact: true });
    await make.click();
    await see(at).toHaveAccessibleDescription(/Expires at must be a time .*not the text "tomorrow"/);
    await see(page.getByRole("textbox", { name: "Name" })).toHaveValue("Until then");
    // The second attempt is wrong too, the third is right.
    await at.fill("next week");
    await make.click();
    await see(at).toHaveAccessibleDescription(/not the text "next week"/);
    await at.fill("2027-01-01T00:00:00Z");
    await make.click();
    await see(page.getByRole("region", { name: "New key" })).toBeVisible();
  });
});
