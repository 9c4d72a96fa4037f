import type { Locator, Page } from "@playwright/test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { KEYS } from "../../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, openAt, control } = useConsole("timeline");
/** Request ids of the prepared calls. */
let refused = "";
let deleted = "";

/** Two calls succeed, the third fails; the fourth deletes a thread, whose delivery waits for its retry. */
beforeEach(async () => {
  await control("POST", "/reset");
  const { body: receiver } = await control("POST", "/receivers", { answers: [500, 200] });
  await api.call("ada", "GET", "/v1/models");
  await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
  const third = await api.call("dan", "DELETE", "/v1/threads/thread_none");
  const fourth = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  refused = third.headers.get("x-request-id")!;
  deleted = fourth.headers.get("x-request-id")!;
  await expect
    .poll(async () => (await control("GET", "/clock/pending")).body.map(({ kind }: { kind: string }) => kind))
    .toContain("webhook.retry");
});

const findRow = (page: Page, name: RegExp) => page.getByRole("row", { name });
const findButton = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const readClipboard = (page: Page) => page.evaluate<string>("navigator.clipboard.readText()");

interface Question {
  question: string;
  /** The address of the page, after the user's earlier steps. */
  from: () => string;
  before?: (page: Page) => Promise<unknown>;
  /** The clicks, in order. */
  steps: (page: Page) => Locator[];
  answer: (page: Page) => Promise<unknown>;
}

const QUESTIONS: readonly Question[] = [
  {
    question: "Why did the third call fail?",
    from: () => "timeline",
    steps: (page) => [findRow(page, /404 DELETE .*thread_none/)],
    answer: (page) => see(page.getByRole("region", { name: "Why" })).toContainText(/thread_none/),
  },
  {
    question: "What changed?",
    from: () => "timeline",
    steps: (page) => [findRow(page, /200 DELETE .*thread_ada/)],
    answer: (page) => see(page.getByRole("region", { name: "Changes" })).toContainText("thread_ada"),
  },
  {
    question: "When is the next retry?",
    from: () => "timeline",
    steps: (page) => [findRow(page, /500: thread.deleted, first attempt/)],
    answer: (page) => see(page.getByText(/^Next retry in (60 s|1 min)$/)).toBeVisible(),
  },
  {
    question: "Show me the retry.",
    from: () => "timeline",
    steps: (page) => [
      findRow(page, /500: thread.deleted, first attempt/),
      findButton(page, "Run next retry now"),
    ],
    answer: (page) => see(findRow(page, /200: thread.deleted, retry/)).toBeVisible(),
  },
  {
    question: "Undo what I just did.",
    from: () => "keys?key=apikey_dan",
    before: async (page) => {
      await findButton(page, "Revoke").click();
      await expect.poll(async () => (await api.call("dan", "GET", "/v1/models")).status).toBe(401);
    },
    steps: (page) => [findButton(page, "Undo")],
    answer: () => expect.poll(async () => (await api.call("dan", "GET", "/v1/models")).status).toBe(200),
  },
  {
    question: "Give me a key.",
    from: () => "keys",
    steps: (page) => [findRow(page, /Ada laptop/).getByRole("button", { name: /^Copy key/ })],
    answer: (page) => expect.poll(() => readClipboard(page)).toBe(KEYS.ada),
  },
  {
    question: "Copy it as curl.",
    from: () => `timeline?entry=${refused}`,
    steps: (page) => [findButton(page, "Copy as curl")],
    answer: (page) => expect.poll(() => readClipboard(page)).toMatch(/^curl .*thread_none/),
  },
  {
    question: "Share this state.",
    from: () => "timeline",
    steps: (page) => [findButton(page, "Export …"), findButton(page, "Export sandbox")],
    answer: async (page) => expect(await downloaded.get(page)).toBe("default.understudy"),
  },
  {
    question: "Let the next one fail.",
    from: () => `timeline?entry=${deleted}`,
    steps: (page) => [findButton(page, "Fail the next call …"), findButton(page, "Arm")],
    answer: () =>
      expect.poll(async () => (await api.call("ada", "DELETE", "/v1/threads/thread_none")).status).toBe(503),
  },
  {
    question: "Back to before.",
    from: () => `timeline?entry=${deleted}`,
    steps: (page) => [findButton(page, "Rewind to before this …"), findButton(page, "Rewind")],
    answer: () =>
      expect.poll(async () => (await control("GET", "/state/threads/thread_ada")).status).toBe(200),
  },
];

/** The maximum number of clicks for each question. */
const FIGURES: Readonly<Record<string, number>> = {
  "Why did the third call fail?": 1,
  "What changed?": 1,
  "When is the next retry?": 1,
  "Show me the retry.": 2,
  "Undo what I just did.": 1,
  "Give me a key.": 1,
  "Copy it as curl.": 1,
  "Share this state.": 2,
  "Let the next one fail.": 2,
  "Back to before.": 2,
};

/** The name of a page's first download. */
const downloaded = new WeakMap<Page, Promise<string>>();

describe.each(["click", "keyboard"])(
  "a question of a new user, by %s",
  { timeout: 4 * PATIENCE_MS },
  (way) => {
    it.each(QUESTIONS.map((one) => [one.question, one] as const))(
      "is answered within few steps: %s [interfaces 2]",
      async (question, one) => {
        const { page, complaints } = await openAt(`/s/default/${one.from()}`);
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
        downloaded.set(
          page,
          new Promise((resolve) =>
            page.once("download", (download) => resolve(download.suggestedFilename())),
          ),
        );
        await one.before?.(page);
        const steps = one.steps(page);
        expect(steps.length).toBeLessThanOrEqual(FIGURES[question]!);
        for (const step of steps) {
          if (way === "click") await step.click();
          else await press(step);
        }
        await one.answer(page);
        expect(complaints).toEqual([]);
      },
    );
  },
);

/** Presses Enter, on the element or on the link of a row. */
async function press(step: Locator): Promise<void> {
  await see(step).toBeVisible();
  const link = step.getByRole("link");
  await ((await link.count()) > 0 ? link.first() : step).press("Enter");
}
