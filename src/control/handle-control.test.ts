import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitUntil } from "../../test/support/eventually.ts";
import { type Api, startReference } from "../../test/support/harness.ts";
import { NodeRequest } from "../hosts/node/node-request.ts";
import { createControl } from "./handle-control.ts";
import { CONTROL_OPERATIONS } from "./operations/index.ts";
import { toHostRefusal, toInternalProblem } from "./problem.ts";
import { sendAnswer } from "./send-answer.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

it.each(["journal", "history"])(
  "a stream of the %s sends nothing before the changes in it are on disk [interfaces 2]",
  async (log) => {
    const S = "/_control/sandboxes/default";
    const asked: [sandbox: string | undefined, refusalsBefore: number, call: object][] = [];
    let save = () => {};
    const saved = new Promise<void>((resolve) => {
      save = resolve;
    });
    let refusals = 0;
    const durability = {
      countRefusals: () => ++refusals,
      // The call itself changes nothing; its stream contains changes of other calls.
      waitUntilStored: (sandbox: { name: string } | undefined, refusalsBefore: number, call: object) =>
        asked.push([sandbox?.name, refusalsBefore, call]) === 1 ? undefined : saved,
    };
    const { sandboxes } = api.understudy;
    const control = createControl({
      sandboxes,
      durability,
      operations: [],
    } as never);
    const server = createServer(async (request, response) =>
      sendAnswer(request, response, (await control(new NodeRequest(request, response)))!),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const arriving = fetch(`http://127.0.0.1:${port}${S}/${log}/stream`, {
        headers: { "last-event-id": "0" },
      });
      let arrived = false;
      const first = arriving
        .then(({ body }) => body!.getReader())
        .then(async (reader) => {
          const { value } = await reader.read();
          arrived = true;
          await reader.cancel();
          return new TextDecoder().decode(value);
        });
      await waitUntil(() => asked.length === 2);
      await api.call(undefined, "GET", "/_control/health");
      expect(arrived).toBe(false);
      save();
      expect(await first).toContain(log);
      expect(asked).toEqual([
        ["default", 1, { changesOthers: false }],
        ["default", 2, { changesOthers: false }],
      ]);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  },
);

it.each(CONTROL_OPERATIONS.flatMap(({ id, describeChange }) => (describeChange?.length === 2 ? id : [])))(
  "a change by %s has a title in the history even if the call failed after it [interfaces 10]",
  (id) => {
    const { describeChange } = CONTROL_OPERATIONS.find((one) => one.id === id)!;
    const call = { params: { collection: "threads" }, sandbox: api.understudy.sandboxes.get("default") };
    const { title } = describeChange!(call as never, undefined);
    expect(title).toMatch(/^[A-Z].*\.$/);
    expect(title).not.toContain("undefined");
  },
);

it("a chunk of the build that is gone is answered with what to do [interfaces 4]", async () => {
  const log = { error() {} } as never;
  const gone = Object.assign(new Error("Cannot find module"), { code: "ERR_MODULE_NOT_FOUND" });
  expect(toInternalProblem(gone, log).message).toContain("Restart the server.");
  expect(toInternalProblem(new Error("a defect"), log).message).toContain("please report it");
  expect(String(toHostRefusal(gone)?.body)).toContain("Restart the server.");
  expect(toHostRefusal(new Error("a defect"))).toBeUndefined();
});
