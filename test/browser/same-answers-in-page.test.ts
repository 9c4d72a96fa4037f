import type { Page } from "@playwright/test";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PageSandbox } from "../../src/client/browser.ts";
import { listDifferences } from "../determinism/differences.ts";
import { exchange, exchangeInProcess, withoutConnection } from "../determinism/exchange.ts";
import {
  type Answer,
  type Entry,
  type Request as Recorded,
  readRecording,
} from "../determinism/recording.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, useChromium } from "../support/browser/with-chromium.ts";
import { EPOCH, startReference } from "../support/harness.ts";

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

declare const begin: (options?: object) => Promise<PageSandbox>;
declare const sandbox: PageSandbox;

const START = {
  seed: 1,
  clock: { mode: "frozen", now: EPOCH },
  settings: { check_answers: "on" },
} as const;

/** Headers that a page cannot set. */
const FORBIDDEN = /^(origin|access-control-|sec-)/;

/**
 * Requests whose answers differ: a page does not process images, has no status texts, and sends webhooks with the
 * browser's headers.
 */
const DIFFERENT = /uncrop|journal\.har|\/receivers\/[^/]+\/requests/;

const canBeSent = ({ path, headers }: Recorded) =>
  !DIFFERENT.test(path) && !Object.keys(headers).some((name) => FORBIDDEN.test(name));

/** Sends a request by the page's `fetch`, through the service worker. */
async function fetchInPage(page: Page, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const bytes = request.body === null ? undefined : [...new Uint8Array(await request.arrayBuffer())];
  const found = await page.evaluate(
    async ({ path, method, headers, bytes }) => {
      const body = bytes === undefined ? null : new Uint8Array(bytes);
      const answer = await fetch(path, { method, headers, body }).catch(() => undefined);
      if (answer === undefined) return undefined;
      const pieces: number[] = [];
      let isBroken = false;
      try {
        const reader = answer.body?.getReader();
        for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read())
          pieces.push(...next.value);
      } catch {
        isBroken = true;
      }
      return { status: answer.status, headers: [...answer.headers], pieces, isBroken };
    },
    { path: pathname + search, method: request.method, headers: [...request.headers], bytes },
  );
  if (found === undefined) throw new TypeError("fetch failed");
  const { status, headers, pieces, isBroken } = found;
  const sent = [Uint8Array.from(pieces)].filter(({ length }) => length > 0);
  const body = new ReadableStream({
    pull(controller) {
      const piece = sent.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (isBroken) controller.error(new TypeError("terminated"));
      else controller.close();
    },
  });
  return new Response([204, 304].includes(status) ? null : body, { status, headers });
}

async function replay(
  send: (request: Recorded) => Promise<Answer>,
  advance: () => Promise<unknown>,
): Promise<Entry[]> {
  const answered: Entry[] = [];
  for (const { request } of readRecording().filter((entry) => canBeSent(entry.request))) {
    await advance();
    answered.push({ request, answer: await send(request) });
  }
  return answered;
}

it("a page's service worker gives the same bytes as a server [interfaces 17]", {
  timeout: 240_000,
}, async () => {
  const api = await startReference({ seed: 1 });
  const socket = Number(new URL(api.url).port);
  const expected = await replay(
    (request) => exchange(socket, request),
    () => api.advance(0),
  );
  await api.close();

  const { page } = await openPage(chromium());
  await page.goto(application.origin);
  await page.waitForFunction(() => "begin" in globalThis);
  await page.evaluate(async (options) => Object.assign(globalThis, { sandbox: await begin(options) }), {
    ...START,
    paths: ["/v1", "/v2", "/webhooks", "/upload", "/_control", "/_s"],
  } as object);
  const port = Number(new URL(application.origin).port);
  const place = { fetch: (request: Request) => fetchInPage(page, request), port };
  const found = await replay(
    (request) => exchangeInProcess(place, request),
    () => page.evaluate(async () => void (await sandbox.clock.advance(0))),
  );
  await page.context().close();
  const lacking = found.filter(({ answer }) => answer.status === 501);
  const differences = listDifferences(expected, found, ({ answer }, other) =>
    other.answer.status === 501 ? undefined : [withoutConnection(answer), withoutConnection(other.answer)],
  );
  expect(differences.count, differences.report).toBe(0);
  expect(lacking.map(({ request }) => request.path)).toEqual([]);
});
