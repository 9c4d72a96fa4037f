import { describe, expect, it, vi } from "vitest";
import { expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open } = useConsole("time", { sandbox: "timed" });

const S = "/_control/sandboxes/timed";

/** A sandbox that stands still at noon, with rules whose leases are all that becomes due. */
async function timed(...ttls: string[]): Promise<void> {
  await api.call(undefined, "DELETE", S);
  await api.call(undefined, "POST", "/_control/sandboxes", {
    name: "timed",
    fixture: { organizations: [] },
    clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
  });
  for (const ttl of ttls)
    await api.call(undefined, "POST", `${S}/faults`, {
      id: `for-${ttl}`,
      effect: { status: 503 },
      lease: { ttl },
    });
}

describe("the console's time", { timeout: 4 * PATIENCE_MS }, () => {
  it("interfaces 4 advances a frozen clock to the next event, and says what ran", async () => {
    await timed("10m", "7d");
    const { page, complaints } = await open();
    const clock = page.getByRole("region", { name: "Clock" });
    await see(clock.getByRole("time")).toHaveText("12:00:00");
    await see(clock.getByRole("button", { name: "Freeze" })).toHaveAttribute("aria-pressed", "true");
    const pending = page.getByRole("grid", { name: "Pending" }).getByRole("row");
    await see(pending).toHaveCount(3);
    await see(pending.nth(1)).toContainText("in 10 min");
    await expectAccessible(page);
    await clock.getByRole("button", { name: "To the next event" }).click();
    await see(clock.getByRole("time")).toHaveText("12:10:00");
    await see(clock).toContainText("On the way: 1 end of a lease.");
    await see(pending).toHaveCount(2);
    await see(page.getByRole("grid", { name: "What ran" })).toContainText("for-10m");
    await clock.getByRole("button", { name: "+5 min" }).click();
    await see(clock.getByRole("time")).toHaveText("12:15:00");
    await see(clock).toContainText("Nothing became due on the way.");
    await clock.getByRole("button", { name: "+6 h" }).click();
    await see(clock.getByRole("time")).toHaveText("18:15:00");
    await clock.getByRole("button", { name: "To the next event" }).click();
    await see(page.getByText("Nothing is pending.")).toBeVisible();
    await see(clock.getByRole("button", { name: "To the next event" })).toBeDisabled();
    expect(complaints).toEqual([]);
  });

  it("interfaces 4 says in full what is pending on a phone", async () => {
    await api.call(undefined, "DELETE", S);
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "timed", clock: { mode: "frozen" } });
    const { page } = await open();
    await page.setViewportSize({ width: 360, height: 740 });
    const pending = page.getByRole("grid", { name: "Pending" });
    await see(pending).toContainText("transcription");
    const kinds = pending.locator(".cell-kind");
    const cut = await kinds.evaluateAll((cells) =>
      cells.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
    );
    expect([await kinds.count(), cut]).toEqual([4, []]);
  });

  it("interfaces 4 runs, runs sixty times as fast, and freezes again", async () => {
    await timed();
    // As fast as real time, it would take longer than anybody waits for it here.
    await api.call(undefined, "POST", `${S}/clock/advance`, { by: "8m" });
    const { page } = await open();
    const clock = page.getByRole("region", { name: "Clock" });
    await clock.getByRole("button", { name: "Run ×60" }).click();
    await see(clock).toContainText("runs 60 times as fast");
    expect((await api.call(undefined, "GET", `${S}/clock`)).body).toMatchObject({ rate: 60 });
    await see(clock.getByRole("time")).not.toHaveText(/^12:0/, { timeout: 2 * PATIENCE_MS });
    await clock.getByRole("button", { name: "Freeze" }).click();
    await see(clock).toContainText("stands still");
    const { body } = await api.call(undefined, "GET", `${S}/clock`);
    expect(body).toMatchObject({ mode: "frozen", rate: 0 });
    await see(clock.getByRole("time")).toHaveText(String((body as { now: string }).now).slice(11, 19));
    await clock.getByRole("button", { name: "Run", exact: true }).click();
    await see(clock.getByRole("button", { name: "Run", exact: true })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
  });

  it("interfaces 4 keeps what was typed where the clock cannot go there, and says why", async () => {
    await timed();
    const { page } = await open();
    const field = page.getByRole("textbox", { name: "By, or to" });
    const advance = page.getByRole("button", { name: "Advance", exact: true });
    await field.fill("2026-03-15T11:00:00Z");
    await advance.click();
    await see(field).toHaveAccessibleDescription(/cannot be reached/);
    await see(field).toHaveValue("2026-03-15T11:00:00Z");
    await field.fill("soon");
    await advance.click();
    await see(field).toHaveAccessibleDescription(/must be a duration/);
    await field.fill("1h30m");
    await advance.click();
    await see(page.getByRole("region", { name: "Clock" }).getByRole("time")).toHaveText("13:30:00");
  });
});
