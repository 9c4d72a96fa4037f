import type { Locator } from "@playwright/test";
import { describe, expect, it } from "vitest";
import { waitUntilLoaded } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

const { walkTo } = useConsole("sandboxes");

/** The props of the last render: a new object after each render. */
const getRenderedProps = (element: object) =>
  Object.entries(element).find(([key]) => key.startsWith("__reactProps$"))?.[1];

/** Returns a function that tells whether the part of the page has rendered since the last call. */
async function watch(part: Locator): Promise<() => Promise<boolean>> {
  const before = await part.evaluateHandle(getRenderedProps);
  return async () => {
    const now = await part.evaluateHandle(getRenderedProps);
    return part.page().evaluate(([before, now]) => now !== before, [before, now]);
  };
}

describe("the lists in the console's forms", { timeout: 4 * PATIENCE_MS }, () => {
  it.each([
    ["sandboxes?make=sandbox", "Scenarios", "Name"],
    ["webhooks?show=webhooks&register=new", "Events", "URL"],
    ["world?collection=webhooks&record=wh_ops", "events", "url"],
  ])(
    "do not render again while other fields are edited: %s [interfaces 2]",
    async (address, label, field) => {
      const { page, complaints } = await walkTo(`/s/default/${address}`);
      const list = page.getByRole("region", { name: label, exact: true });
      await see(list.getByRole("option").first()).toBeVisible();
      await waitUntilLoaded(page);
      const isDrawn = await watch(list);
      const typed = page.getByRole("textbox", { name: field, exact: true });
      await typed.fill("http://127.0.0.1/");
      await typed.pressSequentially("ab");
      await see(typed).toHaveValue("http://127.0.0.1/ab");
      expect(await isDrawn()).toBe(false);
      await list.getByRole("option").last().click();
      expect(await isDrawn()).toBe(true);
      expect(complaints).toEqual([]);
    },
  );

  it("keep the selection while the filter hides it [interfaces 2]", async () => {
    const { page, complaints } = await walkTo("/s/default/webhooks?show=webhooks&register=new");
    const list = page.getByRole("region", { name: "Events", exact: true });
    const filter = list.getByRole("searchbox");
    for (const event of ["user.created", "thread.deleted"]) {
      await filter.fill(event);
      await list.getByRole("option", { name: event }).click();
    }
    await see(list).toContainText("user.created, thread.deleted");
    await filter.fill("");
    await see(list.getByRole("option", { selected: true })).toHaveCount(2);
    expect(complaints).toEqual([]);
  });
});
