import type { Page, Route } from "@playwright/test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { choose, waitForLive } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, control } = useConsole("coverage");
beforeAll(() => control("POST", "/snapshots", { name: "before" }));

/** A page whose queries stay pending until `release` is called; the live stream works. */
async function openPending(search: string) {
  const { page } = await open();
  const held: Route[] = [];
  let isHeld = true;
  await page.route(
    (url) => url.pathname.startsWith("/_control") && !url.pathname.endsWith("/live"),
    (route) => (isHeld ? void held.push(route) : route.continue()),
  );
  await page.goto(`${api.url}/_console/s/default/${search}`);
  const release = async () => {
    isHeld = false;
    await Promise.all(held.map((route) => route.continue()));
  };
  return { page, release };
}

const findFields = (page: Page) => page.locator(".select");

/** Expects that enabled selects open and disabled ones show that they load. */
async function expectSelectsMatchState(page: Page): Promise<void> {
  for (const field of await findFields(page).all()) {
    if (await field.isDisabled()) {
      await see(field).toContainText("Loading …");
      continue;
    }
    await field.click();
    await see(page.getByRole("option").first()).toBeVisible();
    await page.keyboard.press("Escape");
    await see(page.locator(".popover")).toHaveCount(0);
  }
}

describe("the console before the server has answered", { timeout: 4 * PATIENCE_MS }, () => {
  it.each([
    ["webhooks?show=trigger", 2],
    ["webhooks?show=webhooks&register=new", 1],
    ["webhooks?show=test", 1],
    ["webhooks?show=receivers&open=new", 1],
    ["webhooks", 1],
    ["faults?compose=*", 7],
    ["faults?explain=threads.delete", 2],
    ["world?show=departments", 2],
    ["world?show=compare&from=before&to=now", 3],
    ["sandboxes?make=sandbox", 2],
  ])("disables selects while their choices load: %s [interfaces 2]", async (search, choices) => {
    const { page, release } = await openPending(search);
    await see(findFields(page)).toHaveCount(choices);
    await expectSelectsMatchState(page);
    await release();
    for (const field of await findFields(page).all()) await see(field).toBeEnabled();
  });

  it("enables triggering once the events have loaded [interfaces 4]", async () => {
    const { page, release } = await openPending("webhooks?show=trigger");
    const send = page.getByRole("button", { name: "Trigger event" });
    await see(send).toBeDisabled();
    const chosen = choose(page, "Event", /^file\.processed/);
    await release();
    await chosen;
    await see(page).toHaveURL(/event=file\.processed/);
    await see(send).toBeEnabled();
  });

  it("says that it connects, not that live updates were interrupted, before the first connection [interfaces 2]", async () => {
    const { page } = await open();
    const held: Route[] = [];
    await page.route("**/live", (route) => void held.push(route), { times: 1 });
    await page.goto(`${api.url}/_console/s/default/time`);
    await see(page.getByRole("status").first()).toContainText("Connecting");
    await see(page.getByText(/interrupted/)).toHaveCount(0);
    for (const route of held.splice(0)) await route.continue();
    await waitForLive(page);
    await see(page.getByText("Connecting")).toHaveCount(0);
  });

  it("does not offer a call before users and samples have loaded [interfaces 2]", async () => {
    const { page, release } = await openPending("api?operation=threads.delete&as=apikey_eve");
    await see(page.getByRole("button", { name: "Send" })).toHaveCount(0);
    await release();
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("403");
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
    expect(body.entries[0]).toMatchObject({ principal: "usr_eve" });
  });
});
