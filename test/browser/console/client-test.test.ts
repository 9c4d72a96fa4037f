import { describe, expect, it, vi } from "vitest";
import { choose, expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, control } = useConsole("client");

describe("the console's client test", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows a verdict while the application is used, and leaves the sandbox as it was [interfaces 21]", async () => {
    const { page, complaints } = await open();
    await choose(page, "Checks", /^no-retry-of-403/);
    await page.getByRole("button", { name: "Start test" }).click();
    await see(page.getByText("Run 1 of 2")).toBeVisible();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    await page.getByRole("button", { name: "It worked" }).click();
    await see(page.getByText("Run 2 of 2")).toBeVisible();
    const check = page.getByRole("list", { name: "Checks" }).getByRole("listitem");
    await see(check).toContainText("not seen yet");
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(403);
    await see(check).toContainText("passed");
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(403);
    await see(check).toContainText("it sent GET /v1/models 2 times, 1 without the refusal");
    await see(check.getByText("Fix:")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: "GET /v1/models" }).first().click();
    await see(page).toHaveURL(/timeline\?entry=req_/);
    // The test continues in another view.
    await page.goBack();
    await page.getByRole("button", { name: "It showed an error" }).click();
    await see(page.getByText(/^FAIL {1,2}0 passed, 1 failed/)).toBeVisible();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect((await control("GET", "/snapshots")).body.items).toEqual([]);
    // On a phone, the verdict is above the check's title, on one line.
    await page.setViewportSize({ width: 360, height: 740 });
    const verdict = (await check.locator(".badge").boundingBox())!;
    const title = (await check.locator("summary > span").nth(1).boundingBox())!;
    expect(verdict.height).toBeLessThan(30);
    expect(title.y).toBeGreaterThanOrEqual(verdict.y + verdict.height);
    expect(complaints).toEqual([]);
  });

  it("restores a sandbox whose test was interrupted [interfaces 21]", async () => {
    const started = await open();
    await see(started.page.getByRole("button", { name: "Start test" })).toBeVisible();
    // The page does not learn of a test that another one started.
    await started.page.route("**/snapshots", (route) =>
      route.request().method() === "GET" ? route.abort() : route.continue(),
    );
    await control("POST", "/snapshots", { name: "before-client-test" });
    await started.page.getByRole("button", { name: "Start test" }).click();
    await see(started.page.getByRole("alert").first()).toContainText("before-client-test");
    await see(started.page.getByRole("button", { name: "Start test" })).toBeVisible();
    await control("POST", "/faults", { id: "client-test-1", effect: { status: 503 } });
    await control("POST", "/faults", { id: "mine", match: { path: "/webhooks" }, effect: { status: 503 } });
    const { page } = await open();
    await see(page.getByRole("button", { name: "Restore", exact: true })).toBeVisible();
    await see(page.getByRole("button", { name: "Start test" })).toHaveCount(0);
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await see(page.getByText("The sandbox is as it was before the test.")).toBeVisible();
    await see(page.getByRole("button", { name: "Start test" })).toBeVisible();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect((await control("GET", "/faults")).body.items).toMatchObject([{ id: "mine" }]);
    await control("DELETE", "/faults");
  });

  it("leaves its rules in the sandbox after its page was closed [interfaces 21]", async () => {
    const { page } = await open();
    await choose(page, "Checks", /^no-retry-of-403/);
    await page.getByRole("button", { name: "Start test" }).click();
    await see(page.getByText("Run 1 of 2")).toBeVisible();
    await api.call("dan", "GET", "/v1/models");
    await page.getByRole("button", { name: "It worked" }).click();
    await see(page.getByText("Run 2 of 2")).toBeVisible();
    await page.close();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(403);
    await control("POST", "/clock/advance", { by: "3m" });
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    const next = await open();
    await next.page.getByRole("button", { name: "Restore", exact: true }).click();
    await see(next.page.getByText("The sandbox is as it was before the test.")).toBeVisible();
    expect((await control("GET", "/faults")).body.items).toEqual([]);
  });
});
