import { describe, expect, it } from "vitest";
import { readStartOptions } from "./start-options.ts";

describe("interfaces 11 start --delay", () => {
  it.each([
    ["200ms", "200ms"],
    ["1ms/3ms", { p50: "1ms", p99: "3ms" }],
  ])("interfaces 11 takes %s", async (delay, wanted) => {
    expect((await readStartOptions({ json: false, delay })).server.delay).toEqual(wanted);
  });
});
