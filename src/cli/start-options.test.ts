import { describe, expect, it } from "vitest";
import { readStartOptions, toToken } from "./start-options.ts";

describe("start --delay", () => {
  it.each([
    ["200ms", "200ms"],
    ["1ms/3ms", { p50: "1ms", p99: "3ms" }],
  ])("takes %s [interfaces 11]", async (delay, wanted) => {
    expect((await readStartOptions({ json: false, delay })).server.delay).toEqual(wanted);
  });

  it("a p99 that is shorter than the p50 is named as the mistake [interfaces 11]", async () => {
    const start = readStartOptions({ json: false, delay: "2s/1s" });
    await expect(start).rejects.toThrow("--delay 2s/1s has a p99 that is shorter than its p50");
  });
});

describe("start --host", () => {
  it.each([
    [undefined, []],
    ["localhost", []],
    ["0.0.0.0", []],
    ["[::]", []],
    ["10.0.0.5", ["10.0.0.5"]],
    ["sandbox.example.test", ["sandbox.example.test"]],
    ["fe80::1%eth0", ["fe80::1"]],
  ])("a server bound to %s accepts that name [interfaces 7]", async (host, own) => {
    const flags = { json: false, shared: true, host, "allow-host": ["box.test"] };
    const { server } = await readStartOptions(flags);
    expect(server.allowHosts).toEqual([...own, "box.test"]);
  });
});

it("a generated token can be given as an option's value [interfaces 7]", () => {
  const tokens = Array.from({ length: 256 }, (_, first) => toToken(Buffer.from([first, 0xfb, 0xff])));
  expect(new Set(tokens.map((token) => token[0])).size).toBe(63);
  for (const token of tokens) expect(token).toMatch(/^\w[\w-]{3}$/);
});
