import { beforeAll, describe, expect, it, vi } from "vitest";
import { expectToFit, waitUntilLoaded } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, openAt, control } = useConsole("timeline");
const NARROW = { width: 360, height: 740 };
const WORD = "x".repeat(200);
const SENTENCE = "A name of many words ".repeat(10);

beforeAll(async () => {
  await control("PATCH", "/state/organizations/org_acme", { name: SENTENCE });
  await control("PATCH", "/state/users/usr_ada", { name: SENTENCE });
});

describe("a text of 200 characters in the console", { timeout: 4 * PATIENCE_MS }, () => {
  it("does not widen the selects of the departments", async () => {
    const { page } = await openAt("/s/default/world?show=departments", NARROW);
    const select = page.getByRole("button", { name: /Organization/ });
    await see(select).toContainText("A name of many words");
    await waitUntilLoaded(page);
    await expectToFit(page);
    expect((await select.boundingBox())!.width).toBeLessThan(NARROW.width);
  });

  it("wraps in a pane, also without spaces", async () => {
    const openapi = JSON.stringify({
      openapi: "3.1.0",
      info: { title: "Boxes", version: "1" },
      "x-understudy": {
        collections: { boxes: { schema: "#/components/schemas/Box" } },
        operations: { createBox: { create: "boxes" } },
      },
      paths: {
        "/v2/boxes": { post: { operationId: "createBox", responses: { "201": { description: "Box" } } } },
      },
      components: {
        schemas: { Box: { type: "object", properties: { id: { type: "string", description: WORD } } } },
      },
    });
    await control("PUT", "/operations", { openapi });
    const { page } = await openAt("/s/default/world?collection=boxes&record=%2B", NARROW);
    const pane = page.getByRole("region", { name: "New record" });
    await see(pane.getByText(WORD)).toBeVisible();
    await expectToFit(page);
    const body = pane.locator(".detail-body");
    expect(await body.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  });

  it.each([900, 1440])("leaves room for the code of an error at %i px", async (width) => {
    await api.call("ada", "GET", "/v1/nowhere");
    const { page } = await openAt("/s/default/timeline", { width });
    const row = page.getByRole("row", { name: /404 GET.*nowhere/ }).first();
    const code = row.getByText("RESOURCE_NOT_FOUND");
    await see(code).toBeVisible();
    expect(await code.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0);
  });

  it("does not make a long path's row or pane unreadable", async () => {
    await api.call("ada", "GET", `/v1/models?find=${WORD}`);
    await api.call("ada", "GET", `/v1/${WORD.repeat(10)}`);
    const { page } = await openAt("/s/default/timeline");
    const row = page.getByRole("row", { name: /find=/ });
    await see(row).toBeVisible();
    expect(await row.locator(".path-end").evaluate((path) => path.scrollWidth - path.clientWidth)).toBe(0);
    await page.getByRole("row", { name: /404 GET.*xxx/ }).click();
    await page.setViewportSize(NARROW);
    await see(page.getByText("No operation matches this method and path.")).toBeInViewport();
  });
});
