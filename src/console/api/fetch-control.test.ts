import { expect, it, vi } from "vitest";
import { createSandboxCalls } from "./calls.ts";
import { readEvents, removeCallAdvice } from "./fetch-control.ts";

it.each([
  [
    'There is no snapshot "a.b". GET /_control/sandboxes/{name}/snapshots lists them.',
    'There is no snapshot "a.b".',
  ],
  ["There is no usr_x in users. GET the collection to see what there is.", "There is no usr_x in users."],
  ['operation "x" is unknown; GET /_control/openapi.json has them all.', 'operation "x" is unknown.'],
  ['Did you mean "slow"? GET /_control/sandboxes/{name}/scenarios lists them all.', 'Did you mean "slow"?'],
  ["The reason is a GET request.", "The reason is a GET request."],
])("the error %s has no advice to call the control API", (detail, message) => {
  expect(removeCallAdvice(detail)).toBe(message);
});

it("streamed events with Unicode line separators are read whole", async () => {
  const event = { body: "one\u2028two\u2029three" };
  const { body } = new Response(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
  for await (const { data } of readEvents(body!)) expect(JSON.parse(data)).toEqual(event);
  expect.assertions(1);
});

it("a connection lost within a response is reported as an unreachable server", async () => {
  const cut = () => new ReadableStream({ pull: (body) => body.error(new TypeError("network error")) });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async () => new Response(cut()));
  const { clock, exportFile } = createSandboxCalls("default");
  for (const call of [clock, exportFile])
    await expect(call()).rejects.toMatchObject({ name: "ControlError", isUnreachable: true });
  vi.unstubAllGlobals();
});
