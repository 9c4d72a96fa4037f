import { beforeAll, describe, expect, it, vi } from "vitest";
import { expectAccessible, expectToFit, waitUntilLoaded } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { waitUntilPasses } from "../../support/eventually.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { api, openAt, walkTo, control } = useConsole("timeline");
/** Ids for the names in braces below. */
const names: Record<string, string> = {};

beforeAll(async () => {
  const { body: receiver } = await control("POST", "/receivers", { answers: [500] });
  const hook = { url: receiver.url, events: ["thread.deleted"] };
  const { body: registered } = await api.call("ada", "POST", "/webhooks", hook);
  await control("POST", "/faults", {
    match: { operation: "models.list" },
    times: 1,
    effect: { status: 503 },
  });
  await api.call("ada", "GET", "/v1/models");
  await api.call("dan", "DELETE", "/v1/threads/thread_none");
  await control("POST", "/snapshots", { name: "before" });
  const { headers } = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  const delivery: string = await waitUntilPasses(async () => {
    const { items } = (await control("GET", "/deliveries")).body;
    return items.find(({ event }: { event: string }) => event === "thread.deleted").delivery_id;
  });
  Object.assign(names, {
    entry: headers.get("x-request-id"),
    receiver: receiver.id,
    webhook: registered.data.webhook_id,
    delivery,
  });
});

const PARTS = [
  "client",
  "timeline",
  "timeline?entry={entry}",
  "faults",
  "faults?compose=*",
  "faults?explain=threads.delete",
  "faults?scenario=flaky-uploads",
  "time",
  "time?changes=all&ran=h_1",
  "webhooks",
  "webhooks?delivery={delivery}",
  "webhooks?show=webhooks&webhook={webhook}",
  "webhooks?show=webhooks&register=new",
  "webhooks?show=trigger",
  "webhooks?show=receivers&receiver={receiver}",
  "webhooks?show=outbox",
  "webhooks?show=test",
  "world?collection=webhooks",
  "world?collection=users&record=usr_dan",
  "world?collection=files&record=%2B",
  "world?show=departments&department=dept_ml",
  "world?show=usage",
  "world?show=snapshots",
  "world?show=compare&from=before&to=now",
  "api",
  "api?operation=images.uncrop",
  "coverage",
  "coverage?operation=models.list",
  "keys?key=apikey_dan",
  "keys?make=key",
  "sandboxes?sandbox=default",
  "sandboxes?make=sandbox",
];

const MOST_STOPS = 60;
const FOCUSED = `(({ activeElement: at }) => at.getAttribute("role") ?? at.textContent)(document)`;
const OUTLINE =
  "getComputedStyle(document.activeElement).outlineStyle + document.activeElement.matches('input')";

describe("every view of the console", { timeout: 6 * PATIENCE_MS }, () => {
  it.each(PARTS)(
    "%s is accessible in both themes, fits every window, and calls no other host [interfaces 2]",
    async (part) => {
      const address = part.replace(/\{(\w+)\}/g, (_, name) => names[name]!);
      // Calls to other hosts count as complaints.
      const { page, complaints } = await walkTo(`/s/default/${address}`);
      const view = `/_console/s/default/${address.split("?")[0]}`;
      const current = page.getByRole("navigation", { name: "Views" }).locator("[aria-current=page]");
      await see(current).toHaveAttribute("href", view);
      await waitUntilLoaded(page);
      await expectAccessible(page);
      for (const width of [768, 1920, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await see(page.getByRole("heading").first()).toBeVisible();
        await expectToFit(page);
        if (width !== 768) await expectAccessible(page);
      }
      expect(complaints).toEqual([]);
    },
  );

  it("has an accessible palette and menu [interfaces 2]", async () => {
    const { page, complaints } = await openAt("/s/default/timeline");
    await waitUntilLoaded(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("dept_m");
    await see(page.getByRole("menuitem", { name: /dept_ml/ })).toBeVisible();
    await expectAccessible(page);
    // The first press clears the text, the second closes the palette.
    for (const _ of [1, 2]) await page.keyboard.press("Escape");
    await see(page.getByRole("dialog")).toHaveCount(0);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("button", { name: "Menu" }).click();
    await see(page.getByRole("navigation").getByRole("link", { name: "World" })).toBeVisible();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("is used by keyboard: open the view, open a row, close it [interfaces 2]", async () => {
    const { page, complaints } = await openAt("/s/default/timeline");
    await waitUntilLoaded(page);
    /** Presses Tab until the element is focused; every stop must show its focus. */
    const pressTabUntil = async (wanted: string | RegExp, key = "Tab") => {
      for (let stop = 0; stop < MOST_STOPS; stop += 1) {
        await page.keyboard.press(key);
        const [found, outline] = (await page.evaluate(`[${FOCUSED}, ${OUTLINE}]`)) as [string, string];
        expect(outline, found).not.toBe("nonefalse");
        if (typeof wanted === "string" ? found === wanted : wanted.test(found)) return;
      }
      throw new Error(`no ${wanted} within ${MOST_STOPS} stops of ${key}`);
    };
    await pressTabUntil(/^(tree)?grid$/);
    for (const view of [
      "Faults",
      "Time",
      "Webhooks",
      "World",
      "API",
      "Coverage",
      "Keys",
      "Sandboxes",
      "Timeline",
    ]) {
      await pressTabUntil(view, "Shift+Tab");
      await page.keyboard.press("Enter");
      await see(page.getByRole("heading", { level: 1, name: view })).toBeVisible();
      await waitUntilLoaded(page);
      await see(page.locator("[role=grid], [role=treegrid]").first()).toBeVisible();
      await pressTabUntil(/^(tree)?grid$/);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      const pane = page.locator(".detail");
      await see(pane).toBeFocused();
      await page.keyboard.press("Escape");
      await see(pane).toHaveCount(0);
      expect(await page.evaluate(FOCUSED)).toMatch(/^(tree)?grid$/);
    }
    expect(complaints).toEqual([]);
  });
});
