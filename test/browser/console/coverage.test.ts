import { describe, expect, it } from "vitest";
import { expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

const { api, open, control } = useConsole("coverage");

/** Cells of numbers and headers that take more than one line. */
const LIST_BROKEN = `[...document.querySelectorAll(".outcomes :is(th, .number)")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
}).map(({ textContent }) => textContent)`;

describe("the console's coverage", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows a new outcome immediately, and resets the counts [interfaces 4]", async () => {
    const { page, complaints } = await open("?operation=threads.delete");
    const outcomes = page.getByRole("region", { name: "Outcomes of threads.delete" });
    const notFound = outcomes.getByRole("row", { name: /^404/ });
    await see(notFound).toContainText("never");
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(notFound).toContainText("1");
    await see(
      page.getByText(/^0\.\d% of documented outcomes seen: 1 of \d+\. Status 500 is not counted/),
    ).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Reset counts …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset counts" }).click();
    await see(notFound).toContainText("never");
    expect(complaints).toEqual([]);
  });

  it("names an error as the client receives it [4.7]", async () => {
    const { page } = await open("?operation=threads.delete");
    const outcomes = page.getByRole("region", { name: "Outcomes of threads.delete" });
    await see(outcomes.getByRole("row", { name: /^404/ })).toContainText("thread_not_found");
    await outcomes.getByRole("button", { name: "Make it happen: thread_not_found" }).click();
    await see(page.getByText("The next call of threads.delete gets 404 thread_not_found.")).toBeVisible();
    const { body } = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    expect(body.error.code).toBe("thread_not_found");
    await page.goto(page.url().replace(/coverage.*/, "faults?explain=threads.delete&by=usr_ada"));
    await page.getByRole("textbox", { name: "thread_id" }).fill("thread_none");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await see(page.getByText("usr_ada would get 404 thread_not_found")).toBeVisible();
  });

  it("breaks no word of the outcomes on a phone [interfaces 2]", async () => {
    const { page } = await open("?operation=models.list", { width: 360 });
    // The pane covers the list, whose legend has the word too.
    const outcomes = page.getByRole("region", { name: "Outcomes of models.list" });
    await see(outcomes.getByText("never").first()).toBeVisible();
    expect(await page.evaluate(LIST_BROKEN)).toEqual([]);
  });

  it("says that the operation of its address does not exist, as the list of scenarios does [interfaces 2]", async () => {
    const { page } = await open("?operation=no.such");
    await see(page.getByText("No operation no.such. It may have been deleted.")).toBeVisible();
    await page.goto(page.url().replace(/coverage.*/, "faults?scenario=no-such"));
    await see(page.getByText("No scenario no-such. It may have been deleted.")).toBeVisible();
    await page.goto(page.url().replace(/faults.*/, "faults?edit=no-such"));
    await see(page.getByText("No rule no-such. It may have been deleted.")).toBeVisible();
  });

  it("triggers an outcome that was never seen, by keyboard, and tries it out [interfaces 2]", async () => {
    await control("DELETE", "/faults");
    await control("DELETE", "/coverage");
    const { page, complaints } = await open("?operation=models.list");
    const outcomes = page.getByRole("region", { name: "Outcomes of models.list" });
    const limited = outcomes.getByRole("row", { name: /RATE_LIMIT_EXCEEDED/ });
    await limited.getByRole("button", { name: "Make it happen: RATE_LIMIT_EXCEEDED" }).press("Enter");
    await see(limited).toContainText("Next call");
    await see(page.getByText("The next call of models.list gets 429 RATE_LIMIT_EXCEEDED.")).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await limited.getByRole("link", { name: "Try it out: RATE_LIMIT_EXCEEDED" }).press("Enter");
    expect(complaints).toEqual([]);
    await page.getByRole("button", { name: "Send" }).press("Enter");
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("429");
    await page.goBack();
    await see(limited).toContainText("1");
    await see(limited.getByRole("button")).toHaveCount(0);
    const refused = outcomes.getByRole("row", { name: /AUTHENTICATION_REQUIRED/ });
    await refused.getByRole("button").click();
    await see(refused).toContainText("Next call");
    await page.getByRole("button", { name: "Undo" }).last().click();
    await see(refused.getByRole("button")).toBeVisible();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
  });

  it("says `Next call` only for a rule that affects every next call [interfaces 2]", async () => {
    await control("DELETE", "/faults");
    await control("DELETE", "/coverage");
    const rule = { match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } };
    await control("POST", "/faults", { ...rule, probability: 0.1 });
    await control("POST", "/faults", { ...rule, every: 5 });
    await control("POST", "/faults", { ...rule, match: { ...rule.match, principal: "usr_dan" } });
    await control("POST", "/faults", { ...rule, effect: { error: "AUTHENTICATION_REQUIRED" } });
    const { page } = await open("?operation=models.list");
    await see(page.getByRole("row", { name: /AUTHENTICATION_REQUIRED/ })).toContainText("Next call");
    const limited = page.getByRole("row", { name: /RATE_LIMIT_EXCEEDED/ });
    await see(limited.getByRole("button", { name: "Make it happen: RATE_LIMIT_EXCEEDED" })).toBeVisible();
    await control("DELETE", "/faults");
  });

  it("can trigger every documented refusal [interfaces 2]", async () => {
    const { body } = await control("GET", "/coverage");
    const missed: string[] = [];
    for (const { operation, method, path, outcomes } of body.operations)
      for (const { status, code } of outcomes.filter((one: { code: string | null }) => one.code)) {
        const rule = { match: { operation }, times: 1, effect: { error: code } };
        expect((await control("POST", "/faults", rule)).status, `${operation} ${code}`).toBe(201);
        const answer = await api.call("ada", method, path.replaceAll(/\{\w+\}/g, "x"));
        if (answer.status !== status) missed.push(`${operation} ${code}: ${answer.status}`);
      }
    expect(missed).toEqual([]);
  });
});
