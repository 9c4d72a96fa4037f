import { readFile } from "node:fs/promises";
import type { Page, Route } from "@playwright/test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt } = useConsole("world");
beforeEach(() => api.call(undefined, "POST", "/_control/sandboxes/default/reset"));

const findConfirmations = (page: Page) => page.getByRole("region", { name: "Confirmations" });
const S = "/_control/sandboxes/default";
const record = async (collection: string, id: string) =>
  (await api.call(undefined, "GET", `${S}/state/${collection}/${id}`)).body;

describe("the console's world: records", { timeout: 4 * PATIENCE_MS }, () => {
  it("filters a collection and keeps the filter in the address [interfaces 2]", async () => {
    const { page, complaints } = await open("?collection=threads");
    await see(page.getByRole("row", { name: /thread_ada/ })).toBeVisible();
    await page.getByRole("searchbox", { name: "Filter" }).fill("owner_id:usr_dan");
    await see(page.getByRole("row", { name: /thread_ada/ })).toHaveCount(0);
    await see(page.getByRole("row", { name: /usr_dan/ }).first()).toBeVisible();
    await see(page).toHaveURL(/filter=owner_id%3Ausr_dan/);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("edits a record by form and by JSON [interfaces 2]", async () => {
    const { page, complaints } = await open("?collection=threads&record=thread_ada");
    const title = page.getByRole("textbox", { name: "title" });
    await title.fill("Plans for the summer");
    await see(page.getByRole("textbox", { name: "JSON" })).toHaveValue(/"title": "Plans for the summer"/);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await see(page.getByText(/^Saved \w+\.$/).last()).toBeVisible();
    expect(await record("threads", "thread_ada")).toMatchObject({ title: "Plans for the summer" });
    const json = page.getByRole("textbox", { name: "JSON" });
    await json.fill((await json.inputValue()).replace("the summer", "the autumn"));
    await see(title).toHaveValue("Plans for the autumn");
    await page.getByRole("button", { name: "Save" }).click();
    await see(page.getByText(/^Saved \w+\.$/).last()).toBeVisible();
    expect(await record("threads", "thread_ada")).toMatchObject({ title: "Plans for the autumn" });
    expect(complaints).toEqual([]);
  });

  it("keeps what is typed while a save is running [interfaces 2]", async () => {
    const { page } = await open("?collection=threads&record=thread_ada");
    const held: Route[] = [];
    await page.route("**/state/threads/thread_ada*", (route) =>
      route.request().method() === "PATCH" ? void held.push(route) : route.continue(),
    );
    const title = page.getByRole("textbox", { name: "title" });
    await title.fill("First");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => held.length).toBe(1);
    await title.fill("First, second");
    await held[0]!.continue();
    await see(page.getByText("Saved thread_ada.")).toBeVisible();
    await see(page.getByRole("button", { name: "Save" })).toBeEnabled();
    await see(title).toHaveValue("First, second");
    expect(await record("threads", "thread_ada")).toMatchObject({ title: "First" });
    await page.unrouteAll();
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => record("threads", "thread_ada")).toMatchObject({ title: "First, second" });
    await see(page.getByRole("button", { name: "Cancel" })).toHaveCount(0);
  });

  it("keeps the focus in a field while a text becomes long, and while a line break is deleted [interfaces 2]", async () => {
    const { page } = await open("?collection=users&record=usr_dan");
    const name = page.getByRole("textbox", { name: "name", exact: true });
    await name.fill("");
    await name.pressSequentially("word ".repeat(14));
    await see(name).toHaveValue("word ".repeat(14));
    await see(name).toBeFocused();
    const json = page.getByRole("textbox", { name: "JSON", exact: true });
    await json.fill('{"name": "a\\nb"}');
    for (const key of ["Control+End", "ArrowLeft", "Backspace", "c"]) await name.press(key);
    await see(name).toHaveValue("acb");
    await see(name).toBeFocused();
  });

  it("scrolls to the error at a field, and keeps the input across views [interfaces 2]", async () => {
    const { page } = await open("?collection=users&record=usr_dan", { height: 640 });
    const memberships = page.getByRole("textbox", { name: "memberships" });
    await memberships.fill('{"org_acme": "chief"}');
    await page.getByRole("button", { name: "Save" }).click();
    await see(page.getByText(/memberships.org_acme must be/).first()).toBeInViewport();
    await see(memberships).toHaveAttribute("aria-invalid", "true");
    await page.getByRole("link", { name: /^departments/ }).click();
    await see(page.getByRole("row", { name: /dept_ml/ })).toBeVisible();
    await page.goBack();
    await see(memberships).toHaveValue('{"org_acme": "chief"}');
    await memberships.fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await see(page.getByText(/memberships is not valid JSON/).first()).toBeVisible();
    expect(await record("users", "usr_dan")).toMatchObject({ memberships: { org_acme: "member" } });
  });

  it("selects items of a list, and filters a large collection [interfaces 2]", async () => {
    const { page, complaints } = await open("?collection=webhooks&record=wh_ops");
    const events = page.getByRole("region", { name: "events" });
    await see(events.getByRole("option", { name: "user.created" })).toHaveAttribute("aria-selected", "true");
    await events.getByRole("option", { name: "file.processed" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await see(page.getByText(/^Saved \w+\.$/).last()).toBeVisible();
    expect((await record("webhooks", "wh_ops")).events).toEqual(["user.created", "usage.threshold"]);
    await page.goto(`${api.url}/_console/s/default/world?collection=audit_logs&filter=reparented`);
    const grid = page.getByRole("grid", { name: "audit_logs" });
    const { body } = await api.call(undefined, "GET", `${S}/state/audit_logs?action=reparented&limit=1`);
    await see(grid).toHaveAttribute("aria-rowcount", String(body.total + 1));
    await page.getByRole("searchbox", { name: "Filter" }).fill("no such text");
    await see(page.getByText("No records match “no such text”")).toBeVisible();
    await see(page.getByText("the filter finds one text, and no fields")).toBeVisible();
    await page.getByRole("searchbox", { name: "Filter" }).fill("");
    await see(page.getByRole("row").nth(5)).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("sends null where the form for a new record says null, and nothing where it says nothing [interfaces 4]", async () => {
    const { page } = await open("?collection=store_files&record=%2B");
    const step = page.getByRole("button", { name: /current_step$/ });
    await see(step).toContainText("(empty)");
    await choose(page, "current_step", "null");
    await see(page.getByRole("textbox", { name: "JSON" })).toHaveValue(/"current_step": null/);
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Create" }).click();
    expect((await sent).postDataJSON()).toEqual({ current_step: null });
    await see(page.getByText(/^current_step contradicts the record's other fields/)).toBeVisible();
    await choose(page, "current_step", "(empty)");
    await page.getByRole("button", { name: "Create" }).click();
    await see(step).toContainText("parsing");
  });

  it("creates a record, and deletes it after a confirmation [interfaces 2]", async () => {
    const { page, complaints } = await open("?collection=threads");
    await page.getByRole("button", { name: "New record" }).click();
    await page.getByRole("textbox", { name: "owner_id" }).fill("usr_dan");
    await page.getByRole("textbox", { name: "title" }).fill("Two fields");
    await page.getByRole("button", { name: "Create" }).click();
    await see(page).toHaveURL(/record=thread_/);
    const id = new URL(page.url()).searchParams.get("record")!;
    expect(await record("threads", id)).toMatchObject({
      owner_id: "usr_dan",
      title: "Two fields",
      organization_id: "org_acme",
    });
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await see(page.getByRole("row", { name: new RegExp(id) })).toHaveCount(0);
    expect((await record("threads", id)).type).toContain("unknown-record");
    expect(complaints).toEqual([]);
  });
});

describe("the console's world: departments", { timeout: 4 * PATIENCE_MS }, () => {
  const branch = (page: Page, name: string) => page.getByRole("row", { name, exact: true });

  it("moves a dragged department [4.3]", async () => {
    const { page, complaints } = await open("?show=departments");
    await branch(page, "ML").dragTo(branch(page, "Operations"));
    await see(findConfirmations(page)).toContainText("Moved ML under Operations.");
    expect(await record("departments", "dept_ml")).toMatchObject({ parent_id: "dept_ops" });
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("shows the API's 422 for a department dragged below itself [4.3]", async () => {
    const { page, complaints } = await open("?show=departments");
    await branch(page, "Engineering").dragTo(branch(page, "Infra"));
    await see(page.getByRole("alert")).toContainText("422");
    await see(page.getByRole("alert")).toContainText("Engineering was not moved");
    expect(await record("departments", "dept_eng")).toMatchObject({ parent_id: "dept_acme" });
    const { body } = await api.call(undefined, "GET", `${S}/journal?operation=departments.reparent`);
    expect(body.entries[0]).toMatchObject({ status: 422, principal: "usr_ada" });
    await expectAccessible(page);
    // The browser logs the failed request.
    expect(complaints.filter((line) => !line.includes("status of 422"))).toEqual([]);
  });

  it("moves a department by keyboard as the selected user [4.3]", async () => {
    const { page } = await open("?show=departments&as=apikey_dan");
    await branch(page, "ML").focus();
    await page.keyboard.press("ArrowRight");
    await see(page.getByRole("button", { name: "Move ML" })).toBeFocused();
    await page.keyboard.press("Enter");
    for (const name of ["Platform", "Infra", "Operations"]) {
      await see(page.getByRole("button", { name: `Drop on ${name}` })).toBeFocused();
      if (name !== "Operations") await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await see(page.getByRole("alert")).toContainText("403");
  });

  it("shows the parent that another client gives the selected department [4.3]", async () => {
    const { page } = await open("?show=departments&department=dept_ml");
    const parent = page.getByRole("button", { name: /Parent$/ });
    await see(parent).toContainText("Engineering");
    await api.call("ada", "POST", "/v1/organizations/org_acme/departments/dept_ml/reparent", {
      new_parent_id: "dept_ops",
    });
    await see(parent).toContainText("Operations");
  });

  it("shows all departments of an organization again that has as many as another [interfaces 2]", async () => {
    const acme = (await api.call(undefined, "GET", `${S}/state/departments?organization_id=org_acme`)).body
      .total;
    for (let at = 2; at < acme + 1; at += 1)
      await api.call(undefined, "POST", `${S}/state/departments`, {
        organization_id: "org_globex",
        parent_id: "dept_globex",
        name: `Team ${at}`,
      });
    const { page } = await open("?show=departments");
    const rows = page.getByRole("treegrid").getByRole("row");
    for (const organization of ["Globex Labs", "Acme Robotics", "Globex Labs"]) {
      await choose(page, "Organization", organization);
      await see(
        rows.filter({ hasText: organization === "Acme Robotics" ? "dept_ml" : "Team 2" }),
      ).toHaveCount(1);
    }
  });

  it("moves a department to the top level by form [4.3]", async () => {
    const { page } = await open("?show=departments&department=dept_ml", { width: 360 });
    await choose(page, "Parent", /top-level/);
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await see(findConfirmations(page)).toContainText("Moved ML to the top.");
    await expectToFit(page);
    expect(await record("departments", "dept_ml")).toMatchObject({ parent_id: null });
  });
});

describe("the console's world: limits and snapshots", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows spending against each limit in the sandbox's month [3.6]", async () => {
    const { page, complaints } = await open("?show=usage");
    const acme = page.getByRole("region", { name: "Acme Robotics" });
    await see(acme.getByRole("meter", { name: "Organization spent" })).toHaveAttribute("aria-valuenow", "85");
    await see(acme.getByRole("link", { name: /Organization/ })).toContainText("warning");
    await see(acme.getByRole("link", { name: /Organization/ })).toContainText("850 of 1,000");
    await api.call(undefined, "PATCH", `${S}/state/usage/org_acme`, { monthly_limit: 850 });
    await page.reload();
    await see(acme.getByRole("link", { name: /Organization/ })).toContainText("exceeded");
    await expectAccessible(page);
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it("shows a key while it has spending or a limit, and a deleted key without its limit [G33]", async () => {
    const state = (method: string, path: string, body?: object) =>
      api.call(undefined, method, `${S}/state/${path}`, body);
    await state("POST", "api_keys", { id: "apikey_spent", name: "Spent", user_id: "usr_dan" });
    await state("POST", "api_keys", { id: "apikey_idle", name: "Idle", user_id: "usr_dan" });
    const figures = { organization_id: "org_acme", monthly_limit: 10, spent: { "2026-03": 20 } };
    await state("POST", "usage", { ...figures, api_key_id: "apikey_spent" });
    await state("POST", "usage", {
      organization_id: "org_acme",
      api_key_id: "apikey_idle",
      spent: { "2026-02": 1 },
    });
    const { page } = await open("?show=usage");
    const acme = page.getByRole("region", { name: "Acme Robotics" });
    await see(acme.getByRole("link", { name: /^Spent exceeded/ })).toContainText("20 of 10 CHF");
    expect(await acme.getByRole("link", { name: /^Idle/ }).count()).toBe(0);
    await state("DELETE", "api_keys/apikey_spent");
    await page.reload();
    await see(acme.getByRole("link", { name: /^apikey_spent no limit/ })).toContainText("20 CHF");
  });

  it("takes, compares and restores a snapshot [interfaces 4]", async () => {
    const { page, complaints } = await open("?show=snapshots");
    await page.getByRole("textbox", { name: "Name" }).fill("before");
    await page.getByRole("button", { name: "Take snapshot" }).click();
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    // The comparison goes from the snapshot to the current state.
    await see(page.getByRole("button", { name: /before State of / })).toBeVisible();
    await see(page.getByText("No differences")).toBeVisible();
    await api.call("ada", "POST", "/v1/organizations/org_acme/departments/dept_ml/reparent", {
      new_parent_id: "dept_ops",
    });
    const moved = page.getByRole("region", { name: "departments" });
    await see(moved).toContainText(/dept_ml differs.*parent_iddept_engdept_ops/s);
    await see(page.getByRole("region", { name: "audit_logs" })).toContainText("only in the current state");
    await expectAccessible(page);
    await page.getByRole("link", { name: "Snapshots" }).click();
    await page.getByRole("button", { name: "Restore before" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByRole("link", { name: "Compare before with now" }).click();
    await see(page.getByText("No differences")).toBeVisible();
    expect(await record("departments", "dept_ml")).toMatchObject({ parent_id: "dept_eng" });
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it("says that a snapshot in the address of a comparison does not exist [interfaces 10]", async () => {
    const { page } = await open("?show=compare&from=gone");
    await see(page.getByText("No snapshot gone. It may have been deleted.")).toBeVisible();
    expect(await page.getByText("S/snapshots").count()).toBe(0);
  });

  it("forks from before a mistake and compares both sandboxes [interfaces 10]", async () => {
    // Snapshots and branches survive a reset.
    await api.call(undefined, "DELETE", `${S}/snapshots/before`);
    await api.call(undefined, "DELETE", "/_control/sandboxes/spared");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page, complaints } = await open("?show=compare");
    await see(page.getByText("Nothing to compare with")).toBeVisible();
    await page.getByRole("link", { name: "timeline", exact: true }).click();
    await page.getByRole("row", { name: /DELETE \/v1\/threads\/thread_ada/ }).click();
    await page.getByRole("button", { name: /^Fork before this/ }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("spared");
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await see(page).toHaveURL(/\/s\/spared\/timeline/);
    await api.call(undefined, "POST", `${S}/state/threads?silent=true`, { id: "thread_later" });
    await page.goto(`${api.url}/_console/s/default/sandboxes?sandbox=spared`);
    await page.getByRole("link", { name: "Compare with default" }).click();
    // The address alone describes the comparison.
    await see(page).toHaveURL(`${api.url}/_console/s/default/world?show=compare&of=spared&to=now`);
    const threads = page.getByRole("region", { name: "threads" });
    await see(threads).toContainText(/thread_ada only in spared/);
    await see(threads).toContainText(/thread_later only in default/);
    await threads.locator("summary").first().click();
    await see(threads).toContainText(/title/);
    // Changes in the branch appear too.
    await api.call(undefined, "PATCH", "/_control/sandboxes/spared/state/departments/dept_ops?silent=true", {
      name: "Opsy",
    });
    await see(page.getByRole("region", { name: "departments" })).toContainText(/nameOperationsOpsy/);
    await see(page.getByRole("status").filter({ hasText: "differs" })).toContainText(
      /1 differs, .* only in spared/,
    );
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    // The page reports a deleted branch.
    await api.call(undefined, "DELETE", "/_control/sandboxes/spared");
    await see(page.getByRole("alert").first()).toContainText(/spared/);
    expect(
      complaints.filter((line) => !line.includes("status of 422") && !line.includes("status of 404")),
    ).toEqual([]);
  });

  it("keeps a comparison while the server is unreachable, and reconnects [interfaces 4]", async () => {
    await api.call(undefined, "POST", `${S}/snapshots`, { name: "kept" });
    const created_at = "2026-01-02T03:04:05.678Z";
    await api.call(undefined, "PATCH", `${S}/state/threads/thread_ada`, { created_at });
    const { page } = await open("?show=compare&from=kept&to=now", { width: 360 });
    const threads = page.getByRole("region", { name: "threads" });
    const instant = threads.getByRole("cell", { name: /03:04:05\.678Z/ });
    await see(instant).toBeVisible();
    // The time is on one line, although the window is narrow.
    expect((await instant.boundingBox())!.height).toBeLessThan(30);
    await expectToFit(page);
    await page.route("**/_control/**", (route) => route.abort());
    api.understudy.server.closeAllConnections();
    await see(page.getByRole("alert")).toContainText("Disconnected");
    // Another failed query adds no second alert.
    await page.getByRole("button", { name: "Retry now" }).click();
    await see(page.getByRole("alert")).toHaveCount(1);
    await see(instant).toBeVisible();
    await page.unroute("**/_control/**");
    await see(page.getByRole("alert")).toHaveCount(0);
    await see(instant).toBeVisible();
    await api.call(undefined, "DELETE", `${S}/snapshots/kept`).catch(() => {});
  });

  it("removes the error of an unreachable server once it is connected again [interfaces 4]", async () => {
    const { page } = await open("?show=snapshots");
    await page.route("**/_control/**", (route) => route.abort());
    api.understudy.server.closeAllConnections();
    await see(page.getByRole("alert")).toContainText("Disconnected");
    const name = page.getByRole("textbox", { name: "Name" });
    await name.fill("later");
    await page.getByRole("button", { name: "Take snapshot" }).click();
    await see(page.getByText("Cannot reach the server.")).toBeVisible();
    await page.unroute("**/_control/**");
    await see(page.getByRole("alert")).toHaveCount(0);
    await see(name).toHaveValue("later");
  });

  it("reports a duplicate snapshot name and keeps the input [interfaces 4]", async () => {
    const { page } = await open("?show=snapshots");
    const name = page.getByRole("textbox", { name: "Name" });
    await api.call(undefined, "POST", `${S}/snapshots`, { name: "twice" });
    await name.fill("twice");
    await page.getByRole("button", { name: "Take snapshot" }).click();
    await see(page.getByRole("alert")).toContainText("twice");
    await see(name).toHaveValue("twice");
  });

  it("downloads a snapshot, and uploads it again [interfaces 4]", async () => {
    await api.call(undefined, "POST", `${S}/snapshots`, { name: "travels" });
    const { page, complaints } = await open("?show=snapshots");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download travels" }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe("travels.snapshot.json");
    const text = await readFile(await file.path(), "utf8");
    await api.call(undefined, "DELETE", `${S}/snapshots/travels`);
    const upload = async (name: string, buffer: Buffer) => {
      const choosing = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Upload snapshot" }).click();
      await (await choosing).setFiles({ name, mimeType: "application/json", buffer });
    };
    await upload("notes.json", Buffer.from("not JSON"));
    await see(page.getByRole("alert")).toContainText("notes.json is not valid JSON");
    // A snapshot's name begins with a letter or digit.
    await upload("поездки.json", Buffer.from(text));
    await see(page.getByText("Uploaded snapshot uploaded.")).toBeVisible();
    await api.call(undefined, "DELETE", `${S}/snapshots/uploaded`);
    await upload("_travels.snapshot.json", Buffer.from(text));
    await see(page.getByText("Uploaded snapshot travels.")).toBeVisible();
    expect((await api.call(undefined, "GET", `${S}/snapshots/now/diff/travels`)).body).toMatchObject({
      ...{ added: {}, removed: {}, changed: {} },
    });
    // A browser names the second download so. It replaces the snapshot, which an undo restores.
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await api.call(undefined, "DELETE", `${S}/snapshots/travels`);
    await api.call(undefined, "POST", `${S}/snapshots`, { name: "travels" });
    await upload("travels.snapshot (1).json", Buffer.from(text));
    await see(page.getByText("Uploaded and replaced snapshot travels.")).toBeVisible();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await see(page.getByText("Undone: Uploaded and replaced snapshot travels.")).toBeVisible();
    expect((await api.call(undefined, "GET", `${S}/snapshots/now/diff/travels`)).body).toMatchObject({
      ...{ added: {}, removed: {}, changed: {} },
    });
    await api.call(undefined, "DELETE", `${S}/snapshots/travels`);
    expect(complaints).toEqual([]);
  });

  it("asks the server for a page of a large collection, and searches there [interfaces 4]", async () => {
    const fixture = { extends: "reference", generate: { departments: 6000 } };
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "large", fixture });
    const { page, complaints } = await openAt("/s/large/world?collection=departments");
    const grid = page.getByRole("grid", { name: "departments" });
    await see(page.getByText(/^1 to 500 of 6,0/)).toBeVisible();
    await see(grid).toHaveAttribute("aria-rowcount", "501");
    await page.getByRole("button", { name: "Next" }).press("Enter");
    await see(page.getByText(/^501 to 1,000 of 6,0/)).toBeVisible();
    await page.getByRole("searchbox", { name: "Filter" }).fill("dept_ml");
    await see(grid.getByRole("row", { name: /dept_ml/ })).toBeVisible();
    await see(page.getByText(/^1 to 1 of 1$/)).toBeVisible();
    // An address may be older than the deletion of records.
    await page.goto(`${api.url}/_console/s/large/world?collection=departments&offset=9000`);
    await see(page.getByText(/^5,501 to 6,000 of/)).toBeVisible();
    await see(page.getByText("No departments")).toHaveCount(0);
    await page.getByRole("button", { name: "Previous" }).press("Enter");
    await see(page.getByText(/^5,001 to 5,500 of/)).toBeVisible();
    await page.goto(`${api.url}/_console/s/large/world?collection=departments&filter=dept_ml&offset=500`);
    await see(page.getByText("No more records match “dept_ml”")).toBeVisible();
    await api.call(undefined, "DELETE", "/_control/sandboxes/large");
    expect(complaints).toEqual([]);
  });
});
