import { request } from "node:http";
import type { Page } from "@playwright/test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { JournalEntry } from "../../../types/control-api.ts";
import { choose, expectAccessible, expectToFit, waitForLive } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { KEYS, startReference } from "../../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The page applies entries in batches of this interval. */
const BATCH_MS = 150;
const { api, open, openAt, control } = useConsole("timeline");
beforeEach(async () => {
  await control("POST", "/reset");
  await api.call(undefined, "DELETE", "/_control/sandboxes/what-if");
});

const findRow = (page: Page, name: RegExp) => page.getByRole("row", { name });
const detail = (page: Page) => page.getByRole("region", { name: /^Entry / });

describe("the timeline", { timeout: 4 * PATIENCE_MS }, () => {
  it("shows effects below their cause, from the request to the last retry [interfaces 10]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [500, 200] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    const { page, complaints } = await open();
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await see(findRow(page, /500: thread.deleted, first attempt/)).toBeVisible();
    // Each row shows its duration, and no row is selected.
    await see(findRow(page, /DELETE \/v1\/threads\/thread_ada/)).toContainText(/usr_ada\d+ ms\d\d:/);
    await see(findRow(page, /500: thread.deleted/)).toContainText(/\+1 delivery, ~1 webhook\d+ ms\d\d:/);
    await see(page.getByRole("row", { selected: true })).toHaveCount(0);
    await control("POST", "/clock/advance", { by: "1h" });
    const retry = findRow(page, /200: thread.deleted, retry/);
    await see(retry).toBeVisible();
    const levels = await page.evaluate(
      "[...document.querySelectorAll('[role=row]')].map((row) => row.ariaLevel)",
    );
    // The request, its attempt, the retry.
    const at = await findRow(page, /DELETE \/v1\/threads\/thread_ada/).getAttribute("aria-rowindex");
    expect((levels as string[]).slice(Number(at) - 1, Number(at) + 2)).toEqual(["1", "2", "3"]);
    await retry.click();
    await see(detail(page)).toContainText("Caused by");
    await detail(page)
      .getByRole("link", { name: /DELETE/ })
      .click();
    await see(detail(page)).toContainText("threads.delete succeeded for usr_ada.");
    await see(detail(page)).toContainText(/Caused(?! by)/);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("keeps its keys after a click on the text of a row [interfaces 10]", async () => {
    for (const path of ["/v1/models", "/v2/models"]) await api.call("dan", "GET", path);
    const { page } = await open();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByText("/v2/models").click();
      await see(detail(page)).toContainText("models.list_v2");
      await page.keyboard.press("Escape");
      await see(detail(page)).toHaveCount(0);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await see(detail(page).locator("code").first()).toHaveText("models.list");
      await page.keyboard.press("Escape");
    }
    expect(await page.evaluate("document.activeElement.role")).toBe("treegrid");
  });

  it("explains a failed call with request and response, without secrets [interfaces 10]", async () => {
    await api.call("cleo", "POST", "/v1/organizations/org_acme/departments/dept_none/reparent", {
      parent_id: "dept_none",
    });
    const { page, complaints } = await open();
    await findRow(page, /reparent/).click();
    await see(detail(page).getByRole("region", { name: "Why" })).not.toBeEmpty();
    await see(detail(page)).toContainText("departments.reparent");
    await see(detail(page).getByRole("region", { name: "Request" })).toContainText("dept_none");
    await detail(page).getByText("headers").first().click();
    await see(detail(page)).not.toContainText(KEYS.cleo);
    // The address restores the selection.
    await page.reload();
    await see(detail(page)).toContainText("departments.reparent");
    await page.keyboard.press("Tab");
    await detail(page).getByRole("button", { name: "Close" }).press("Escape");
    await see(detail(page)).toHaveCount(0);
    expect(complaints).toEqual([]);
  });

  it("shows the code that the client got, and the one for rules, and finds both [4.7]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const { page } = await open("?find=code:thread_not_found");
    await see(findRow(page, /thread_none/)).toContainText("thread_not_found");
    await page.getByRole("searchbox", { name: "Filter the timeline" }).fill("code:RESOURCE_NOT_FOUND");
    await findRow(page, /thread_none/).click();
    await see(detail(page).locator(".badge").first()).toHaveText("404 thread_not_found");
    await see(detail(page)).toContainText("code in fault rules: RESOURCE_NOT_FOUND");
    await page.getByRole("searchbox", { name: "Filter the timeline" }).fill("");
    await api.call("dan", "GET", "/v2/none");
    await findRow(page, /none$|v2.none/)
      .first()
      .click();
    await see(detail(page).locator(".badge").first()).toHaveText("404 RESOURCE_NOT_FOUND");
    await see(detail(page)).not.toContainText("in fault rules");
  });

  it("says what an armed rule does [interfaces 6]", async () => {
    await control("POST", "/faults", {
      id: "busy",
      match: { operation: "models.list" },
      effect: { status: 503 },
    });
    const { page } = await open();
    await findRow(page, /The rule busy was armed/).click();
    await see(detail(page).getByRole("region", { name: "Rule" })).toContainText(
      "All calls of models.list: 503.",
    );
    await control("DELETE", "/faults");
  });

  it("rewinds to before a mistake and marks undone entries [interfaces 10]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page, complaints } = await open();
    await findRow(page, /DELETE/).click();
    const changes = detail(page).getByRole("region", { name: "Changes" });
    await see(changes).toContainText("thread_ada");
    await detail(page).getByRole("button", { name: "Rewind to before this" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await see(page.getByRole("dialog")).toHaveCount(0);
    expect((await control("GET", "/state/threads/thread_ada")).status).toBe(200);
    await see(findRow(page, /DELETE.*undone/)).toBeVisible();
    const rewind = findRow(page, /rewind.*Rewound to before “DELETE \/v1\/threads\/thread_ada”/);
    await rewind.click();
    await detail(page).getByRole("button", { name: "Undo rewind" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await see(page.getByRole("dialog")).toHaveCount(0);
    expect((await control("GET", "/state/threads/thread_ada")).status).toBe(404);
    await see(findRow(page, /200 DELETE.*undone/)).toHaveCount(0);
    await see(findRow(page, /DELETE \/v1\/threads/).first()).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("shows a line with a path for each changed value of objects and lists, not JSON [interfaces 10]", async () => {
    await control("PATCH", "/state/users/usr_ben", {
      memberships: { org_acme: "owner", org_globex: "member" },
      capabilities: { org_acme: ["report-create", "report-read"] },
    });
    const { id } = (await control("GET", "/state/messages?limit=1")).body.items[0];
    await control("PATCH", `/state/messages/${id}`, { content: [{ type: "text", text: "Hello" }] });
    await control("PATCH", `/state/messages/${id}`, { content: [{ type: "text", text: "Bye" }] });
    const { page } = await open();
    await findRow(page, /usr_ben of users was changed/).click();
    const lines = detail(page).getByRole("region", { name: "users" }).locator("tbody tr");
    await see(lines).toHaveText([
      "memberships.org_acmeadminowner",
      "memberships.org_globex(none)member",
      "capabilities.org_acme(none)report-create, report-read",
    ]);
    await findRow(page, /msg_\S+ of messages was changed/)
      .first()
      .click();
    await see(detail(page).locator("tbody tr")).toHaveText(["content[0].textHelloBye"]);
  });

  it("shortens long values of a change until all is asked for [interfaces 10]", async () => {
    await control("PATCH", "/state/threads/thread_ada", { title: `${"word ".repeat(80)}end` });
    const { page } = await open();
    await findRow(page, /thread_ada of threads was changed/).click();
    const title = detail(page).getByRole("row", { name: /^title/ });
    await see(title).toContainText("word…");
    await detail(page).getByRole("button", { name: "Show all" }).press("Enter");
    await see(title).toContainText("word end");
    await detail(page).getByRole("button", { name: "Show less" }).press("Enter");
    await see(title).not.toContainText("end");
  });

  it("shows the attempts of a changed delivery as sentences, not as JSON [interfaces 10]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [500, 200] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page } = await open();
    await see(findRow(page, /500: thread.deleted, first attempt/)).toBeVisible();
    await control("POST", "/clock/advance", { by: "1m" });
    await findRow(page, /200: thread.deleted, retry/).click();
    const log = detail(page).getByRole("row", { name: /^attempt_log/ });
    await see(log).toContainText(/first: returned 500 in \d+ ms\s+retry: returned 200 in \d+ ms/);
    await see(log).not.toContainText("{");
  });

  it("shows the restore of a snapshot whose name is that of an entry as a restore [interfaces 10]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("POST", "/snapshots", { name: "h_1" });
    await control("POST", "/snapshots/h_1/restore");
    const { page } = await open();
    await findRow(page, /restore.*The snapshot h_1 was restored/).click();
    await see(detail(page).getByRole("button", { name: "Undo restore" })).toBeVisible();
    await page.goto(`${api.url}/_console/s/default/time?changes=all`);
    await see(page.getByText("The snapshot h_1 was restored.")).toBeVisible();
    await control("DELETE", "/snapshots/h_1");
  });

  it("titles a fault after the change by the code that the client got [interfaces 10]", async () => {
    await control("POST", "/faults", {
      match: { operation: "threads.delete" },
      phase: "after",
      effect: { error: "RESOURCE_NOT_FOUND" },
    });
    const { body } = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { entries } = (await control("GET", "/history?kind=request")).body;
    expect(entries[0].title).toMatch(`it was done, but answered 404 ${body.error.code}.`);
    expect(body.error.code).toBe("thread_not_found");
    await control("DELETE", "/faults");
  });

  it("keeps the last time of the strip off the right edge [interfaces 10]", async () => {
    await control("PUT", "/clock", { mode: "frozen" });
    for (const by of [250, 850, 950, 850, 1200, 1100, 900, 800]) {
      await control("POST", "/clock/advance", { by });
      await api.call("dan", "GET", "/v1/models");
    }
    const { page } = await open();
    await see(page.locator(".strip-tick").first()).toBeVisible();
    const rights = `[".strip-plot", ".strip-tick text"].map((parts) => Math.max(
      ...[...document.querySelectorAll(parts)].map((part) => part.getBoundingClientRect().right)))`;
    for (let width = 370; width < 400; width += 1) {
      await page.setViewportSize({ width, height: 740 });
      await page.evaluate("new Promise(requestAnimationFrame)");
      const [edge, label] = (await page.evaluate(rights)) as [number, number];
      expect(label, `at ${width}`).toBeLessThan(edge - 3);
    }
  });

  it("says why a call that changed nothing offers no rewind [interfaces 10]", async () => {
    const { headers } = await api.call("dan", "GET", "/v1/models");
    const { page } = await open(`?entry=${headers.get("x-request-id")}`);
    await see(detail(page)).toContainText("The call changed no data.");
    await see(detail(page).getByRole("button", { name: /^Rewind/ })).toHaveCount(0);
  });

  it("says that a change is no longer in the history, not that there was none [interfaces 10]", async () => {
    const { headers } = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("PATCH", "", { settings: { history_limit: 1 } });
    await api.call("ada", "DELETE", "/v1/threads/thread_long");
    const { page } = await open(`?entry=${headers.get("x-request-id")}`);
    await see(detail(page)).toContainText("This call’s change is no longer recorded");
    await control("PATCH", "", { settings: { history_limit: 1000 } });
  });

  it("distinguishes delayed, rejected, failed and injected responses [interfaces 6]", async () => {
    await control("POST", "/faults", { match: { principal: "usr_dan" }, effect: { delay: "20ms" } });
    const failing = { match: { operation: "usage.*" }, effect: { status: 503 } };
    await control("POST", "/faults", failing);
    await api.call("dan", "GET", "/v1/models");
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await api.call("ada", "GET", "/v1/analytics/usage/limits/org_acme");
    await api.call("ada", "GET", "/v1/models");
    const { page, complaints } = await open();
    const findMark = (name: RegExp, mark: string) =>
      findRow(page, name).getByRole("img", { name: mark, exact: true });
    await see(findMark(/models.*delayed 20 ms/, "delayed")).toBeVisible();
    await see(findMark(/404.*thread_none.*delayed 20 ms/, "rejected")).toBeVisible();
    await see(findMark(/503.*usage/, "injected")).toBeVisible();
    await see(findMark(/200 GET \/v1\/models.*usr_ada/, "OK")).toBeVisible();
    await findRow(page, /models.*delayed/).click();
    await see(detail(page)).toContainText(
      "models.list succeeded for usr_dan. A fault delayed the response by 20 ms and changed nothing else",
    );
    for (const [chip, count] of [
      ["Delayed", 2],
      ["Rejected", 1],
      ["Injected", 1],
      ["OK", 2],
    ] as const) {
      await page.getByRole("button", { name: `${chip} ${count}`, exact: true }).click();
      await see(page.getByRole("row")).toHaveCount(count);
      await page.getByRole("button", { name: `${chip} ${count}`, exact: true }).click();
    }
    // The dialog describes what the selected effect does.
    await detail(page).getByRole("button", { name: "Fail the next call" }).click();
    const dialog = page.getByRole("dialog");
    await see(dialog).toContainText("The operation does not run, and nothing changes");
    await choose(page, "Failure", "Delayed by 5 s");
    await see(dialog).toContainText("A delay is not a failure: the operation runs as usual");
    expect(complaints).toEqual([]);
  });

  it("shows one row per entry after rewinds, although request ids repeat [interfaces 10]", async () => {
    for (const round of [1, 2, 3]) {
      await api.call("ada", "GET", `/v1/models?limit=${round}`);
      await api.call("ada", "DELETE", "/v1/threads/thread_ada");
      const { entries } = (await control("GET", "/history?kind=request&limit=1")).body;
      await control("POST", `/history/${entries[0].id}/rewind`, { to: "before" });
    }
    const entries: JournalEntry[] = (await control("GET", "/journal")).body.entries;
    const deletion = entries.findLast(({ method }) => method === "DELETE")!;
    const reused = entries.find(({ id }) => id === deletion.id)!;
    expect(reused.request.query).toBe("limit=2");
    const { page, complaints } = await open();
    await see(page.getByRole("row")).toHaveCount(9);
    await see(findRow(page, /DELETE.*undone/)).toHaveCount(3);
    // Two entries with the same request id have different addresses and details.
    for (const { seq, method, row } of [
      { ...deletion, row: findRow(page, /DELETE/).last() },
      { ...reused, row: findRow(page, /limit=2/) },
    ]) {
      await row.click();
      await see(page).toHaveURL(new RegExp(`entry=${seq}$`));
      await see(detail(page).getByRole("region", { name: "Request" })).toContainText(method);
      await see(page.getByRole("row", { selected: true })).toHaveCount(1);
    }
    await page.reload();
    await see(page.getByRole("row", { selected: true })).toContainText("limit=2");
    await see(page.getByRole("row")).toHaveCount(9);
    // A link with a request id opens the newest entry of that id.
    await page.goto(`${api.url}/_console/s/default/timeline?entry=${deletion.id}`);
    await see(page.getByRole("row", { selected: true })).toContainText("limit=2");
    expect(complaints).toEqual([]);
  });

  it("forks into a second sandbox, and shows an invalid name at its field [interfaces 10]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page } = await open();
    await findRow(page, /DELETE/).click();
    await detail(page).getByRole("button", { name: "Fork before this" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Not A Name");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await see(dialog.getByRole("alert")).toContainText("lower-case");
    await see(dialog.getByLabel("Name")).toHaveValue("Not A Name");
    await dialog.getByLabel("Name").fill("what-if");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await see(page).toHaveURL(`${api.url}/_console/s/what-if/timeline`);
    const there = await api.call(undefined, "GET", "/_control/sandboxes/what-if/state/threads/thread_ada");
    expect(there.status).toBe(200);
    expect((await control("GET", "/state/threads/thread_ada")).status).toBe(404);
  });

  it("repeats a request once if a busy page gets a double click [interfaces 10]", async () => {
    await api.call("dan", "GET", "/v1/models");
    const { page } = await open();
    await findRow(page, /GET \/v1\/models/).click();
    let repeats = 0;
    await page.route("**/repeat", async (route) => {
      repeats += 1;
      await route.continue();
    });
    const box = (await detail(page).getByRole("button", { name: "Repeat" }).boundingBox())!;
    await page.evaluate("setTimeout(() => { const end = Date.now() + 500; while (Date.now() < end); }, 20)");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const { mouse } = page;
    await Promise.all([mouse.down(), mouse.up(), mouse.down({ clickCount: 2 }), mouse.up({ clickCount: 2 })]);
    await see(detail(page)).toContainText("The response is the same.");
    expect(repeats).toBe(1);
  });

  it("repeats a request and fails the next call [interfaces 10]", async () => {
    await api.call("dan", "GET", "/v1/models");
    const { page, complaints } = await open();
    await findRow(page, /GET \/v1\/models/).click();
    await detail(page).getByRole("button", { name: "Repeat" }).click();
    await see(detail(page)).toContainText("The response is the same.");
    await see(findRow(page, /GET \/v1\/models/)).toHaveCount(2);
    await detail(page).getByRole("button", { name: "Fail the next call" }).click();
    const dialog = page.getByRole("dialog");
    await choose(page, "Failure", /429 RATE_LIMIT_EXCEEDED/);
    await dialog.getByRole("button", { name: "Arm" }).click();
    await see(dialog).toHaveCount(0);
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(200);
    expect((await api.call("dan", "GET", "/v1/models")).body.error.code).toBe("RATE_LIMIT_EXCEEDED");
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    await see(findRow(page, /injected 429/)).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("copies a request as curl and fetch with its key [interfaces 10]", async () => {
    await api.call("dan", "GET", "/v1/models?limit=2");
    const { page } = await open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await findRow(page, /GET \/v1\/models/).click();
    const readClipboard = () => page.evaluate("navigator.clipboard.readText()");
    await detail(page).getByRole("button", { name: "Copy as curl" }).click();
    await see(detail(page).getByRole("button", { name: "Copied" })).toBeVisible();
    expect(await readClipboard()).toBe(
      `curl -i -X GET '${api.url}/v1/models?limit=2' \\\n  -H 'api-key: ${KEYS.dan}'`,
    );
    await detail(page).getByRole("button", { name: "Copy as fetch" }).click();
    await expect.poll(readClipboard).toContain(`await fetch("${api.url}/v1/models?limit=2"`);
    await detail(page).getByRole("button", { name: "Copy as Python" }).click();
    await expect
      .poll(readClipboard)
      .toBe(
        `import requests\n\nresponse = requests.request(\n    "GET",\n    "${api.url}/v1/models?limit=2",\n    headers={"api-key":"${KEYS.dan}"},\n)\nprint(response.status_code, response.text)`,
      );
    await detail(page).getByRole("button", { name: "Copy as .env" }).click();
    await expect.poll(readClipboard).toBe(`API_BASE_URL=${api.url}\nAPI_KEY=${KEYS.dan}\n`);
  });

  it("shows only the beginning of a long body, which would block the page [interfaces 10]", async () => {
    const effect = { status: 200, body: { text: "x".repeat(300_000) } };
    await control("POST", "/faults", { match: { operation: "models.list" }, effect });
    const { headers } = await api.call("dan", "GET", "/v1/models");
    const { page } = await open(`?entry=${headers.get("x-request-id")}`);
    const response = detail(page).getByRole("region", { name: "Response" });
    await see(response).toContainText("Only the first 200,000 of 300,");
    expect((await response.locator("pre.body").textContent())!.length).toBe(200_000);
  });

  it("says that a body of bytes is not part of a copy [interfaces 10]", async () => {
    const path = "/v1/organizations/org_acme/files/upload";
    const type = { "content-type": "multipart/form-data; boundary=x" };
    const { headers } = await api.call("dan", "POST", path, new Uint8Array([0, 255, 254]), type);
    const { page } = await open(`?entry=${headers.get("x-request-id")}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const readClipboard = () => page.evaluate("navigator.clipboard.readText()");
    await see(detail(page).getByRole("region", { name: "Request" })).toContainText("3 bytes, not text");
    await detail(page).getByRole("button", { name: "Copy as curl" }).click();
    await expect.poll(readClipboard).toMatch(/boundary=x' \\\n {2}--data-binary @body-of-3-bytes$/);
    await detail(page).getByRole("button", { name: "Copy as fetch" }).click();
    await expect.poll(readClipboard).toMatch(/^\/\/ Add the body: 3 bytes that are not text\.\nawait fetch/);
    await detail(page).getByRole("button", { name: "Copy as Python" }).click();
    await expect.poll(readClipboard).toContain('data=open("body-of-3-bytes", "rb")');
    await detail(page).getByRole("button", { name: "Edit and send again" }).click();
    await see(page.getByRole("dialog")).toContainText("The original body has 3 bytes that are not text");
    await see(page.getByRole("textbox", { name: "Body" })).toHaveValue("");
  });

  it("copies and edits a HEAD request, whose address has brackets [interfaces 10]", async () => {
    await api.call("dan", "HEAD", "/v1/models?of[]=a");
    const { page } = await open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await findRow(page, /HEAD \/v1\/models/).click();
    await detail(page).getByRole("button", { name: "Copy as curl" }).click();
    const readClipboard = () => page.evaluate("navigator.clipboard.readText()");
    await expect.poll(readClipboard).toMatch(/^curl -i --head --globoff '/);
    await detail(page).getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await see(dialog.getByRole("button", { name: /^HEAD Method/ })).toBeVisible();
    await dialog.getByRole("button", { name: "Send" }).click();
    await see(dialog.getByRole("status")).toContainText("405");
  });

  it("edits a request and sends it again as another user [interfaces 10]", async () => {
    await api.call("dan", "PATCH", "/v1/users/usr_dan", { name: "Danny" });
    await api.call("dan", "GET", "/v1/models?limit=2");
    const { page, complaints } = await open();
    await findRow(page, /GET \/v1\/models/).click();
    await detail(page).getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Path").fill("/v1/models?limit=1");
    await choose(page, "Call as", /^Ada Osei, apikey_ada(?!_)/);
    await dialog.getByLabel("Headers").fill("no colon");
    await dialog.getByRole("button", { name: "Send" }).click();
    await see(dialog.getByRole("alert")).toContainText("is not of the form name: value");
    await dialog.getByLabel("Headers").fill("x-trace: 7");
    await dialog.getByLabel("Path").fill(`${api.url}/v1/models`);
    await dialog.getByRole("button", { name: "Send" }).click();
    await see(dialog.getByRole("alert")).toContainText("A path begins with a slash");
    await dialog.getByLabel("Path").fill("/v1/models?limit=1");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Send" }).press("Enter");
    await see(dialog.getByRole("status")).toContainText("200");
    const { entries } = (await control("GET", "/journal?limit=1")).body;
    expect(entries[0]).toMatchObject({ principal: "usr_ada", request: { query: "limit=1" } });
    expect(JSON.stringify(entries[0].request.headers)).toContain("x-trace");
    expect(complaints).toEqual([]);
  });

  it("sends every repeated header again after an edit [interfaces 2]", async () => {
    await new Promise((resolve) => {
      const headers = { "api-key": KEYS.dan, "x-tag": ["one", "two"] };
      request(`${api.url}/v1/models`, { headers }, (answer) => answer.resume().on("end", resolve)).end();
    });
    const { page } = await open();
    await findRow(page, /GET \/v1\/models/).click();
    await detail(page).getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await see(dialog.getByLabel("Headers")).toHaveValue(/x-tag: one\nx-tag: two/);
    await dialog.getByRole("button", { name: "Send" }).click();
    await see(dialog.getByRole("status")).toContainText("200");
    const { entries } = (await control("GET", "/journal?limit=1")).body;
    const tags = entries[0].request.headers.filter(({ name }: { name: string }) => name === "x-tag");
    expect(tags).toEqual([{ name: "x-tag", value: "one, two" }]);
  });

  it("undoes what an edited request changed [interfaces 2]", async () => {
    const { headers } = await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const { page } = await open(`?entry=${headers.get("x-request-id")}`);
    await detail(page).getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Path").fill("/v1/threads/thread_ada");
    await choose(page, "Call as", /^Ada Osei, apikey_ada(?!_)/);
    await dialog.getByRole("button", { name: "Send" }).click();
    await see(dialog.getByRole("status")).toContainText("200");
    const fetchThreadStatus = async () => (await control("GET", "/state/threads/thread_ada")).status;
    expect(await fetchThreadStatus()).toBe(404);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    const confirmations = page.getByRole("region", { name: "Confirmations" });
    await see(confirmations).toContainText("DELETE /v1/threads/thread_ada was answered with 200.");
    await confirmations.getByRole("button", { name: "Undo" }).click();
    await see(confirmations).toContainText("Undone:");
    expect(await fetchThreadStatus()).toBe(200);
  });

  it("filters by text and outcome, and zooms by dragging [interfaces 10]", async () => {
    for (const id of ["one", "two", "three"]) await api.call("dan", "DELETE", `/v1/threads/thread_${id}`);
    await api.call("dan", "GET", "/v1/models");
    const { page } = await open("?show=refused");
    await see(page.getByRole("row")).toHaveCount(3);
    await page.getByRole("searchbox").fill("thread_two");
    await see(page.getByRole("row")).toHaveCount(1);
    expect(new URL(page.url()).search).toBe("?show=refused&find=thread_two");
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await see(page.getByRole("row")).toHaveCount(4);
    const strip = (await page.locator(".strip-plot").boundingBox())!;
    await page.mouse.move(strip.x + 2, strip.y + 40);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width / 2, strip.y + 40, { steps: 5 });
    await page.mouse.up();
    await see(page.getByRole("row")).toHaveCount(2);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await see(page.getByRole("row")).toHaveCount(4);
  });

  it("handles a burst in few updates, renders visible rows only, and is used by keyboard [interfaces 10]", async () => {
    await control("PATCH", "", { settings: { journal_limit: 3000 } });
    const { page, complaints } = await open();
    const grid = page.getByRole("treegrid");
    await see(page.locator(".count")).toBeVisible();
    await page.evaluate(`window.steps = 0;
      new MutationObserver(() => { window.steps += 1; }).observe(
        document.querySelector(".count"), { childList: true, characterData: true, subtree: true })`);
    const begun = performance.now();
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => api.call("dan", "GET", "/v1/models")));
    }
    // The changed setting adds one row.
    await see(grid).toHaveAttribute("aria-rowcount", "2001");
    expect(await page.evaluate("window.steps")).toBeLessThan((performance.now() - begun) / BATCH_MS + 5);
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    await grid.focus();
    await page.keyboard.press("End");
    await see(page.locator('[role="row"][aria-rowindex="2001"]')).toBeVisible();
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    await page.keyboard.press("Enter");
    await see(detail(page)).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("resumes a lost stream without duplicate rows [interfaces 2]", async () => {
    const { page } = await open();
    await api.call("dan", "DELETE", "/v1/threads/thread_first");
    await see(findRow(page, /thread_first/)).toHaveCount(1);
    api.understudy.server.closeAllConnections();
    // The connections of the test itself must be reopened too.
    const fetchHealth = () =>
      api.call(undefined, "GET", "/_control/health").then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(fetchHealth, { timeout: PATIENCE_MS }).toBe(200);
    await api.call("dan", "DELETE", "/v1/threads/thread_second");
    await see(findRow(page, /thread_second/)).toHaveCount(1);
    await waitForLive(page);
    await see(findRow(page, /thread_first/)).toHaveCount(1);
    await see(page.getByRole("alert")).toHaveCount(0);
  });

  it("reports that the states of an entry have expired [interfaces 10]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page } = await open();
    await findRow(page, /DELETE/).click();
    await detail(page).getByRole("button", { name: "Fork before this" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("too-late");
    api.understudy.sandboxes.get("default")!.history.releaseStates(0);
    await dialog.getByRole("button", { name: "Fork" }).click();
    await see(dialog.getByRole("alert")).toContainText(/no longer/);
    await see(dialog.getByLabel("Name")).toHaveValue("too-late");
    await page.reload();
    await see(detail(page)).toContainText("only the counts remain");
    await see(detail(page).getByRole("button", { name: "Rewind to before this" })).toHaveCount(0);
    await see(detail(page).getByRole("button", { name: "Fork before this" })).toHaveCount(0);
  });

  it("opens a selected or dropped bundle, and rejects other files [interfaces 2]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("POST", "/clock/advance", { by: "1m" });
    const bundle = JSON.stringify((await control("POST", "/bundle")).body);
    await control("POST", "/reset");
    const { page, complaints } = await open();
    const choose = async (name: string, text: string) => {
      const chosen = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open export" }).click();
      await (await chosen).setFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
    };
    await choose("notes.json", '{"format": "notes"}');
    await see(page.getByRole("alert")).toContainText("neither a bundle nor an exported sandbox");
    await choose("failed.bundle.json", bundle);
    await see(page.getByRole("alert")).toHaveCount(0);
    await see(page.getByRole("heading", { name: "Bundle" })).toBeVisible();
    await see(page.getByRole("status")).toContainText("failed.bundle.json");
    await findRow(page, /DELETE \/v1\/threads\/thread_ada/).click();
    const step = page.getByRole("region", { name: "Step 1" });
    await see(step.getByRole("region", { name: "Response" })).toContainText("Thread deleted");
    await see(step).not.toContainText(KEYS.ada);
    await expectAccessible(page);
    await findRow(page, /clock\/advance/).click();
    await see(page.getByRole("region", { name: "Step 2" })).toContainText('"by": "1m"');
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Back to timeline" }).click();
    await see(page.getByText("No requests yet")).toBeVisible();
    await page.evaluate(`{
      const dropped = new DataTransfer();
      dropped.items.add(new File([${JSON.stringify(bundle)}], "dropped.json"));
      document.querySelector("h1").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
    }`);
    await see(page.getByRole("status")).toContainText("dropped.json");
    await see(findRow(page, /DELETE/)).toBeVisible();
    expect(complaints).toEqual([]);
  });

  it("does not call an entry expired that is newer than the paused list [interfaces 10]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [500] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { page } = await open();
    await findRow(page, /500: thread.deleted, first attempt/).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await control("POST", "/clock/advance", { by: "1h" });
    const related = detail(page).getByRole("region", { name: "Causes and effects" });
    await see(related).toContainText(/Causedh_\S+ \(not in the list\)/);
    await findRow(page, /DELETE/).click();
    await detail(page).getByRole("button", { name: "Repeat" }).click();
    await detail(page).getByRole("button", { name: "Show", exact: true }).click();
    await see(detail(page).getByRole("alert")).toContainText("newer than the paused list");
  });

  it("says how many entries a restarted server has that a paused list does not [interfaces 10]", async () => {
    const first = await startReference();
    const { port } = new URL(first.url);
    const { page } = await openAt("/s/default/timeline", {}, first.url);
    for (const path of ["/v1/models", "/v2/models"]) await first.call("dan", "GET", path);
    await see(findRow(page, /v2.models/)).toBeVisible();
    await page.getByRole("button", { name: "Pause" }).click();
    await first.close();
    await see(page.getByRole("alert")).toContainText("Disconnected");
    const second = await startReference({ port: Number(port) });
    await second.call("dan", "GET", "/v1/threads");
    await page.getByRole("button", { name: "Show 1 new" }).click();
    await see(findRow(page, /v1.threads/)).toBeVisible();
    await see(findRow(page, /models/)).toHaveCount(0);
    await second.close();
  });

  it("counts only later entries as new if the journal is cleared while the list is paused [interfaces 10]", async () => {
    for (const title of ["First", "Second"]) await control("POST", "/state/threads", { title });
    const { page } = await open();
    await see(findRow(page, /was added to threads/)).toHaveCount(2);
    await page.getByRole("button", { name: "Pause" }).click();
    await control("DELETE", "/journal");
    await api.call("dan", "GET", "/v1/models");
    await page.getByRole("button", { name: "Show 1 new" }).click();
    await see(findRow(page, /v1.models/)).toBeVisible();
  });

  it("leaves an opened bundle for an entry that the palette finds [interfaces 2]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const bundle = JSON.stringify((await control("POST", "/bundle")).body);
    const { page } = await open();
    const file = { name: "a.json", mimeType: "application/json", buffer: Buffer.from(bundle) };
    await page.locator("input[type=file]").setInputFiles(file);
    await see(page.getByRole("heading", { name: "Bundle" })).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("searchbox").fill("threads/thread_ada");
    await page
      .getByRole("menuitem", { name: /DELETE/ })
      .first()
      .click();
    await see(detail(page)).toContainText("threads.delete succeeded for usr_ada.");
  });

  it("reports a missing entry [interfaces 10]", async () => {
    const { page } = await open("?entry=req_0000");
    await see(detail(page).getByRole("alert")).toContainText("No entry req_0000");
  });
});
