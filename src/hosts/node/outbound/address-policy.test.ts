import { once } from "node:events";
import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { createOutbound, type Outbound } from "./outbound.ts";
import type { Lookup, ResolvedAddress } from "./resolve-target.ts";

const LOOPBACK_SPELLINGS = [
  ...["127.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "2130706433", "0x7f000001", "0X7F000001", "0x7f.1"],
  ...["0x7f.0.0.1", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "0177.1", "0177.0.0.01", "017700000001", "127.0.0.0x1"],
  ...["00000177.0.0.1", "127.0x0.0.1", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1"],
  ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "localhost", "LocalHost"],
  ...["localhost.", "hook.localhost", "LOCALHOST%2E"],
];

const FORBIDDEN_LITERALS = [
  ...["0.0.0.0", "0", "0x0", "0.1.2.3", "127.0.0.2", "127.255.255.254", "10.0.0.1", "10.1", "167772161"],
  ...["012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1", "0xc0a80001", "3232235521"],
  ...["0300.0250.0.1", "169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "100.64.0.1"],
  ...["100.127.255.255", "168.63.129.16", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1"],
  ...["203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "4294967295"],
  ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::10.0.0.1]", "[fe80::1]", "[febf::1]"],
  ...["[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]"],
  ...["[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::10.0.0.1]"],
  ...["[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2002:c0a8:1::1]", "[2001:0:7f00:1::]", "[2001:db8::1]"],
  ...["[2001:470:1:2::5efe:10.0.0.1]", "[2606:4700::200:5efe:127.0.0.1]", "[100::1]", "[4000::1]"],
];

const PUBLIC_ADDRESSES = [
  ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"],
  ...["128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255", "::ffff:8.8.8.8"],
  ...["2606:4700:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:470:1:2::5efe:808:808"],
];

let cleanup: (() => void)[] = [];
afterEach(() => {
  for (const undo of cleanup) undo();
  cleanup = [];
});

/** Accepts every connection and answers 204, so that the result also shows a connection that was allowed. */
async function startListener(address = "127.0.0.1", wanted = 0) {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
  });
  server.listen(wanted, address);
  await once(server, "listening");
  cleanup.push(() => server.close());
  return { port: (server.address() as net.AddressInfo).port, connections: () => connections };
}

/** Two servers on two addresses with the same port, which is free on both. */
async function startListeners(first: string, second: string) {
  for (;;) {
    const one = await startListener(first);
    const other = await startListener(second, one.port).catch(() => undefined);
    if (other !== undefined) return [one, other] as const;
  }
}

function sender(options: Parameters<typeof createAddressPolicy>[0], lookup?: Lookup): Outbound {
  const outbound = createOutbound({ policy: createAddressPolicy(options), ...(lookup ? { lookup } : {}) });
  cleanup.push(() => outbound.close());
  return outbound;
}

function post(outbound: Outbound, host: string, port: number) {
  const url = `http://${host}:${port}/hook`;
  return outbound.send({ url, method: "POST", headers: {}, body: Buffer.from("{}"), timeoutMs: 5000 });
}

const at = (...addresses: string[]): ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }));

const noLookup: Lookup = (hostname) => Promise.reject(new Error(`${hostname} was looked up`));

