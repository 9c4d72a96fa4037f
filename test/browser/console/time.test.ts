import { describe, expect, it, onTestFinished, vi } from "vitest";
import { expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { waitUntil } from "../../support/eventually.ts";
import { startReceiver } from "../../support/webhook-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open } = useConsole("time", { sandbox: "timed" });

const S = "/_control/sandboxes/timed";

/** Creates a sandbox of the reference, frozen at its start. */
async function createReference(): Promise<void> {
  await api.call(undefined, "DELETE", S);
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00Z" };
  await api.call(undefined, "POST", "/_control/sandboxes", { name: "timed", clock });
}

/** Creates a sandbox that is frozen at noon. Its only timers are expiring rules. */
async function createTimed(...ttls: string[]): Promise<void> {
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
  it("advances a frozen clock to the next timer, and shows what ran [interfaces 4]", async () => {
    await createTimed("10m", "7d");
    const { page, complaints } = await open();
    const clock = page.getByRole("region", { name: "Clock" });
    await see(clock.getByRole("time")).toHaveText("12:00:00");
    await see(clock.getByRole("button", { name: "Freeze" })).toHaveAttribute("aria-pressed", "true");
    const pending = page.getByRole("grid", { name: "Pending" }).getByRole("row");
    await see(pending).toHaveCount(3);
    await see(pending.nth(1)).toContainText("in 10 min");
    await expectAccessible(page);
    await clock.getByRole("button", { name: "Next timer" }).click();
    await see(clock.getByRole("time")).toHaveText("12:10:00");
    await see(page.getByText("Ran: 1 × rule expiry.")).toBeVisible();
    await see(pending).toHaveCount(2);
    await see(page.getByRole("grid", { name: "Recent" })).toContainText("for-10m");
    await clock.getByRole("button", { name: "+5 min" }).click();
    await see(clock.getByRole("time")).toHaveText("12:15:00");
    await see(page.getByText("No timers ran.")).toBeVisible();
    await clock.getByRole("button", { name: "+6 h" }).click();
    await see(clock.getByRole("time")).toHaveText("18:15:00");
    await clock.getByRole("button", { name: "Next timer" }).click();
    await see(page.getByText("No pending timers", { exact: true })).toBeVisible();
    await see(clock.getByRole("button", { name: "Next timer" })).toBeDisabled();
    expect(complaints).toEqual([]);
  });

  it("shows pending timers in full on a phone [interfaces 4]", async () => {
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

  it("runs the clock, runs it at 60×, and freezes it [interfaces 4]", async () => {
    await createTimed();
    // A real clock would be too slow for a test, so the clock is advanced first.
    await api.call(undefined, "POST", `${S}/clock/advance`, { by: "8m" });
    const { page } = await open();
    const clock = page.getByRole("region", { name: "Clock" });
    await clock.getByRole("button", { name: "Run ×60" }).click();
    await see(clock).toContainText("running ×60");
    expect((await api.call(undefined, "GET", `${S}/clock`)).body).toMatchObject({ rate: 60 });
    await see(clock.getByRole("time")).not.toHaveText(/^12:0/, { timeout: 2 * PATIENCE_MS });
    await clock.getByRole("button", { name: "Freeze" }).click();
    await see(clock).toContainText("frozen");
    const { body } = await api.call(undefined, "GET", `${S}/clock`);
    expect(body).toMatchObject({ mode: "frozen", rate: 0 });
    await see(clock.getByRole("time")).toHaveText(String((body as { now: string }).now).slice(11, 19));
    await clock.getByRole("button", { name: "Run", exact: true }).click();
    await see(clock.getByRole("button", { name: "Run", exact: true })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
  });

  it("keeps the input and shows the error if the clock cannot be set to that time [interfaces 4]", async () => {
    await createTimed();
    const { page } = await open();
    const field = page.getByRole("textbox", { name: "Advance by a duration, or to a time" });
    const advance = page.getByRole("button", { name: "Advance", exact: true });
    await field.fill("2026-03-15T11:00:00Z");
    await advance.click();
    await see(field).toHaveAccessibleDescription(/This value cannot be reached/);
    await see(field).toHaveValue("2026-03-15T11:00:00Z");
    await field.fill("soon");
    await advance.click();
    await see(field).toHaveAccessibleDescription(
      /This value must be a duration such as 1h30m, or a time such as 2026-/,
    );
    // The error is below the field; the button stays beside it.
    const boxes = await Promise.all([field, advance].map((one) => one.boundingBox()));
    expect(Math.abs(boxes[1]!.y - boxes[0]!.y)).toBeLessThan(4);
    await field.fill("1h30m");
    await advance.click();
    await see(page.getByRole("region", { name: "Clock" }).getByRole("time")).toHaveText("13:30:00");
  });

  it("lists pending timers, and runs one now without moving the clock [interfaces 4]", async () => {
    await createReference();
    const { page, complaints } = await open();
    const pending = page.getByRole("grid", { name: "Pending" });
    const { now } = (await api.call(undefined, "GET", `${S}/clock`)).body;
    // The axis is a list of buttons, reached by Tab.
    const axis = page.getByRole("group", { name: "Pending on a time axis" });
    const mark = axis.getByRole("button", { name: /^transcription/ });
    await mark.focus();
    await page.keyboard.press("Enter");
    const pane = page.getByRole("region", { name: "Timer trans_pending" });
    await see(pane.getByRole("link")).toHaveAttribute(
      "href",
      /collection=transcriptions&record=trans_pending/,
    );
    await expectAccessible(page);
    await pane.getByRole("button", { name: "Run it now" }).press("Enter");
    await see(page.getByText("Ran transcription trans_pending.")).toBeVisible();
    expect(
      (await api.call(undefined, "GET", `${S}/state/transcriptions/trans_pending`)).body.status,
    ).not.toBe("pending");
    expect((await api.call(undefined, "GET", `${S}/clock`)).body.now).toBe(now);
    await page.getByRole("region", { name: "Confirmations" }).getByRole("button", { name: "Undo" }).click();
    await see(pending).toContainText("transcription");
    // The job was due before the transcription, and is still pending.
    await see(pending).toContainText("connector job");
    expect(complaints).toEqual([]);
  });

  it("shows the timers of a file in two stores once, so that the keys reach the rows below [interfaces 4]", async () => {
    await createReference();
    for (const store of ["vs_handbook", "vs_empty"]) {
      const path = `/_s/timed/v1/organizations/org_acme/stores/${store}/files`;
      await api.call("ada", "POST", path, { file_id: "file_loose" });
    }
    const { page } = await open();
    const pending = page.getByRole("grid", { name: "Pending" });
    await see(pending.getByRole("row", { name: /loose\.txt/ })).toHaveCount(1);
    const count = await pending.getByRole("row").count();
    await pending.focus();
    for (let row = 1; row < count; row += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await see(pending.getByRole("row").last()).toHaveAttribute("aria-selected", "true");
  });

  it("marks pending timers as pending, and rounds the time until they are due [interfaces 4]", async () => {
    await createReference();
    const upload = { filename: "a.pdf", mime_type: "application/pdf", file_size: 1000 };
    await api.call("ada", "POST", "/_s/timed/v1/organizations/org_acme/files/upload-url", upload);
    await api.call(undefined, "POST", `${S}/clock/advance`, { by: "10m" });
    const { page } = await open();
    const pending = page.getByRole("grid", { name: "Pending" });
    // An expiry is not an error, and 6 days and 23 hours are rounded to 7 days.
    const row = pending.getByRole("row", { name: /in 7 d expiry/ });
    await see(row).toBeVisible();
    await see(row.locator('path[fill="var(--waiting)"]')).toHaveCount(1);
  });

  it("names what the list of recent entries would have [interfaces 10]", async () => {
    await createTimed();
    const { page } = await open();
    await see(page.getByText("No timers have run yet")).toBeVisible();
    await page.getByRole("button", { name: "All changes" }).click();
    await see(page.getByText("No changes yet")).toBeVisible();
    await see(page.getByText("No timers have run yet")).toHaveCount(0);
  });

  it("shows an entry of a link that its list does not have, and says if there is none [interfaces 10]", async () => {
    await createTimed("10m");
    const { entries } = (await api.call(undefined, "GET", `${S}/history`)).body;
    const { page } = await open(`?ran=${entries[0].id}`);
    await see(page.getByRole("region", { name: /^Entry / })).toContainText("The rule for-10m was armed.");
    const other = await open("?ran=h_none");
    await see(other.page.getByText("No entry h_none.")).toBeVisible();
  });

  it("rewinds to an earlier moment from the list of what ran [interfaces 10]", async () => {
    await createTimed("10m");
    const { page } = await open();
    await page.getByRole("button", { name: "+6 h" }).click();
    const recent = page.getByRole("grid", { name: "Recent" });
    await recent.getByRole("row", { name: /for-10m.*12:10:00/ }).click();
    const pane = page.getByRole("region", { name: /^Entry / });
    await see(pane).toContainText("2026-03-15 12:10:00 UTC");
    await pane.getByRole("button", { name: "Rewind to before this" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await see(page.getByRole("region", { name: "Clock" }).getByRole("time")).toHaveText("12:00:00");
    await page.getByRole("button", { name: "All changes" }).click();
    await see(recent).toContainText("Rewound to before");
  });

  it("shows the progress of a long advance, and stops it [interfaces 4]", async () => {
    await createReference();
    const answers: ((status: number) => void)[] = [];
    const receiver = await startReceiver((_request, _body, respond) => void answers.push(respond));
    onTestFinished(() => receiver.close());
    const hook = { url: receiver.url, events: ["thread.deleted"], organization_id: "org_acme" };
    await api.call(undefined, "POST", `${S}/state/webhooks`, hook);
    const triggered = api.call(undefined, "POST", `${S}/events`, { event: "thread.deleted" });
    await waitUntil(() => answers.length === 1);
    answers[0]!(500);
    await triggered;
    const { page } = await open();
    const clock = page.getByRole("region", { name: "Clock" });
    await clock.getByRole("textbox").fill("60d");
    await clock.getByRole("button", { name: "Advance", exact: true }).click();
    await see(clock).toContainText(/Advancing … 2026-03-15 12:0/);
    await clock.getByRole("button", { name: "Stop here" }).click();
    // The retry, which the advance waits for.
    answers[1]!(500);
    await see(page.getByText(/^Now 2026-03-15/)).toBeVisible();
    expect((await api.call(undefined, "GET", `${S}/clock`)).body.now).toMatch(/^2026-03-15T/);
  });
});
