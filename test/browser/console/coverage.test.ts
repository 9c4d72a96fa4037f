import { describe, expect, it } from "vitest";
import { expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

const { api, open } = useConsole("coverage");

describe("the console's coverage", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows a new outcome immediately, and resets the counts [interfaces 4]", async () => {
    const { page, complaints } = await open("?operation=threads.delete");
    const outcomes = page.getByRole("region", { name: "Outcomes of threads.delete" });
    const notFound = outcomes.getByRole("row", { name: /^404/ });
    await see(notFound).toContainText("never");
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(notFound).toContainText("1");
    await see(page.getByText(/^0\.\d% of documented outcomes seen: 1 of \d+/)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Reset counts …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset counts" }).click();
    await see(notFound).toContainText("never");
    expect(complaints).toEqual([]);
  });
});