describe("the address policy", () => {
  it("forbids every spelling of a private address in shared mode, and allows them in local mode [interfaces 7]", async () => {
    const canary = await startListener();
    const local = sender({ mode: "local" }, noLookup);
    const shared = sender({ mode: "shared" }, noLookup);
    const spellings = [...LOOPBACK_SPELLINGS, ...FORBIDDEN_LITERALS];
    expect(new Set(spellings).size).toBeGreaterThanOrEqual(60);
    for (const host of spellings) {
      const result = await post(shared, host, canary.port);
      expect([host, result.response_code, result.error?.kind]).toEqual([host, 0, "forbidden_address"]);
    }
    expect(canary.connections()).toBe(0);
    for (const host of LOOPBACK_SPELLINGS) {
      expect([host, (await post(local, host, canary.port)).response_code]).toEqual([host, 204]);
    }
    expect(canary.connections()).toBe(LOOPBACK_SPELLINGS.length);
  });

  it("allows public addresses in shared mode, also inside IPv6 forms [interfaces 7]", () => {
    const policy = createAddressPolicy({ mode: "shared" });
    for (const address of PUBLIC_ADDRESSES) {
      expect([address, policy.findRefusal(address)]).toEqual([address, null]);
    }
    expect(policy.findRefusal("not an address")).toMatch(/not an IP address/);
  });

  it("names the address and its kind when it refuses [interfaces 7]", async () => {
    const shared = sender({ mode: "shared" }, () => Promise.resolve(at("100.64.0.1")));
    expect((await post(shared, "hook.example.test", 80)).error).toEqual({
      kind: "forbidden_address",
      message: "not called: 100.64.0.1 is a carrier grade nat address",
    });
    expect((await post(shared, "[fd00::1]", 80)).error?.message).toContain("is a unique local address");
    expect((await post(shared, "[::]", 80)).error?.message).toContain("is an unspecified address");
    expect((await post(shared, "[::ffff:0:1.1.1.1]", 80)).error?.message).toContain("is an rfc6145 address");
  });

  it("uses the allowed addresses of a name, in any position [interfaces 7]", async () => {
    const [receiver, canary] = await startListeners("127.0.0.2", "127.0.0.1");
    for (const addresses of [
      at("127.0.0.2", "127.0.0.1"),
      at("127.0.0.1", "127.0.0.2"),
      at("127.0.0.2", "::ffff:127.0.0.1"),
      at("::1", "127.0.0.1", "127.0.0.2"),
      at("fe80::1%lo", "127.0.0.2", "127.0.0.1"),
    ]) {
      const shared = sender({ mode: "shared", allow: ["127.0.0.2/32"] }, async () => addresses);
      const result = await post(shared, "several.example.test", receiver.port);
      expect([addresses, result.response_code]).toEqual([addresses, 204]);
    }
    expect(receiver.connections()).toBe(5);
    expect(canary.connections()).toBe(0);
  });

  it("refuses a name if all its addresses are refused, with the reason of the first [interfaces 7]", async () => {
    const canary = await startListener();
    const lookup: Lookup = async () => at("10.0.0.1", "127.0.0.1", "::ffff:127.0.0.1");
    const result = await post(sender({ mode: "shared" }, lookup), "several.example.test", canary.port);
    expect(result.error).toEqual({
      kind: "forbidden_address",
      message: "not called: 10.0.0.1 is a private address",
    });
    expect(canary.connections()).toBe(0);
  });

  it("resolves each name once, so that a thousand changing DNS answers never reach the forbidden address [interfaces 7]", async () => {
    const [receiver, canary] = await startListeners("127.0.0.2", "127.0.0.1");
    const answers = [at("127.0.0.2"), at("127.0.0.1"), at("127.0.0.2", "127.0.0.1"), at("127.0.0.2")];
    let asked = 0;
    // Two successive queries never have the same answer, so a check followed by a second query would fail.
    const lookup: Lookup = async () => answers[asked++ % answers.length]!;
    const shared = sender({ mode: "shared", allow: ["127.0.0.2/32"] }, lookup);
    const codes: number[] = [];
    for (let batch = 0; batch < 20; batch += 1) {
      const sends = Array.from({ length: 50 }, () => post(shared, "flip.example.test", receiver.port));
      for (const result of await Promise.all(sends)) codes.push(result.response_code);
    }
    expect(asked).toBe(1000);
    expect(codes.filter((code) => code === 204)).toHaveLength(750);
    expect(codes.filter((code) => code === 0)).toHaveLength(250);
    expect(receiver.connections()).toBe(750);
    expect(canary.connections()).toBe(0);
  });

  it("allows the ranges given by CIDR, and not their neighbours [interfaces 7]", async () => {
    const canary = await startListener();
    const allowing = sender({ mode: "shared", allow: ["127.0.0.1/32", "fd12::/16"] });
    expect((await post(allowing, "0x7f.1", canary.port)).response_code).toBe(204);
    expect((await post(allowing, "[::ffff:127.0.0.1]", canary.port)).response_code).toBe(204);
    expect((await post(allowing, "127.0.0.2", canary.port)).error?.kind).toBe("forbidden_address");
    const policy = createAddressPolicy({ mode: "shared", allow: ["fd12::/16", "::ffff:10.1.0.0/112"] });
    expect(policy.findRefusal("fd12:3::4")).toBeNull();
    expect(policy.findRefusal("fd13::4")).toMatch(/unique local/);
    expect(policy.findRefusal("10.1.255.1")).toBeNull();
    expect(policy.findRefusal("10.2.0.1")).toMatch(/private/);
    // The gateway would make the connection, not this machine: permission for the inner range is not sufficient.
    expect(policy.findRefusal("64:ff9b::10.1.0.1")).toMatch(/NAT64.*private/);
  });

  it("refuses a range that is not a CIDR, with an example [interfaces 7]", () => {
    for (const range of ["10.0.0.1", "10.0.0.0/33", "example.test/8", ""]) {
      expect(() => createAddressPolicy({ mode: "shared", allow: [range] })).toThrow(/write it as a CIDR/);
    }
  });
});
