import { beforeAll, describe, expect, it } from "vitest";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

const { api, openAt, control } = useConsole("timeline");
/** Ids for the names in braces below. */
const names: Record<string, string> = {};
const ROWS = 40;

beforeAll(async () => {
  const { headers } = await api.call("dan", "GET", "/v1/models");
  names["entry"] = headers.get("x-request-id")!;
  for (let row = 0; row < ROWS; row += 1) {
    await api.call("dan", "GET", "/v1/models");
    const department = { id: `dept_${row}`, name: `Zone ${row + 10}`, organization_id: "org_acme" };
    await control("POST", "/state/departments?silent=true", department);
  }
  const { items } = (await control("GET", "/state/audit_logs?limit=1&offset=300")).body;
  names["record"] = items[0].id;
});

const IS_IN_VIEW = `(() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  for (let list = document.activeElement.parentElement; list; list = list.parentElement) {
    const box = list.getBoundingClientRect();
    if (getComputedStyle(list).overflowY === "auto" && (top < box.top - 1 || bottom > box.bottom + 1)) return false;
  }
  return true;
})()`;
const WHEN_STILL = `new Promise((resolve) => {
  let [before, frames] = [NaN, 0];
  const step = () => {
    const { top } = document.activeElement.getBoundingClientRect();
    frames = top === before ? frames + 1 : 0;
    before = top;
    frames > 10 ? resolve() : requestAnimationFrame(step);
  };
  step();
})`;

describe("the row selected by an address", { timeout: 4 * PATIENCE_MS }, () => {
  it.each([
    ["timeline?entry={entry}", "treegrid"],
    ["world?collection=audit_logs&record={record}", "grid"],
    [`world?show=departments&department=dept_${ROWS - 1}`, "treegrid"],
    ["faults?scenario=webhooks-list-signed-out", "grid"],
    ["faults?scenario=flaky-uploads", "grid"],
    ["api?operation=webhooks.update", "grid"],
    ["coverage?operation=webhooks.update", "grid"],
  ])("is scrolled into view: %s [interfaces 2]", async (part, role) => {
    const address = part.replace(/\{(\w+)\}/g, (_, name) => names[name]!);
    const { page } = await openAt(`/s/default/${address}`, { height: 640 });
    const list = page.getByRole(role as "grid").first();
    await see(list.getByRole("row", { selected: true })).toBeInViewport({ ratio: 0.99 });
    // The row was below the visible part.
    expect(await list.evaluate((element: { scrollTop: number }) => element.scrollTop)).toBeGreaterThan(0);
  });

  it.each([
    ["sandboxes?make=sandbox", "option"],
    ["faults?compose=*", "option"],
    ["world?show=departments", "row"],
  ])("is in view when Page Down or Page Up moves to it: %s [interfaces 2]", async (part, role) => {
    const { page } = await openAt(`/s/default/${part}`, { height: 640 });
    if (part.startsWith("faults")) await page.locator(".select").first().click();
    const first = page.getByRole(role as "option").first();
    await first.focus();
    for (const key of ["PageDown", "PageDown", "PageDown", "PageUp"]) {
      await page.keyboard.press(key);
      // A scroll that the browser adds lasts some frames.
      await page.evaluate(WHEN_STILL);
      expect(await page.evaluate(IS_IN_VIEW), key).toBe(true);
    }
  });

  it("is in view in the list of collections too [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world?collection=webhooks", { height: 480 });
    const list = page.getByRole("navigation", { name: "Collections" });
    await see(list.locator("[aria-current=page]")).toBeInViewport({ ratio: 0.8 });
  });

  it("is in view when an arrow key moves to it: the head hid it or pushed it below the list [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world?collection=audit_logs", { height: 640 });
    const list = page.getByRole("grid").first();
    const active = list.locator(".row-active");
    for (const key of ["ArrowDown", "ArrowUp"]) {
      for (let row = 0; row < ROWS; row += 1) {
        await list.press(key);
        await see(active).toBeInViewport({ ratio: 0.99 });
        const head = await list.locator(".row-head").boundingBox();
        const box = await active.boundingBox();
        expect(box!.y - head!.y - head!.height, "covered by the head").toBeGreaterThanOrEqual(-0.5);
      }
    }
  });

  it("stays where it was clicked when a department above it is collapsed [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world?show=departments", { height: 640 });
    const list = page.getByRole("treegrid").first();
    await list.getByRole("row", { name: "Acme" }).press("ArrowLeft");
    await see(list.getByRole("row", { name: "Operations" })).toHaveCount(0);
    const row = list.getByRole("row", { name: "Zone 15" });
    const { y } = (await row.boundingBox())!;
    await row.click();
    await see(row).toHaveAttribute("aria-selected", "true");
    expect(await row.boundingBox()).toMatchObject({ y });
  });
});
