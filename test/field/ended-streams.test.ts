import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, useChromium } from "../support/browser/with-chromium.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const MAX_CONNECTIONS = 5;

/** Reconnects as an EventSource does (the HTML standard), but without the wait. Returns the statuses up to the last. */
async function follow(path: string, { onOpen }: { onOpen?: () => Promise<unknown> } = {}): Promise<number[]> {
  const statuses: number[] = [];
  let last = "";
  while (statuses.length < MAX_CONNECTIONS) {
    const headers = { "api-key": KEYS.ada, ...(last === "" ? {} : { "last-event-id": last }) };
    const response = await fetch(api.url + path, { headers });
    statuses.push(response.status);
    if (response.status !== 200) break;
    await onOpen?.();
    for (const [, id] of (await response.text()).matchAll(/^id: (.*)$/gm)) last = id!;
  }
  return statuses;
}

interface Spoken {
  transcript_id: string;
  start_time: number;
}

const STREAMS = ["transcripts", "status", "logs"];
const getPath = (session: string, stream: string) => `/v1/meeting-buddy/sessions/${session}/${stream}/stream`;

describe("an EventSource on an ended stream", () => {
  it.each(STREAMS)("of %s reads it once and stops [G42]", async (stream) => {
    const statuses = await follow(getPath("mbsess_standup", stream));
    expect(statuses).toEqual(statuses.length === 1 ? [204] : [200, 204]);
  });

  it.each(STREAMS)("of %s stops when its meeting is stopped [G42]", async (stream) => {
    await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
    const onOpen = () => api.call("ada", "POST", "/v1/meeting-buddy/sessions/mbsess_live/stop");
    expect((await follow(getPath("mbsess_live", stream), { onOpen })).at(-1)).toBe(204);
  });

  it("reads it once although its last record was deleted [G42]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
    const state = "/_control/sandboxes/default/state/meeting_transcripts";
    const { body } = await api.call(undefined, "GET", `${state}?session_id=mbsess_standup`);
    const last = body.items.sort((a: Spoken, b: Spoken) => b.start_time - a.start_time)[0] as Spoken;
    await api.call(undefined, "DELETE", `${state}/${last.transcript_id}`);
    expect(await follow(getPath("mbsess_standup", "transcripts"))).toEqual([200, 204]);
  });

  it("continues after the last event that it received, and from the beginning for an unknown id [G42]", async () => {
    const read = async (id: string) => {
      const headers = { "last-event-id": id };
      const { status, text } = await api.call(
        "ada",
        "GET",
        getPath("mbsess_standup", "status"),
        undefined,
        headers,
      );
      return [status, [...text.matchAll(/^id: /gm)].length];
    };
    expect([await read("1"), await read("2"), await read("99"), await read("x")]).toEqual([
      [200, 1],
      [204, 0],
      [200, 2],
      [200, 2],
    ]);
  });

  it.each(["journal/stream", "history/stream", "live"])(
    "of the control API, S/%s, stops when its sandbox is deleted",
    async (stream) => {
      await api.call(undefined, "POST", "/_control/sandboxes", { name: "gone" });
      const onOpen = () => api.call(undefined, "DELETE", "/_control/sandboxes/gone");
      expect(await follow(`/_control/sandboxes/gone/${stream}`, { onOpen })).toEqual([200, 404]);
    },
  );
});

describe("Chromium's EventSource", () => {
  const chromium = useChromium();

  it.each(STREAMS)(
    "of %s reads an ended stream once, is answered 204, and does not reconnect [G42]",
    async (stream) => {
      await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
      const { page } = await openPage(chromium());
      // Adds the key as a proxy of the app's server would: an EventSource cannot send headers.
      await page.setExtraHTTPHeaders({ "api-key": KEYS.ada });
      await page.goto(`${api.url}/v1/models`);
      const read = await page.evaluate(
        (url) =>
          new Promise((resolve) => {
            const source = new EventSource(url);
            let opened = 0;
            source.onopen = () => {
              opened += 1;
            };
            source.onerror = () => {
              if (source.readyState === EventSource.CLOSED || opened > 2)
                resolve([opened, source.readyState]);
            };
          }),
        getPath("mbsess_standup", stream),
      );
      await page.close();
      const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
      const statuses = body.entries
        .filter((entry: { path: string }) => entry.path === getPath("mbsess_standup", stream))
        .map(({ status }: { status: number }) => status)
        .reverse();
      expect([read, statuses]).toEqual([
        [1, 2],
        [200, 204],
      ]);
    },
  );
});
