import type { Page } from "@playwright/test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt, control } = useConsole("keys");
beforeEach(async () => {
  await control("POST", "/reset");
  await control("PUT", "/clock", { mode: "frozen" });
});

const findConfirmations = (page: Page) => page.getByRole("region", { name: "Confirmations" });
const findStatus = (page: Page) => page.getByRole("contentinfo", { name: "Status" });
const undo = (page: Page) => findConfirmations(page).getByRole("button", { name: "Undo" }).last();

describe("an action of the console", { timeout: 4 * PATIENCE_MS }, () => {
  it("is confirmed with a way to undo it, by a button or Ctrl-Z [interfaces 2]", async () => {
    const { page, complaints } = await open("?key=apikey_dan");
    const isRevoked = async () => (await control("GET", "/state/api_keys/apikey_dan")).body.revoked;
    await page.getByRole("button", { name: "Revoke" }).click();
    await see(findConfirmations(page)).toContainText(/Revoked .+\./);
    await expectAccessible(page);
    expect(await isRevoked()).toBe(true);
    await undo(page).click();
    await see(findConfirmations(page)).toContainText(/Undone: Revoked/);
    expect(await isRevoked()).toBe(false);
    await page.getByRole("button", { name: "Revoke" }).click();
    await see(page.getByText(/This key is active/)).toBeHidden();
    await see(undo(page)).toBeVisible();
    await page.keyboard.press("Control+z");
    await see(page.getByText(/This key is active/)).toBeVisible();
    expect(await isRevoked()).toBe(false);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it.each([
    ["keys?key=apikey_dan", "Revoke", "Reactivate", "Revoked"],
    ["webhooks?show=webhooks&webhook=wh_ops", "Activate", "Deactivate", "Activated"],
  ])(
    "is confirmed as what it was, also if the live stream shows it first: %s [interfaces 2]",
    async (address, verb, reverse, done) => {
      const { page } = await openAt(`/s/default/${address}`);
      await page.route(/\/state\/\w+\/\w+$/, async (route) => {
        if (route.request().method() !== "PATCH") return route.continue();
        const response = await route.fetch();
        await see(page.getByRole("button", { name: reverse, exact: true })).toBeVisible();
        return route.fulfill({ response });
      });
      await page.getByRole("button", { name: verb, exact: true }).click();
      await see(findConfirmations(page)).toContainText(/ed .+\./);
      expect(await findConfirmations(page).textContent()).toContain(`${done} `);
    },
  );

  it("is undone after a rule was armed and a setting was changed, which stay [interfaces 10]", async () => {
    const { page } = await open("?key=apikey_dan");
    await page.getByRole("button", { name: "Revoke" }).click();
    await see(undo(page)).toBeVisible();
    await control("POST", "/faults", { id: "later", match: { path: "/none" }, effect: { status: 503 } });
    await control("PATCH", "", { settings: { preview: "on" } });
    await undo(page).click();
    await see(findConfirmations(page)).toContainText(/Undone: Revoked/);
    expect((await control("GET", "")).body.settings.preview).toBe("on");
    expect((await control("GET", "/faults")).body.items).toMatchObject([{ id: "later" }]);
    await control("DELETE", "/faults");
  });

  it("is not undone if later changes would be undone too [interfaces 10]", async () => {
    const { page } = await open("?key=apikey_dan");
    await page.getByRole("button", { name: "Revoke" }).click();
    await see(undo(page)).toBeVisible();
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("would also undo what happened after it");
    expect((await control("GET", "/state/threads/thread_ada")).status).toBe(404);
  });

  it.each([
    [
      "a deleted record with its dependents",
      "world?collection=threads&record=thread_ada",
      "Delete …",
      "Delete",
    ],
    ["a deleted key", "keys?key=apikey_dan", "Delete …", "Delete"],
    ["a deleted webhook", "webhooks?show=webhooks&webhook=wh_ops", "Delete …", "Delete"],
  ])("brings back %s [interfaces 10]", async (_what, address, first, second) => {
    const { page } = await openAt(`/s/default/${address}`);
    const readState = async () =>
      (await control("POST", "/snapshots", { name: `s${Math.random()}`.replace(".", "") })).body.records;
    const before = await readState();
    await page.getByRole("button", { name: first }).click();
    await page.getByRole("dialog").getByRole("button", { name: second, exact: true }).click();
    await see(undo(page)).toBeVisible();
    expect(await readState()).toBeLessThan(before);
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("Undone: Deleted");
    expect(await readState()).toBe(before);
  });

  it("arms switched-off and used-up rules and scenarios again [interfaces 6]", async () => {
    await control("POST", "/faults", { id: "older", times: 1, effect: { status: 503 } });
    await control("POST", "/faults", {
      id: "newer",
      match: { operation: "threads.*" },
      lease: { hits: 3 },
      effect: { status: 500 },
    });
    const listRules = async () =>
      (await control("GET", "/faults")).body.items.map(
        ({ id, lease }: { id: string; lease: { hits?: number } | null }) => `${id} ${lease?.hits ?? ""}`,
      );
    const { page } = await openAt("/s/default/faults");
    await see(findStatus(page)).toContainText("2 rules active");
    const before = await listRules();
    await page.getByRole("button", { name: "Disarm all" }).click();
    await see(findStatus(page)).toContainText("No active faults");
    await undo(page).click();
    await see(findStatus(page)).toContainText("2 rules active");
    expect(await listRules()).toEqual(before);
    await api.call("ada", "GET", "/v1/models");
    await page.getByRole("button", { name: "Arm again: older" }).click();
    await see(findConfirmations(page)).toContainText("Armed older again.");
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(503);
    await page.getByRole("searchbox").fill("flaky-uploads");
    await page.getByText("off", { exact: true }).click();
    await see(findStatus(page)).toContainText("1 scenario active");
    await undo(page).click();
    await see(findStatus(page)).not.toContainText("scenario");
  });

  it("leaves ended rules as they are when all rules are armed again [interfaces 6]", async () => {
    for (const id of ["ended", "active"])
      await control("POST", "/faults", {
        id,
        match: { operation: "models.list" },
        times: 1,
        effect: { status: 503 },
      });
    await control("POST", "/faults", { id: "first", match: { path: "/none" }, effect: { status: 503 } });
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(503);
    const { page } = await openAt("/s/default/faults");
    await page.getByRole("button", { name: "Disarm all" }).click();
    await undo(page).click();
    await see(findStatus(page)).toContainText("2 rules active");
    await control("DELETE", "/faults");
    for (const id of ["a", "b"])
      await control("POST", "/faults", { id, lease: { hits: 1 }, effect: { status: 503 } });
    for (let sent = 0; sent < 2; sent++) await api.call("ada", "GET", "/v1/models");
    await see(page.getByText("Ended, 1 hit")).toHaveCount(2);
    await page.getByRole("button", { name: "Disarm all" }).click();
    await see(findConfirmations(page)).toContainText("Removed 2 rules.");
    // Without waiting, since a confirmation disappears by itself.
    expect(await undo(page).count()).toBe(0);
  });

  it("does not stay, and does not take the focus along, after another was dismissed by a key [interfaces 2]", async () => {
    const { page } = await open("?key=apikey_dan");
    const lines = findConfirmations(page).getByRole("button", { name: "Dismiss" });
    await page.clock.install();
    await page.getByRole("button", { name: "Revoke" }).click();
    await lines.press("Enter");
    await see(lines).toHaveCount(0);
    await see(page.locator("#view")).toBeFocused();
    await page.getByRole("button", { name: "Reactivate" }).click();
    await see(lines).toHaveCount(1);
    await page.clock.runFor(15_000);
    await see(lines).toHaveCount(0);
  });

  it("arms a rule again in its place [interfaces 6]", async () => {
    await control("DELETE", "/faults");
    for (const id of ["last", "middle", "first"])
      await control("POST", "/faults", { id, match: { path: "/none" }, effect: { status: 503 } });
    const { page } = await openAt("/s/default/faults");
    await page.getByRole("button", { name: "Disarm middle" }).click();
    await see(findStatus(page)).toContainText("2 rules active");
    await undo(page).click();
    await see(findStatus(page)).toContainText("3 rules active");
    const { items } = (await control("GET", "/faults")).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual(["first", "middle", "last"]);
    await control("DELETE", "/faults");
  });

  it("does not offer to arm a rule again that had ended [interfaces 6]", async () => {
    await control("DELETE", "/faults");
    const effect = { status: 503 };
    await control("POST", "/faults", { id: "spent", match: { operation: "models.list" }, times: 1, effect });
    await api.call("dan", "GET", "/v1/models");
    const { page } = await openAt("/s/default/faults");
    await page.getByRole("button", { name: "Remove spent" }).click();
    await see(findConfirmations(page)).toHaveText("Removed spent.✕");
  });

  it("is undone by Ctrl-Z while the switch that made it still has the focus [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/faults?scenario=flaky-uploads");
    await page.getByRole("switch", { name: "Inactive" }).press("Space");
    await see(findConfirmations(page)).toContainText("Activated flaky-uploads.");
    await page.keyboard.press("Control+z");
    await see(findConfirmations(page)).toContainText("Undone: Activated flaky-uploads.");
  });

  it("shows control characters of a name escaped, also once it is undone [interfaces 2]", async () => {
    await control("PATCH", "/state/departments/dept_ml", { name: "M\u202EL" });
    const { page } = await openAt("/s/default/world?show=departments&department=dept_ml");
    await choose(page, "Parent", /^Operations/);
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await see(findConfirmations(page)).toContainText("Moved M\\u202eL under Operations.");
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("Undone: Moved M\\u202eL under Operations.");
  });

  it("arms all rules again, also if the live stream shows first that they are gone [interfaces 6]", async () => {
    for (const id of ["older", "newer"]) await control("POST", "/faults", { id, effect: { status: 503 } });
    const { page } = await openAt("/s/default/faults");
    await page.route(/\/faults$/, async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      const response = await route.fetch();
      await see(page.getByText("No rules. Create one")).toBeVisible();
      return route.fulfill({ response });
    });
    await page.getByRole("button", { name: "Disarm all" }).click();
    await see(findConfirmations(page)).toContainText("Disarmed 2 rules.");
    await undo(page).click();
    await see(findStatus(page)).toContainText("2 rules active");
  });

  it("moves the clock back, and undoes everything that the advance ran [interfaces 10]", async () => {
    await control("POST", "/faults", { id: "soon", lease: { ttl: "10m" }, effect: { status: 503 } });
    const { page } = await openAt("/s/default/time");
    const { now } = (await control("GET", "/clock")).body;
    await see(findStatus(page)).toContainText(/Clock: frozen, next .+ in \d+ s/);
    await page.getByRole("button", { name: "+6 h" }).click();
    await see(findConfirmations(page)).toContainText("Ran:");
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("Undone:");
    expect((await control("GET", "/clock")).body).toMatchObject({ now, mode: "frozen" });
  });

  it.each([
    ["a request that was tried out", "api?operation=threads.delete&as=apikey_ada", ["Send"]],
    ["a triggered event", "webhooks?show=trigger&event=user.created", ["Trigger event"]],
  ])("takes back %s [interfaces 2]", async (_what, address, buttons) => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [500] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["user.created"] });
    const readCounts = async () => (await control("GET", "")).body.counts;
    const before = await readCounts();
    const { page } = await openAt(`/s/default/${address}`);
    for (const name of buttons) await page.getByRole("button", { name, exact: true }).click();
    await see(undo(page)).toBeVisible();
    expect(await readCounts()).not.toEqual(before);
    await undo(page).press("Enter");
    await see(findConfirmations(page)).toContainText("Undone:");
    expect(await readCounts()).toEqual(before);
  });

  it("says that a rewind has already undone a request, not that the request changed nothing [interfaces 10]", async () => {
    const { page } = await openAt("/s/default/api?operation=threads.delete&as=apikey_ada");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await see(undo(page)).toBeVisible();
    const { entries } = (await control("GET", "/history?limit=500")).body;
    const request = entries.find(({ kind }: { kind: string }) => kind === "request");
    await control("POST", `/history/${request.id}/rewind`, { to: "before" });
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("A rewind has already undone this change.");
  });

  it("takes back a repeated request, and a moved department [interfaces 2]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    const { headers } = await api.call("ada", "POST", path, { new_parent_id: "dept_ops" });
    await control("PATCH", "/state/departments/dept_ml", { parent_id: "dept_acme" });
    const readParent = async () => (await control("GET", "/state/departments/dept_ml")).body.parent_id;
    const { page } = await openAt(`/s/default/timeline?entry=${headers.get("x-request-id")}`);
    await page.getByRole("button", { name: "Repeat" }).click();
    await see(findConfirmations(page)).toContainText("Sent the request again.");
    expect(await readParent()).toBe("dept_ops");
    await undo(page).click();
    await see(findConfirmations(page)).toContainText("Undone: Sent");
    expect(await readParent()).toBe("dept_acme");
    const { page: world } = await openAt("/s/default/world?show=departments&department=dept_ml");
    await choose(world, "Parent", /^Operations/);
    await world.getByRole("button", { name: "Move", exact: true }).click();
    await see(findConfirmations(world)).toContainText("Moved ML under Operations.");
    expect(await readParent()).toBe("dept_ops");
    await undo(world).click();
    await see(findConfirmations(world)).toContainText("Undone: Moved ML under Operations.");
    await see(world.getByRole("status")).toHaveCount(0);
    expect(await readParent()).toBe("dept_acme");
  });

  it("brings back a sandbox that was reset, with its rules and scenarios, also with another seed [interfaces 2]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [500] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("POST", "/clock/advance", { by: "10s" });
    await control("PUT", "/scenarios/active", { names: ["flaky-uploads"] });
    await control("POST", "/faults", { id: "older", times: 2, effect: { status: 503 } });
    await control("POST", "/faults", { id: "newer", lease: { hits: 3 }, effect: { status: 500 } });
    await control("POST", "/faults", { id: "spent", times: 1, effect: { status: 502 } });
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(502);
    const readState = async () => {
      const { counts, clock, scenarios, seed, fixture } = (await control("GET", "")).body;
      const { items } = (await control("GET", "/faults")).body as { items: { id: string; spent: boolean }[] };
      const rules = items.filter(({ spent }) => !spent).map(({ id }) => id);
      const pending = (await control("GET", "/clock/pending")).body;
      const receivers = (await control("GET", "/receivers")).body.total;
      return { counts, now: clock.now, scenarios, seed, fixture, rules, pending, receivers };
    };
    const before = await readState();
    const { page } = await openAt("/s/default/sandboxes?sandbox=default");
    const reset = async (seed: string) => {
      await page.getByRole("button", { name: "Reset …" }).click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Seed" }).fill(seed);
      await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
      await see(page.getByRole("dialog")).toHaveCount(0);
      expect((await readState()).rules).toEqual([]);
      await undo(page).press("Enter");
      await see(findConfirmations(page)).toContainText("Undone: Reset default.");
    };
    await reset("");
    await expect.poll(readState, { timeout: PATIENCE_MS }).toEqual(before);
    await reset("11");
    await expect.poll(readState, { timeout: PATIENCE_MS }).toEqual(before);
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(500);
  });
});
