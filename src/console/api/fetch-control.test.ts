import { expect, it } from "vitest";
import { readEvents } from "./fetch-control.ts";

it("streamed events with Unicode line separators are read whole", async () => {
  const event = { body: "one\u2028two\u2029three" };
  const { body } = new Response(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
  for await (const { data } of readEvents(body!)) expect(JSON.parse(data)).toEqual(event);
  expect.assertions(1);
});
