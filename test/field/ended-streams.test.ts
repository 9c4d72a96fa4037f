import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const MOST = 5;

/** Connects again as an EventSource does (the HTML standard), without its wait; gives the statuses until it gives up. */
async function follow(path: string, { onOpen }: { onOpen?: () => Promise<unknown> } = {}): Promise<number[]> {
  const statuses: number[] = [];
  let last = "";
  while (statuses.length < MOST) {
    const headers = { "api-key": KEYS.ada, ...(last === "" ? {} : { "last-event-id": last }) };
    const response = await fetch(api.url + path, { headers });
    statuses.push(response.status);
    if (response.status !== 200) break;
    await onOpen?.();
    for (const [, id] of (await response.text()).matchAll(/^id: (.*)$/gm)) last = id!;
  }
  return statuses;
}

const STREAMS = ["transcripts", "status", "logs"];
const path = (session: string, stream: string) => `/v1/meeting-buddy/sessions/${session}/${stream}/stream`;

describe("an EventSource on a stream that has ended", () => {
  it.each(STREAMS)("of %s reads it once and gives up [G42]", async (stream) => {
    const statuses = await follow(path("mbsess_standup", stream));
    expect(statuses).toEqual(statuses.length === 1 ? [204] : [200, 204]);
  });

  it.each(STREAMS)("of %s gives up when its meeting is stopped meanwhile [G42]", async (stream) => {
    await api.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
    const onOpen = () => api.call("ada", "POST", "/v1/meeting-buddy/sessions/mbsess_live/stop");
    expect((await follow(path("mbsess_live", stream), { onOpen })).at(-1)).toBe(204);
  });

  it("reads on from an earlier event, and from the beginning for an unknown one [G42]", async () => {
    const read = async (id: string) => {
      const headers = { "last-event-id": id };
      const { status, text } = await api.call(
        "ada",
        "GET",
        path("mbsess_standup", "status"),
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
    "of the control API, S/%s, gives up when its sandbox is deleted",
    async (stream) => {
      await api.call(undefined, "POST", "/_control/sandboxes", { name: "gone" });
      const onOpen = () => api.call(undefined, "DELETE", "/_control/sandboxes/gone");
      expect(await follow(`/_control/sandboxes/gone/${stream}`, { onOpen })).toEqual([200, 404]);
    },
  );
});
