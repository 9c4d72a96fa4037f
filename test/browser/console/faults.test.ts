import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "console-faults-"));
const { api, open } = useConsole("faults", { scenariosFolder: folder });
afterAll(() => rmSync(folder, { recursive: true }));

describe("the console's faults", { timeout: 4 * PATIENCE_MS }, () => {
  it("interfaces 3 composes a rule without typing, which strikes and is counted", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "Compose a rule" }).click();
    const pane = page.getByRole("region", { name: "Compose a rule" });
    await choose(page, "Operation", "threads.delete");
    await choose(page, "Called by", "usr_dan");
    await choose(page, "Answer", /^404 RESOURCE_NOT_FOUND/);
    await choose(page, "How often", "The next 2 calls");
    await choose(page, "How long", /^For 10 minutes/);
    await see(pane).toContainText("The first 2 calls of threads.delete by usr_dan: RESOURCE_NOT_FOUND.");
    await see(page).toHaveURL(/compose=threads\.delete/);
    await expectAccessible(page);
    await pane.getByRole("button", { name: "Arm the rule" }).click();
    const armed = page.getByRole("region", { name: "Armed rules" }).getByRole("listitem");
    await see(armed).toContainText("no hit yet");
    await see(armed).toContainText(/ends in \d+ min/);
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_dan")).status).toBe(404);
    expect((await api.call("ada", "DELETE", "/v1/threads/thread_none")).status).toBe(404);
    await see(armed).toContainText("1 hit");
    await api.call("dan", "DELETE", "/v1/threads/thread_dan");
    await see(armed).toContainText("spent, 2 hits");
    await armed.getByRole("button", { name: /Disarm/ }).click();
    await see(page.getByText("None. A composed rule stands here")).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("interfaces 11 foretells a call without making it, and follows rules that are armed meanwhile", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "What would happen?" }).click();
    await choose(page, "Operation", "threads.delete");
    await choose(page, "Called by", "usr_ada");
    await page.getByRole("textbox", { name: "thread_id" }).fill("thread_ada");
    await page.getByRole("button", { name: "Explain" }).click();
    const told = page.getByRole("region", { name: "Explanation" });
    await see(told).toContainText("usr_ada would get 200, decided by ok.");
    await expectAccessible(page);
    await api.call(undefined, "POST", "/_control/sandboxes/default/faults", {
      match: { operation: "threads.delete" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    await see(told).toContainText(/usr_ada would get 429 RATE_LIMIT_EXCEEDED, decided by fault:inline/);
    await see(told.getByRole("list", { name: "Rules" }).getByRole("listitem").first()).toContainText(
      "strikes",
    );
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/faults");
    expect(body.items.map(({ hits }: { hits: number }) => hits)).toEqual([0]);
    expect(
      (await api.call(undefined, "GET", "/_control/sandboxes/default/state/threads/thread_ada")).status,
    ).toBe(200);
    await page.getByRole("textbox", { name: "thread_id" }).fill("");
    await choose(page, "Called by", /^Nobody/);
    await page.getByRole("button", { name: "Explain" }).click();
    await see(told).toContainText(/Nobody in particular would get \d+/);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await api.call(undefined, "DELETE", "/_control/sandboxes/default/faults");
    expect(complaints).toEqual([]);
  });

  it("interfaces 3 offers the codes that the chosen operations document, and keeps what was chosen", async () => {
    const { page } = await open("?compose=models.list");
    await choose(page, "How often", "Every third call");
    await page.getByRole("button", { name: "Answer" }).click();
    await see(page.getByRole("option", { name: /^401 / })).toHaveCount(1);
    await see(page.getByRole("option", { name: /^404 / })).toHaveCount(0);
    await page.keyboard.press("Escape");
    await choose(page, "Answer", /^The real answer/);
    const arm = page.getByRole("button", { name: "Arm the rule" });
    await arm.click();
    await see(page.getByText("choose an answer or a delay")).toBeVisible();
    await choose(page, "When", "200 ms late");
    await see(page.getByText("Every 3rd call of models.list: 200ms late.")).toBeVisible();
  });

  it("interfaces 3 switches scenarios by status group, beside those that others switched", async () => {
    const put = (names: string[]) =>
      api.call(undefined, "PUT", "/_control/sandboxes/default/scenarios/active", { names });
    await put([]);
    const { page, complaints } = await open("?group=429&find=models-list");
    const row = page.getByRole("row", { name: /models-list-rate-limited/ });
    await see(row).toBeVisible();
    await see(page.getByRole("row", { name: /models-list-signed-out/ })).toHaveCount(0);
    await put(["slow-network"]);
    await row.getByRole("switch").press("Space");
    await see(row.getByRole("switch")).toBeChecked();
    // The switch moves at once, and the server a moment later.
    await expect.poll(async () => (await api.call("dan", "GET", "/v1/models")).status).toBe(429);
    await see(row).toContainText("1");
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default");
    expect(body).toMatchObject({ scenarios: ["slow-network", "models-list-rate-limited"] });
    await page.getByText("models-list-rate-limited").click();
    await see(page.getByRole("region", { name: "Scenario models-list-rate-limited" })).toContainText(
      "In force here",
    );
    await expectAccessible(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Switch all off" }).click();
    await see(row.getByRole("switch")).not.toBeChecked();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it("interfaces 3 says why a file cannot be used", async () => {
    const file = join(folder, "mine.yaml");
    writeFileSync(file, "rules:\n  - match: { operation: models.list }\n    effect: { status: 503 }\n");
    const { page } = await open();
    await page.getByRole("button", { name: /^Yours/ }).click();
    const row = page.getByRole("row", { name: /mine/ });
    await see(row).toBeVisible();
    await row.getByRole("switch").press("Space");
    await see(row.getByRole("switch")).toBeChecked();
    await see(page.getByRole("button", { name: "Switch all off" })).toBeVisible();
    writeFileSync(file, "rules:\n  - match: { operation: model.list }\n    effect: { status: 503 }\n");
    // What the watch of a started server does.
    api.understudy.scenarios.refresh(file);
    await see(row).toContainText("broken file");
    await row.click();
    await see(page.getByRole("region", { name: "Scenario mine" }).getByText("did you mean")).toBeVisible();
  });
});
