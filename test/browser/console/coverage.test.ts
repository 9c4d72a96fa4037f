import { describe, expect, it } from "vitest";
import { expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

const { api, open } = useConsole("coverage");

describe("the console's coverage", { timeout: 4 * PATIENCE_MS }, () => {
  it("interfaces 4 shows an outcome as seen as soon as it is, and counts anew when asked", async () => {
    const { page, complaints } = await open("?operation=threads.delete");
    const outcomes = page.getByRole("region", { name: "Outcomes of threads.delete" });
    const notFound = outcomes.getByRole("row", { name: /^404/ });
    await see(notFound).toContainText("never");
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(notFound).toContainText("1");
    await see(
      page.getByText(/^0\.\d % of what the API documents was seen .* 1 of \d+ outcomes/),
    ).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Count anew …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Count anew" }).click();
    await see(notFound).toContainText("never");
    expect(complaints).toEqual([]);
  });
});
