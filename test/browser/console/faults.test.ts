import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Route } from "@playwright/test";
import { afterAll, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { runCommand } from "../../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "console-faults-"));
const { api, open, control } = useConsole("faults", { scenariosFolder: folder });
afterAll(() => rmSync(folder, { recursive: true }));

describe("the console's faults", { timeout: 4 * PATIENCE_MS }, () => {
  it("refuses a rule for an operation that does not exist [interfaces 6]", async () => {
    const { page } = await open("?compose=no.such");
    await see(page.getByText("There is no operation no.such. Select one.")).toBeVisible();
    await page.getByRole("button", { name: "Arm rule" }).press("Enter");
    await see(page.getByText(/The first call of no.such/)).toHaveCount(0);
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/faults");
    expect(body.items).toEqual([]);
  });

  it("creates a rule from selections, which applies and counts its hits [interfaces 3]", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "New rule" }).click();
    const pane = page.getByRole("region", { name: "New rule" });
    await choose(page, "Operation", "threads.delete");
    await choose(page, "Called by", /usr_dan/);
    await choose(page, "Response", /^404 RESOURCE_NOT_FOUND/);
    await choose(page, "Frequency", "The first 2 calls");
    await choose(page, "Ends", /^After 10 minutes/);
    await see(pane).toContainText("The first 2 calls of threads.delete by usr_dan: RESOURCE_NOT_FOUND.");
    await see(page).toHaveURL(/compose=threads\.delete/);
    await expectAccessible(page);
    await pane.getByRole("button", { name: "Arm rule" }).click();
    const armed = page.getByRole("region", { name: "Rules", exact: true }).getByRole("listitem");
    await see(armed).toContainText("no hits");
    await see(armed).toContainText(/expires in \d+ min/);
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_dan")).status).toBe(404);
    expect((await api.call("ada", "DELETE", "/v1/threads/thread_none")).status).toBe(404);
    await see(armed).toContainText("1 hit");
    await api.call("dan", "DELETE", "/v1/threads/thread_dan");
    await see(armed).toContainText("Ended, 2 hits");
    await armed.getByRole("button", { name: /Remove/ }).click();
    await see(page.getByText("No rules.")).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("opens a pane at its top on a phone, also if the page was scrolled [interfaces 2]", async () => {
    for (let count = 0; count < 4; count += 1) await control("POST", "/faults", { effect: { status: 503 } });
    const { page } = await open("", { width: 360, height: 740 });
    const row = page.getByRole("row", { name: /assistants-list-history-forbidden/ });
    await see(row).toBeAttached();
    await page.evaluate('document.getElementById("view").scrollTop = 10_000');
    await row.getByRole("gridcell", { name: /^assistants/ }).click();
    await see(page.getByRole("heading", { name: "assistants-list-history-forbidden" })).toBeInViewport();
    await control("DELETE", "/faults");
  });

  it("explains a call without making it, and updates when a rule is armed [interfaces 11]", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "Explain a call" }).click();
    await choose(page, "Operation", "threads.delete");
    await choose(page, "Called by", /usr_ada\b/);
    await page.getByRole("textbox", { name: "thread_id" }).fill("thread_ada");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    const explanation = page.getByRole("region", { name: "Explanation" });
    await see(explanation).toContainText("usr_ada would get 200.");
    await expectAccessible(page);
    await api.call(undefined, "POST", "/_control/sandboxes/default/faults", {
      match: { operation: "threads.delete" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    await see(explanation).toContainText(/usr_ada would get 429 rate_limit_exceeded \(rule fault_/);
    await see(explanation.getByRole("list", { name: "Rules" }).getByRole("listitem").first()).toContainText(
      "applies",
    );
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/faults");
    expect(body.items.map(({ hits }: { hits: number }) => hits)).toEqual([0]);
    expect(
      (await api.call(undefined, "GET", "/_control/sandboxes/default/state/threads/thread_ada")).status,
    ).toBe(200);
    await page.getByRole("textbox", { name: "thread_id" }).fill("");
    await choose(page, "Called by", /^No credentials/);
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await see(explanation).toContainText(/An anonymous caller would get \d+/);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await api.call(undefined, "DELETE", "/_control/sandboxes/default/faults");
    await choose(page, "Called by", /usr_finn/);
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await see(explanation).toContainText("usr_finn would get 401");
    expect(complaints).toEqual([]);
  });

  it("removes an explanation once another call is selected [interfaces 11]", async () => {
    const { page } = await open("?explain=models.list");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    const explanation = page.getByRole("region", { name: "Explanation" });
    await see(explanation).toBeVisible();
    await choose(page, "Operation", "threads.delete");
    await see(explanation).toHaveCount(0);
  });

  it("explains a call with a body only for operations that take one [interfaces 11]", async () => {
    const { page } = await open("?explain=webhooks.create&by=usr_ada");
    const body = page.getByRole("textbox", { name: "Body as JSON" });
    await body.fill("{not JSON");
    await choose(page, "Operation", "threads.delete");
    await see(page.getByRole("textbox", { name: "thread_id" })).toBeVisible();
    await see(body).toHaveCount(0);
    await page.getByRole("textbox", { name: "thread_id" }).fill("thread_ada");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await see(page.getByRole("region", { name: "Explanation" })).toContainText("usr_ada would get 200.");
  });

  it("offers the documented codes of the selected operations, and keeps the input [interfaces 3]", async () => {
    const { page } = await open("?compose=models.list");
    await choose(page, "Frequency", "Every third call");
    await page.getByRole("button", { name: "Response" }).click();
    await see(page.getByRole("option", { name: /^401 / })).toHaveCount(1);
    await see(page.getByRole("option", { name: /^404 / })).toHaveCount(0);
    await page.keyboard.press("Escape");
    await choose(page, "Response", /^Real response/);
    const arm = page.getByRole("button", { name: "Arm rule" });
    await arm.click();
    await see(page.getByText("Select a response or a delay.")).toBeVisible();
    await choose(page, "Delay", "200 ms");
    await see(page.getByText("Every 3rd call of models.list: delayed by 200ms.")).toBeVisible();
  });

  it("switches a scenario without switching off those of other clients [interfaces 3]", async () => {
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
    // The switch changes before the server has activated the scenario.
    await expect.poll(async () => (await api.call("dan", "GET", "/v1/models")).status).toBe(429);
    await see(row).toContainText("1");
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default");
    expect(body).toMatchObject({ scenarios: ["slow-network", "models-list-rate-limited"] });
    await page.getByText("models-list-rate-limited", { exact: true }).click();
    await see(page.getByRole("region", { name: "Scenario models-list-rate-limited" })).toContainText(
      "Active",
    );
    await expectAccessible(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Deactivate all" }).click();
    await see(row.getByRole("switch")).not.toBeChecked();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it("activates both of two scenarios whose switches are clicked in quick succession [interfaces 3]", async () => {
    const { page } = await open("?find=models-list");
    const held: Route[] = [];
    let isHeld = true;
    await page.route("**/scenarios/active", (route) => (isHeld ? void held.push(route) : route.continue()));
    const names = ["models-list-rate-limited", "models-list-signed-out"];
    const findSwitch = (name: string) => page.getByRole("row", { name }).getByRole("switch");
    for (const name of names) await findSwitch(name).press("Space");
    for (const name of names) await see(findSwitch(name)).toBeChecked();
    isHeld = false;
    for (const route of held) await route.continue();
    await expect.poll(async () => (await control("GET", "")).body.scenarios).toEqual(names);
    for (const name of names) await see(findSwitch(name)).toBeChecked();
    await control("PUT", "/scenarios/active", { names: [] });
  });

  it("lists the active scenarios first at the first click on Active [interfaces 3]", async () => {
    await control("PUT", "/scenarios/active", { names: ["webhooks-create-rate-limited"] });
    const { page } = await open();
    const grid = page.getByRole("grid", { name: "Scenarios" });
    await grid.getByRole("columnheader", { name: "Active" }).getByRole("button").click();
    await see(grid.getByRole("row").nth(1)).toContainText("webhooks-create-rate-limited");
    await control("PUT", "/scenarios/active", { names: [] });
  });

  it("says why a scenario file is invalid [interfaces 3]", async () => {
    const file = join(folder, "mine.yaml");
    writeFileSync(file, "rules:\n  - match: { operation: models.list }\n    effect: { status: 503 }\n");
    const { page } = await open();
    await page.getByRole("button", { name: /^Custom/ }).click();
    const row = page.getByRole("row", { name: /mine/ });
    await see(row).toBeVisible();
    await row.getByRole("switch").press("Space");
    await see(row.getByRole("switch")).toBeChecked();
    await see(page.getByRole("button", { name: "Deactivate all" })).toBeVisible();
    writeFileSync(file, "rules:\n  - match: { operation: model.list }\n    effect: { status: 503 }\n");
    // A started server does this by itself when a file changes.
    api.understudy.scenarios.refresh(file);
    await see(row).toContainText("invalid file");
    await row.click();
    await see(page.getByRole("region", { name: "Scenario mine" }).getByText("did you mean")).toBeVisible();
  });

  it("describes each expectation of a scenario, and says that a derived one has no file [interfaces 6]", async () => {
    const expectations = [
      { match: { operation: "threads.delete" }, count: 0 },
      { match: { status: 503 }, count: { min: 2 } },
      { sequence: [{ method: "GET" }, { method: "POST" }] },
      { client: ["bounded-retries"] },
    ];
    const rule = { match: { operation: "models.list" }, effect: { status: 503 } };
    const file = join(folder, "expecting.yaml");
    writeFileSync(file, JSON.stringify({ rules: [rule], expect: expectations }));
    api.understudy.scenarios.refresh(file);
    const { page } = await open("?scenario=expecting");
    const pane = page.getByRole("region", { name: "Scenario expecting" });
    await see(pane).toContainText('No request may match {"operation":"threads.delete"}.');
    await see(pane).toContainText('At least 2 requests must match {"status":503}.');
    await see(pane).toContainText('Requests must match, in this order: {"method":"GET"}, {"method":"POST"}.');
    await see(pane).toContainText("The requests must pass these checks of the client test: bounded-retries.");
    await expectToFit(page);
    await page.goto(page.url().replace("expecting", "models-list-rate-limited"));
    await see(
      page.getByText("Derived from the operation’s documented errors, without a file."),
    ).toBeVisible();
  });

  it("edits an armed rule in its place, by keyboard, and undoes the edit [interfaces 3]", async () => {
    await control("DELETE", "/faults");
    const effect = { error: "RATE_LIMIT_EXCEEDED" };
    await control("POST", "/faults", { id: "older", match: { operation: "models.list" }, times: 2, effect });
    await control("POST", "/faults", { id: "newer", match: { operation: "threads.delete" }, effect });
    await api.call("dan", "GET", "/v1/models");
    const { page, complaints } = await open();
    const rules = page.getByRole("region", { name: "Rules", exact: true }).getByRole("listitem");
    await see(rules.nth(1)).toContainText("1 hit");
    await page.getByRole("button", { name: "Edit older" }).press("Enter");
    const pane = page.getByRole("region", { name: "Edit rule" });
    await see(pane).toContainText("The first 2 calls of models.list: RATE_LIMIT_EXCEEDED");
    await choose(page, "Frequency", "The first 3 calls");
    await pane.getByRole("textbox", { name: "Description" }).fill("Three refusals");
    await expectAccessible(page);
    await pane.getByRole("textbox", { name: "Description" }).press("Enter");
    await see(rules.nth(1)).toContainText("Three refusals older");
    await see(rules.nth(1)).toContainText("no hits");
    await see(rules.first()).toContainText("newer");
    expect((await control("GET", "/faults")).body.items[1]).toMatchObject({ id: "older", times: 3, effect });
    await page.getByRole("button", { name: "Undo" }).click();
    await see(rules.nth(1)).toContainText("The first 2 calls of models.list");
    expect(complaints).toEqual([]);
  });

  it("edits a rule that the form cannot show as JSON, and keeps it if the new one is wrong [interfaces 3]", async () => {
    await control("DELETE", "/faults");
    const match = { path: "/v1/models", header: { "x-app": "a" } };
    await control("POST", "/faults", { id: "own", match, effect: { status: 503 } });
    const { page } = await open("?edit=own");
    const field = page.getByRole("textbox", { name: "Rule as JSON" });
    const written = JSON.parse(await field.inputValue());
    expect(written).toEqual({ id: "own", match, effect: { status: 503 } });
    await field.fill("{");
    await page.getByRole("button", { name: "Save rule" }).click();
    await see(page.getByText("This field is not valid JSON. Nothing was sent.")).toBeVisible();
    await field.fill(JSON.stringify({ ...written, effect: { error: "NO_SUCH" } }));
    await page.getByRole("button", { name: "Save rule" }).click();
    await see(page.getByRole("region", { name: "Edit rule" })).toContainText("NO_SUCH");
    expect((await control("GET", "/faults/own")).body.effect).toEqual({ status: 503 });
    await field.fill(JSON.stringify({ ...written, effect: { status: 500 } }));
    await page.getByRole("button", { name: "Save rule" }).click();
    await see(field).toHaveCount(0);
    expect((await control("GET", "/faults/own")).body.effect).toEqual({ status: 500 });
  });

  it.each([
    ["Description", { match: { operation: "models.list" }, times: 2, effect: { status: 503 } }, "Mine"],
    [
      "Rule as JSON",
      { match: { path: "/v1/models" }, effect: { status: 503 } },
      '{"description": "Mine", "effect": {"status": 500}}',
    ],
  ])(
    "keeps the input of %s when its rule is disarmed elsewhere, and arms it again [interfaces 3]",
    async (name, rule, text) => {
      await control("DELETE", "/faults");
      await control("POST", "/faults", { id: "mine", ...rule });
      const { page, complaints } = await open("?edit=mine");
      const field = page.getByRole("textbox", { name });
      await field.fill(text);
      await control("DELETE", "/faults/mine");
      await see(page.getByRole("region", { name: "Edit rule" }).getByRole("alert")).toHaveText(
        "This rule was disarmed. “Arm again” arms it with your changes.",
      );
      await see(field).toHaveValue(text);
      await page.getByRole("button", { name: "Arm again" }).click();
      await see(field).toHaveCount(0);
      const { items } = (await control("GET", "/faults")).body;
      expect(items).toMatchObject([{ id: "mine", description: "Mine" }]);
      await page.getByRole("button", { name: "Undo" }).click();
      await see(page.getByText("No rules.")).toBeVisible();
      expect(complaints).toEqual([]);
    },
  );

  it("saves the armed rules as a file that `scenario check` and a server accept [interfaces 6]", async () => {
    await control("DELETE", "/faults");
    const rules = [
      {
        id: "fault_1",
        description: "On: 'no', then \"yes\": #1 {x}",
        match: {
          path: "/v1/models/**",
          header: { "x-app": "true" },
          body: { tags: ["a", 1, null], empty: {} },
        },
        sequence: [503, "RATE_LIMIT_EXCEEDED", "pass"],
        phase: "after",
        effect: { delay: { p50: "300ms", p99: "2s" } },
        lease: { ttl: "10m", hits: 5 },
      },
      { id: "on", match: { operation: "*" }, probability: 0.25, effect: { hold: { timeout: "1m" } } },
    ];
    for (const rule of rules.toReversed())
      expect(await control("POST", "/faults", rule)).toMatchObject({ status: 201 });
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "Save as scenario …" }).press("Enter");
    const dialog = page.getByRole("dialog");
    // The server refuses a file with this name.
    await dialog.getByRole("textbox", { name: "Name" }).fill("From console");
    await see(dialog.getByRole("button", { name: "Download" })).toBeDisabled();
    await dialog.getByRole("textbox", { name: "Name" }).fill("from-console");
    await see(dialog).toContainText("name: from-console");
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download" }).press("Enter"),
    ]);
    expect(download.suggestedFilename()).toBe("from-console.yaml");
    const file = join(folder, "from-console.yaml");
    await download.saveAs(file);
    const checked = await runCommand(["scenario", "check", file]);
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: "" });
    api.understudy.scenarios.refresh(file);
    await control("DELETE", "/faults");
    const { body } = await control("PUT", "/scenarios/active", { names: ["from-console"] });
    const [scenario] = body.items.filter(({ name }: { name: string }) => name === "from-console");
    const written = scenario.rules.map(({ hits, spent, lease, ...rule }: Record<string, unknown>) => rule);
    expect(written).toEqual(rules.map(({ lease, ...rule }) => rule));
    await control("PUT", "/scenarios/active", { names: [] });
    expect(complaints).toEqual([]);
  });

  it("shows the stage that a scenario is in, and what ends it [interfaces 21]", async () => {
    await control("PUT", "/scenarios/active", { names: ["outage-mid-run"] });
    const { page } = await open("?scenario=outage-mid-run");
    const stages = page.getByRole("list", { name: "Stages" }).locator("> li");
    await see(stages).toHaveCount(3);
    await see(stages.nth(0)).toHaveAttribute("aria-current", "step");
    await see(stages.nth(0)).toContainText(/ends after \d+ requests; began .*, 0 requests so far/);
    await see(stages.nth(1)).toContainText("waiting");
    await see(page.getByRole("list", { name: "Expected in stage “outage”" })).toContainText(
      "The requests must pass these checks of the client test: honours-retry-after, bounded-retries.",
    );
    await see(page.getByRole("list", { name: "Expected in stage “recovery”" })).toContainText(
      'It works again. At least 1 request must match {"status":"2xx"}.',
    );
    const { body } = await control("GET", "/scenarios");
    const { until } = body.items.find(({ name }: { name: string }) => name === "outage-mid-run").stages[0];
    for (let n = 0; n < until.requests; n += 1) await api.call("dan", "GET", "/v1/models");
    await see(stages.nth(1)).toHaveAttribute("aria-current", "step");
    await see(stages.nth(0)).toContainText(`ended`);
    await see(stages.nth(0)).toContainText(`after ${until.requests} requests`);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await control("PUT", "/scenarios/active", { names: [] });
    await see(stages.nth(0)).not.toHaveAttribute("aria-current");
  });
});
