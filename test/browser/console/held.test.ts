import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt, control } = useConsole("faults");
const listModels = () => api.call("dan", "GET", "/v1/models");

describe("held requests in the console", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows held requests on every view, and continues, fails, drops and answers them [interfaces 20]", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "New rule" }).click();
    await choose(page, "Operation", /^models\.list GET/);
    // The effect of a rule that holds requests has the real response, unless another one is selected.
    await choose(page, "Delay", /^Hold until released/);
    await see(page.getByRole("button", { name: /^Real response.* Response$/ })).toBeVisible();
    await choose(page, "Frequency", "Every call");
    await see(page.getByText("The call waits until you press Continue, Answer or Drop")).toBeVisible();
    await page.getByRole("button", { name: "Arm rule" }).click();
    const held = page.getByRole("region", { name: "Held requests" });
    const status = page.getByRole("contentinfo", { name: "Status" });
    await see(status).toContainText("1 rule active");
    const first = listModels();
    await see(held).toContainText("GET /v1/models");
    await see(held).toContainText(
      /by usr_dan, nothing has changed yet; held by rule fault_1, continues in \d+ s/,
    );
    await see(status).toContainText("1 held request");
    await expectAccessible(page);
    await expectToFit(page);
    await page.getByRole("link", { name: "World" }).click();
    await page.getByRole("button", { name: "Continue: GET /v1/models" }).press("Enter");
    expect((await first).status).toBe(200);
    await see(held).toHaveCount(0);
    await see(page.locator("#view")).toBeFocused();
    const done = page.getByRole("region", { name: "Confirmations" });
    await see(done).toContainText("Continued GET /v1/models.");
    const second = listModels();
    await page.getByRole("button", { name: "Answer 503: GET /v1/models" }).click();
    expect((await second).status).toBe(503);
    await see(done).toContainText("Answered GET /v1/models with 503.");
    const third = listModels().catch((error: Error) => error);
    await page.getByRole("button", { name: "Drop: GET /v1/models" }).click();
    expect(await third).toBeInstanceOf(Error);
    await see(done).toContainText("Dropped GET /v1/models.");
    const fourth = listModels();
    await page.getByRole("button", { name: "Answer …: GET /v1/models" }).click();
    const answer = page.getByRole("textbox", { name: "Answer" });
    await expectAccessible(page);
    await answer.fill("{");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await see(page.getByText("The answer is not valid JSON.")).toBeVisible();
    await answer.fill('{"status": 99}');
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await see(page.getByRole("dialog")).toContainText("answer.status");
    await answer.fill('{"status": 207, "body": {"own": true}}');
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    expect(await fourth).toMatchObject({ status: 207, body: { own: true } });
    await see(page.getByRole("dialog")).toHaveCount(0);
    await control("DELETE", "/faults");
    expect(complaints.filter((one) => !one.includes("422"))).toEqual([]);
  });

  it("distinguishes held calls of one path by their query [interfaces 20]", async () => {
    await control("POST", "/faults", { match: { operation: "models.list" }, effect: { hold: {} } });
    const { page } = await open();
    const [first, second] = ["a", "ab"].map((text) => api.call("dan", "GET", `/v1/models?q=${text}`));
    await page.getByRole("button", { name: "Answer 503: GET /v1/models?q=ab", exact: true }).click();
    expect((await second!).status).toBe(503);
    await page.getByRole("button", { name: "Continue: GET /v1/models?q=a", exact: true }).click();
    expect((await first!).status).toBe(200);
    await control("DELETE", "/faults");
  });

  it("starts an edit with the response that is held [interfaces 20]", async () => {
    await control("POST", "/faults", {
      match: { operation: "models.list" },
      phase: "after",
      effect: { hold: {} },
    });
    const { page } = await open();
    const asked = listModels();
    await page.getByRole("button", { name: "Answer …: GET /v1/models" }).click();
    const answer = page.getByRole("textbox", { name: "Answer" });
    const { status, body } = JSON.parse(await answer.inputValue());
    expect([status, body.models.length > 0]).toEqual([200, true]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Continue: GET /v1/models" }).click();
    expect((await asked).body).toEqual(body);
    await control("DELETE", "/faults");
  });

  it("sends the edit of a held response without a body [interfaces 20]", async () => {
    await control("POST", "/faults", { phase: "after", effect: { hold: {} } });
    const { page } = await open();
    const jobs = "/v1/organizations/org_acme/knowledge/connectors/jobs";
    const cancelled = api.call("dan", "POST", `${jobs}/job_sync_running/cancel`);
    await page.getByRole("button", { name: "Answer …: POST" }).click();
    await see(page.getByRole("textbox", { name: "Answer" })).toHaveValue(/"status": 204\s*}$/);
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    expect((await cancelled).status).toBe(204);
    await control("DELETE", "/faults");
  });

  it("keeps an answer that is being written when the request is released elsewhere [interfaces 20]", async () => {
    await control("POST", "/faults", { match: { operation: "models.list" }, effect: { hold: {} } });
    const { page } = await open();
    const asked = listModels();
    await page.getByRole("button", { name: "Answer …: GET /v1/models" }).click();
    const answer = page.getByRole("textbox", { name: "Answer" });
    await answer.fill('{"status": 207}');
    await control("DELETE", "/faults");
    const { items } = (await control("GET", "/held")).body;
    await control("POST", `/held/${items[0].id}/release`, {});
    expect((await asked).status).toBe(200);
    await see(page.getByRole("alert")).toContainText("Too late: it is no longer held.");
    await see(answer).toHaveValue('{"status": 207}');
    await page.keyboard.press("Escape");
    await see(page.getByRole("dialog")).toHaveCount(0);
    await see(page.locator("#view")).toBeFocused();
  });

  it.each([740, 560])(
    "six held requests cover at most a fifth of a phone's window, %i high [interfaces 20]",
    async (height) => {
      await control("POST", "/faults", { match: { operation: "models.list" }, effect: { hold: {} } });
      const { page } = await open("", { width: 360, height });
      const calls = Array.from({ length: 6 }, listModels);
      const held = page.getByRole("region", { name: "Held requests" });
      const release = held.getByRole("button", { name: "Continue: GET /v1/models" });
      await see(release).toHaveCount(6);
      expect((await held.boundingBox())!.height).toBeLessThan(height / 5);
      await expectToFit(page);
      for (let left = 6; left > 0; left -= 1) {
        await see(release).toHaveCount(left);
        await release.last().click();
      }
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(6).fill(200));
      await control("DELETE", "/faults");
    },
  );

  it("says that a held delivery has not been sent yet, not that nothing has changed [interfaces 20]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [200] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    await control("POST", "/faults", { match: { event: "thread.deleted" }, effect: { hold: {} } });
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page } = await open();
    const held = page.getByRole("region", { name: "Held requests" });
    await see(held).toContainText("the delivery of thread.deleted not sent yet; held by rule ");
    await held.getByRole("button", { name: /^Answer 503/ }).click();
    await see(held).toHaveCount(0);
    await control("DELETE", "/faults");
  });

  it("exports the sandbox in two clicks, and opens the file as another sandbox [interfaces 19]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    const { page } = await openAt("/s/default/timeline");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export …" }).click();
    await page.getByRole("button", { name: "Export sandbox" }).click();
    const download = await downloading;
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    expect(download.suggestedFilename()).toBe("default.understudy");
    const buffer = readFileSync(await download.path());
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Open export" }).click();
    await (await choosing).setFiles({ name: "default.understudy", mimeType: "application/gzip", buffer });
    await see(page).toHaveURL(/\/s\/default-2\/timeline/);
    await see(page.getByText("/v1/threads/thread_long").first()).toBeVisible();
    const cut = { name: "cut.understudy", mimeType: "application/gzip", buffer: buffer.subarray(0, -60) };
    const again = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Open export" }).click();
    await (await again).setFiles(cut);
    await see(page.getByText("The file is damaged or incomplete; copy it again.")).toBeVisible();
  });
});
