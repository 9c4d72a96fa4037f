import { expect, it } from "vitest";
import { FleetSaver } from "../../src/fleet/fleet-saver.ts";
import { StoreRefusal } from "../../src/persistence/store.ts";

it("the last save of a node reports no failure from before, if everything is saved [interfaces 15]", async () => {
  const log = { warn: () => {} };
  const parts = { log, session: { isValid: true }, store: { connection: { isUp: true } } };
  const saver = new FleetSaver(parts as never);
  saver.failure = { refusal: new StoreRefusal("unreachable", "no answer"), since: 0 };
  expect(await saver.saveAll()).toBe(true);
});
