import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { choose, expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { createTempFolder } from "../../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt } = useConsole("sandboxes");

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);

describe("the console's sandboxes", { timeout: 4 * PATIENCE_MS }, () => {
  it("creates a sandbox with fixture, seed, clock and scenarios, and opens it [interfaces 4]", async () => {
    const { page, complaints } = await open();
    await see(page.getByRole("row", { name: /default \(current\)/ })).toBeVisible();
    await page.getByRole("button", { name: "Create sandbox" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("trial");
    await choose(page, "Fixture", "reference");
    await page.getByRole("textbox", { name: "Seed" }).fill("7");
    await choose(page, "Clock", /^Frozen/);
    await page.getByRole("textbox", { name: "Start time" }).fill("2026-05-01T08:00:00Z");
    await page.getByRole("searchbox", { name: "Filter scenarios" }).fill("flaky-uploads");
    await page.getByRole("option", { name: "flaky-uploads" }).click();
    // Items that the filter hides stay selected.
    await page.getByRole("searchbox", { name: "Filter scenarios" }).fill("slow");
    await see(page.getByRole("region", { name: "Scenarios" })).toContainText("Scenarios flaky-uploads");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page).toHaveURL(`${api.url}/_console/s/trial/sandboxes?sandbox=trial`);
    await see(page.getByRole("row", { name: /trial \(current\)/ })).toContainText("frozen");
    await expectAccessible(page);
    expect((await control("GET", "/trial")).body).toMatchObject({
      fixture: "reference",
      seed: 7,
      clock: { mode: "frozen", now: "2026-05-01T08:00:00.000Z" },
      scenarios: ["flaky-uploads"],
    });
    expect(complaints).toEqual([]);
  });

  it("shows errors at their fields, and accepts the corrected input [interfaces 4]", async () => {
    const { page } = await open("?make=sandbox");
    const name = page.getByRole("textbox", { name: "Name" });
    await name.fill("Not A Name");
    await choose(page, "Fixture", "Custom");
    const fixture = page.getByRole("textbox", { name: "Fixture as JSON" });
    await fixture.fill('{"organizations": [');
    const create = page.getByRole("button", { name: "Create", exact: true });
    await create.click();
    await see(fixture).toHaveAccessibleDescription(/is not valid JSON. Nothing was sent/);
    await fixture.fill('{"organizations": [{"id": "org_solo", "name": 5}]}');
    await create.click();
    await see(name).toHaveAccessibleDescription(/lower-case letters, digits and hyphens/);
    await name.fill("solo");
    await create.click();
    await see(fixture).toHaveAccessibleDescription(/organizations/);
    await fixture.fill('{"organizations": [{"id": "org_solo", "name": "Solo"}]}');
    await create.click();
    await see(page.getByRole("row", { name: /solo \(current\)/ })).toBeVisible();
    expect((await control("GET", "/solo")).body).toMatchObject({
      fixture: "inline",
      counts: { organizations: 1 },
    });
  });

  it("forks, resets and deletes after a confirmation [interfaces 4]", async () => {
    await control("POST", "", { name: "first", seed: 3 });
    await control("DELETE", "/first/state/threads/thread_ada");
    const { page, complaints } = await openAt("/s/first/sandboxes?sandbox=first");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Fork …" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("second");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await see(page).toHaveURL(/\/s\/second\/sandboxes\?sandbox=second/);
    expect((await control("GET", "/second/state/threads/thread_ada")).status).toBe(404);
    await page.getByRole("button", { name: "Reset …" }).click();
    await expectAccessible(page);
    await dialog.getByRole("textbox", { name: "Seed" }).fill("11");
    await dialog.getByRole("button", { name: "Reset" }).click();
    await see(dialog).toHaveCount(0);
    expect((await control("GET", "/second")).body).toMatchObject({ seed: 11 });
    expect((await control("GET", "/second/state/threads/thread_ada")).status).toBe(200);
    await page.getByRole("button", { name: "Delete …" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await see(page).toHaveURL(`${api.url}/_console/s/default/sandboxes`);
    await see(page.getByRole("row", { name: /^second/ })).toHaveCount(0);
    await see(page.getByRole("alert")).toHaveCount(0);
    expect((await control("GET", "/second")).status).toBe(404);
    // The default sandbox cannot be deleted.
    await page.getByRole("row", { name: /default \(current\)/ }).click();
    await see(page.getByRole("button", { name: "Reset …" })).toBeVisible();
    await see(page.getByRole("button", { name: "Delete …" })).toHaveCount(0);
    expect(complaints).toEqual([]);
  });

  it("shows a sandbox that another client created, and opens it by Ctrl-K [interfaces 4]", async () => {
    const { page } = await open();
    await control("POST", "", { name: "elsewhere" });
    await see(page.getByRole("row", { name: /^elsewhere/ })).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("elsewh");
    await page.getByRole("menuitem", { name: /elsewhere/ }).click();
    await see(page).toHaveURL(`${api.url}/_console/s/elsewhere/timeline`);
  });

  it("edits settings with errors at the field, and undoes that [interfaces 2]", async () => {
    await control("POST", "", { name: "tuned" });
    const { page, complaints } = await openAt("/s/default/sandboxes?sandbox=tuned");
    await page.getByRole("button", { name: "Edit settings" }).press("Enter");
    await page.getByRole("searchbox", { name: "Find a setting" }).fill("seconds");
    await see(page.getByRole("button", { name: "Cancel" })).toBeVisible();
    const seconds = page.getByRole("textbox", { name: "processing_seconds" });
    await seconds.fill("-1");
    await page.getByRole("searchbox", { name: "Find a setting" }).fill("p");
    await choose(page, "preview", "on");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await seconds.press("Enter");
    await see(seconds).toHaveAccessibleDescription(/processing_seconds/);
    // The form shows the error of a field that the filter hides.
    const find = page.getByRole("searchbox", { name: "Find a setting" });
    await find.fill("preview");
    await see(seconds).toHaveCount(0);
    await see(page.getByRole("alert")).toContainText("processing_seconds");
    await find.fill("p");
    await see(seconds).toHaveAccessibleDescription(/processing_seconds/);
    const readSettings = async () => (await control("GET", "/tuned")).body.settings;
    const before = await readSettings();
    await seconds.fill("5");
    await seconds.press("Enter");
    await see(page.getByText('Changed processing_seconds: 5, preview: "on".')).toBeVisible();
    expect(await readSettings()).toEqual({ ...before, processing_seconds: 5, preview: "on" });
    await page.getByRole("button", { name: "Undo" }).click();
    await see(page.getByText(/Undone: Changed/)).toBeVisible();
    expect(await readSettings()).toEqual(before);
  });

  it("warns before a setting deletes entries [interfaces 2]", async () => {
    await control("POST", "", { name: "short" });
    const { page } = await openAt("/s/default/sandboxes?sandbox=short&settings=edit");
    await page.getByRole("textbox", { name: "journal_limit" }).fill("5000");
    await see(page.getByText(/deletes the oldest entries/)).toHaveCount(0);
    await page.getByRole("textbox", { name: "journal_limit" }).fill("10");
    await see(page.getByText(/Lowering journal_limit deletes the oldest entries/)).toBeVisible();
  });

  it("undoes a fork and a creation, and returns to the sandbox before [interfaces 2]", async () => {
    await control("POST", "", { name: "stem" });
    const { page } = await openAt("/s/stem/sandboxes?sandbox=stem");
    await page.getByRole("button", { name: "Fork …" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("branch");
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await see(page).toHaveURL(/\/s\/branch\/sandboxes/);
    await page.getByRole("button", { name: "Undo" }).click();
    await see(page).toHaveURL(/\/s\/stem\/sandboxes\?sandbox=stem$/);
    await see(page.getByText(/Undone: Forked/)).toBeVisible();
    expect((await control("GET", "/branch")).status).toBe(404);
    expect((await control("GET", "/stem")).status).toBe(200);
    await page.getByRole("button", { name: "Create sandbox" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("mistake");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page).toHaveURL(/\/s\/mistake\//);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await see(page).toHaveURL(/\/s\/stem\//);
    await expect.poll(async () => (await control("GET", "/mistake")).status).toBe(404);
    await see(page.getByRole("alert")).toHaveCount(0);
  });

  it("undoes a reset of a sandbox whose fixture is a file, and does not offer that file by its path [interfaces 4]", async () => {
    const file = join(createTempFolder(), "filed.yaml");
    writeFileSync(file, "extends: reference\n");
    api.understudy.sandboxes.create({ name: "filed", fixture: file });
    const department = "/filed/state/departments/dept_ml";
    expect((await control("DELETE", department)).status).toBe(204);
    const { page } = await openAt("/s/filed/sandboxes?sandbox=filed");
    await page.getByRole("button", { name: "Reset …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /Fixture/ }).click();
    const offered = await page.getByRole("option").allInnerTexts();
    expect(offered.filter((text) => text.includes("filed.yaml"))).toEqual([`Unchanged: ${file}`]);
    await page.getByRole("option", { name: /^Unchanged/ }).click();
    await dialog.getByRole("button", { name: "Reset" }).click();
    await expect.poll(async () => (await control("GET", department)).status).toBe(200);
    await page.getByRole("button", { name: "Undo" }).click();
    await see(page.getByText(/Undone: Reset/)).toBeVisible();
    expect((await control("GET", department)).status).toBe(404);
  });

  it("shows forks below the sandbox that they were made from [interfaces 2]", async () => {
    for (const name of ["oak", "ash", "elm"]) await control("POST", "", { name });
    await control("POST", "/oak/fork", { name: "acorn" });
    await control("POST", "/acorn/fork", { name: "seedling" });
    await control("POST", "/elm/fork", { name: "orphan" });
    await control("DELETE", "/elm");
    const { page } = await open();
    const readNames = async () =>
      (await page.getByRole("row").allInnerTexts()).flatMap(
        (text) => /oak|ash|acorn|seedling|orphan/.exec(text) ?? [],
      );
    await see(page.getByRole("row", { name: /seedling/ })).toBeVisible();
    expect(await readNames()).toEqual(["oak", "acorn", "seedling", "ash", "orphan"]);
    await see(page.getByRole("row", { name: /seedling/ }).getByRole("img")).toHaveAccessibleName(
      "Fork of acorn",
    );
    await page.getByRole("row", { name: /seedling/ }).click();
    await see(page.getByRole("region", { name: "Sandbox seedling" })).toContainText("Fork ofacorn");
    await expectAccessible(page);
    // The API keeps this field out of its answers to other clients.
    expect((await control("GET", "/acorn")).body).not.toHaveProperty("forked_from");
  });
});
