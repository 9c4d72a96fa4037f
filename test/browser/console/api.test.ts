import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, expectAccessible } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open } = useConsole("api");
beforeEach(() => api.call(undefined, "POST", "/_control/sandboxes/default/reset"));

describe("the console's API", { timeout: 4 * PATIENCE_MS }, () => {
  it("lists every operation and filters them [interfaces 2]", async () => {
    const { page, complaints } = await open("");
    await see(page.getByRole("row", { name: /departments.reparent/ })).toBeVisible();
    const { body } = await api.call(undefined, "GET", "/_control/fidelity");
    await see(page.getByRole("grid")).toHaveAttribute("aria-rowcount", String(body.operations.length + 1));
    await page.getByRole("searchbox", { name: "Filter" }).fill("reparent");
    await see(page.getByRole("grid")).toHaveAttribute("aria-rowcount", "2");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("shows the assumptions of an operation and the settings that change them [interfaces 2]", async () => {
    const { page, complaints } = await open("?operation=store_files.retrieve_status");
    const provenance = page.getByRole("region", { name: "Source" });
    await see(provenance).toContainText("specified");
    await see(provenance).toContainText("G11");
    await see(provenance).toContainText(/Setting processing_seconds: \d+/);
    const errors = page.getByRole("region", { name: "Documented errors" });
    await see(errors).toContainText("AUTHENTICATION_REQUIRED Authentication is required.");
    await see(page.getByRole("region", { name: "Response 200" })).toContainText("progress_percent");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("shows how an operation spells the code of an error [4.7]", async () => {
    const { page } = await open("?operation=threads.delete");
    const errors = page.getByRole("region", { name: "Documented errors" });
    await see(errors.getByRole("row", { name: /RESOURCE_NOT_FOUND/ })).toContainText(
      "Sent as thread_not_found.",
    );
  });

  it("says that a call with a deleted key has no credentials [interfaces 2]", async () => {
    const { page } = await open("?operation=threads.delete&as=apikey_gone");
    await see(page.getByRole("button", { name: /Call as/ })).toContainText("No credentials");
  });

  it("calls an operation as the selected user [interfaces 2]", async () => {
    const { page } = await open("?operation=threads.delete&as=apikey_eve");
    await page.getByRole("textbox", { name: "thread_id" }).fill("thread_welcome");
    await page.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response", exact: true });
    await see(response).toContainText("403");
    await choose(page, "Call as", /^Ada Osei, apikey_ada(?!_)/);
    await page.getByRole("button", { name: "Send" }).click();
    await see(response).toContainText(/20[04]/);
    await see(page.getByRole("textbox", { name: "thread_id" })).toHaveValue("thread_welcome");
    const { body } = await api.call(
      undefined,
      "GET",
      "/_control/sandboxes/default/journal?operation=threads.delete",
    );
    expect(body.entries.map(({ principal }: { principal: string }) => principal)).toEqual([
      "usr_ada",
      "usr_eve",
    ]);
    await expectAccessible(page);
  });

  it("still proposes the other user's values in a form with files after one field was typed [interfaces 2]", async () => {
    const { page } = await open("?operation=images.uncrop&as=apikey_ada");
    const organization = page.getByRole("textbox", { name: "organization_id", exact: true });
    await see(organization).toHaveValue("org_acme");
    const prompt = page.getByRole("textbox", { name: "prompt", exact: true });
    await prompt.fill("more sky");
    await choose(page, "Call as", /^Eve/);
    await see(organization).toHaveValue("org_globex");
    await see(prompt).toHaveValue("more sky");
  });

  it("disables the fields until their values have arrived, so that none overwrites the user's input [interfaces 2]", async () => {
    const { page } = await open("");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/state\/threads\b/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${api.url}/_console/s/default/api?operation=threads.delete&as=apikey_ada`);
    const field = page.getByRole("textbox", { name: "thread_id" });
    await see(field).toBeDisabled();
    release();
    await see(field).toBeEnabled();
    await see(field).toHaveValue(/^thread_/);
  });

  it("says that a part of the path is missing, and sends nothing [interfaces 2]", async () => {
    const { page } = await open("?operation=threads.delete");
    const id = page.getByRole("textbox", { name: "thread_id" });
    await see(id).toHaveValue(/^thread_/);
    await id.fill("");
    await page.getByRole("button", { name: "Send" }).click();
    await see(id).toHaveAccessibleDescription(/thread_id is missing in the path. Nothing was sent./);
    await see(page.getByRole("region", { name: "Response", exact: true })).toHaveCount(0);
    await id.fill("thread_none");
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("404");
  });

  it("prefills a working body and ids of existing records [interfaces 2]", async () => {
    const { page, complaints } = await open("?operation=model_responses.create");
    await see(page.getByRole("textbox", { name: "Body" })).toHaveValue(/"inputs"/);
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("200");
    await page.goto(`${api.url}/_console/s/default/api?operation=assistants.list_history`);
    await see(page.getByRole("textbox", { name: "assistant_id" })).toHaveValue(/^asst_/);
    await page.getByRole("button", { name: "Send" }).click();
    await see(page.getByRole("region", { name: "Response", exact: true })).toContainText("200");
    expect(complaints).toEqual([]);
  });
});
