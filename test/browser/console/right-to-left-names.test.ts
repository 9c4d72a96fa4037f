import type { Page } from "@playwright/test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { waitUntilLoaded } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { api, walkTo, control } = useConsole("timeline");

/** A name with a right-to-left override. Its words contain only z and q, so that they are not searched. */
const NAME = "Zqz\u202Ezq";
const ID = "box\u202Ezq";

const BOXES = {
  openapi: "3.1.0",
  info: { title: NAME, version: "1" },
  "x-understudy": {
    collections: { boxes: { schema: "#/components/schemas/Box", id: "slug" } },
    operations: { listBoxes: { list: "boxes" } },
  },
  paths: {
    "/v2/boxes": {
      get: {
        operationId: "listBoxes",
        summary: NAME,
        responses: {
          "200": {
            description: NAME,
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Box" } } },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Box: {
        type: "object",
        required: ["slug"],
        properties: { slug: { type: "string", description: NAME } },
      },
    },
  },
};

let warnedRequest: string;

beforeAll(async () => {
  for (const [collection, id] of [
    ["departments", "dept_ml"],
    ["organizations", "org_acme"],
    ["users", "usr_dan"],
    ["api_keys", "apikey_dan"],
    ["files", "file_policy"],
  ])
    await control("PATCH", `/state/${collection}/${id}`, { name: NAME });
  await control("PUT", "/operations", { openapi: JSON.stringify(BOXES) });
  await control("POST", "/state/boxes", { slug: ID });
  await control("POST", "/snapshots", { name: "before" });
  await control("DELETE", `/state/boxes/${encodeURIComponent(ID)}`);
  await control("POST", "/state/boxes", { slug: `other ${ID}` });
  await control("POST", "/faults", {
    description: NAME,
    match: { operation: "models.list" },
    effect: { status: 503 },
  });
  await control("POST", "/faults", {
    match: { operation: "models.list", query: { find: NAME } },
    effect: { status: 503 },
  });
  const { headers } = await api.call(
    "dan",
    "GET",
    `/v1/analytics/usage/limits/org_acme?${encodeURIComponent(NAME)}=1`,
  );
  warnedRequest = headers.get("x-request-id")!;
});

/** Texts of the page with words that are displayed from right to left, except those of z and q. */
const listTurned = (page: Page) =>
  page.evaluate(`(() => {
  const turned = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const measure = (at) => {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect();
    };
    for (const { 0: word, index } of node.data.matchAll(/[a-z0-9]{2,}/gi)) {
      if (/^[zq]+$/i.test(word)) continue;
      const [first, last] = [measure(index), measure(index + word.length - 1)];
      if (first.width > 0 && first.top === last.top && first.left > last.left) turned.push(node.data);
    }
  }
  return turned;
})()`);

const expectNoneTurned = async (page: Page) => expect.poll(() => listTurned(page)).toEqual([]);

describe("a name with a right-to-left override", { timeout: 6 * PATIENCE_MS }, () => {
  it.each([
    ["timeline", "boxes"],
    ["timeline?entry=1", "boxes"],
    ["faults", "Zqz"],
    ["faults?find=listBoxes", "because the service"],
    ["faults?scenario=listBoxes-invalid-input", "because the service"],
    ["time?changes=all", "boxes"],
    ["world?collection=boxes", "box"],
    ["world?collection=users&record=usr_dan", "Zqz"],
    ["world?collection=users&record=%E2%80%AEqz", "It may have been deleted"],
    ["world?show=departments&department=dept_ml", "Zqz"],
    ["world?show=usage", "Zqz"],
    ["world?show=compare&from=before&to=now", "box"],
    ["api?operation=listBoxes", "Zqz"],
    ["coverage?operation=listBoxes", "listBoxes"],
    ["keys?key=apikey_dan", "Zqz"],
    ["keys?make=key", "Zqz"],
    ["sandboxes?make=sandbox", "Zqz"],
  ])("does not turn the text around it in %s", async (part, text) => {
    const { page } = await walkTo(`/s/default/${part}`);
    await waitUntilLoaded(page);
    await see(page.getByText(text).first()).toBeAttached();
    await expectNoneTurned(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoneTurned(page);
  });

  it("does not turn the warnings of a request", async () => {
    const { page } = await walkTo(`/s/default/timeline?entry=${warnedRequest}`);
    await see(page.getByText(/^unknown query parameter/)).toBeVisible();
    await expectNoneTurned(page);
  });

  it("does not turn questions, confirmations and errors", async () => {
    const { page } = await walkTo("/s/default/keys?key=apikey_dan");
    await page.getByRole("button", { name: "Delete …" }).click();
    await see(page.getByRole("dialog")).toContainText("Zqz\\u202ezq?");
    await expectNoneTurned(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Revoke" }).click();
    await see(page.getByRole("region", { name: "Confirmations" })).toContainText("Revoked “Zqz\\u202ezq”.");
    await expectNoneTurned(page);
    await walkTo("/s/default/world?show=departments&department=dept_ml");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await see(page.getByText(/^Moved/).first()).toBeVisible();
    await expectNoneTurned(page);
    await walkTo("/s/default/timeline");
    await page.getByRole("row", { name: /boxes/ }).first().click();
    await page.getByRole("button", { name: "Rewind to before this" }).click();
    await see(page.getByRole("dialog")).toContainText("box\\u202ezq");
    await expectNoneTurned(page);
  });
});
