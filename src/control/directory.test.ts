import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Site } from "../engine/pipeline/plain-http.ts";
import { createSendToSelf } from "../hosts/node/send-to-self.ts";
import { LocalDirectory, type SandboxDirectory } from "./directory.ts";
import { formatMetrics } from "./metrics.ts";
import type { ControlServer } from "./operation.ts";
import { Problem } from "./problem.ts";
import { listSandboxes, RemoteSandbox, requireNamedSandbox } from "./remote-sandbox.ts";

/** The node that owns the other sandbox. */
let owner: Server;
let heard: { line: string; headers: IncomingMessage["rawHeaders"]; body: string } | undefined;
let answers: { status: number; body: string };
let server: ControlServer;
beforeAll(async () => {
  owner = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    heard = { line: `${request.method} ${request.url}`, headers: request.rawHeaders, body };
    response.writeHead(answers.status, { Date: "now", Connection: "close" }).end(answers.body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => owner.once("listening", resolve));
  const { port } = owner.address() as AddressInfo;
  server = { sendToSelf: createSendToSelf(() => ({ host: "127.0.0.1", port })) } as ControlServer;
});
afterAll(() => owner.close());

const caller = {
  host: "any.example.test:1",
  authorization: "Bearer a-token-of-tests",
  cookie: "not passed on",
};
const makeRemote = () => new RemoteSandbox("there", server, caller);

describe("a sandbox that another node owns [interfaces 15]", () => {
  it("gets the call with the host and token of its client [interfaces 15]", async () => {
    answers = { status: 200, body: '{"id":"r"}' };
    expect(await makeRemote().call("POST", "/faults", { id: "r" })).toEqual({ id: "r" });
    expect(heard).toEqual({
      line: "POST /_control/sandboxes/there/faults",
      headers: [
        ...["host", "any.example.test:1", "authorization", "Bearer a-token-of-tests"],
        ...["content-type", "application/json", "Content-Length", "10", "Connection", "close"],
      ],
      body: '{"id":"r"}',
    });
  });

  it("is called without body and token if there is none, and an empty answer is undefined [interfaces 15]", async () => {
    answers = { status: 204, body: "" };
    const anonymous = new RemoteSandbox("there", server, { host: "x" });
    expect(await anonymous.call("DELETE", "/faults/r")).toBeUndefined();
    expect(heard).toMatchObject({
      line: "DELETE /_control/sandboxes/there/faults/r",
      headers: ["host", "x", "content-type", "application/json", "Connection", "close"],
    });
  });

  it("answers with the refusal of its owner [interfaces 15]", async () => {
    const problem = {
      ...{ type: "urn:understudy:problem:unknown-snapshot", title: "Unknown snapshot", status: 404 },
      ...{ detail: "There is no snapshot.", value: "x" },
    };
    answers = { status: 400, body: JSON.stringify(problem) };
    const refused = await makeRemote()
      .call("GET", "/snapshots/x")
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Problem);
    expect((refused as Problem).body).toEqual(problem);
    expect((refused as Problem).kind).toBe("unknown-snapshot");
  });

  it("fails the call if its owner cannot be reached [interfaces 15]", async () => {
    const unreachable = {
      sendToSelf: createSendToSelf(() => ({ host: "127.0.0.1", port: 1 })),
    } as ControlServer;
    await expect(new RemoteSandbox("there", unreachable, {}).call("GET", "")).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a sandbox that a call names [interfaces 15]", () => {
  const here = { name: "here" };
  const sandboxes = { get: (name: string) => (name === "here" ? here : undefined), all: () => [here] };
  const directory = {
    find: async (name: string) => sandboxes.get(name),
    listNames: async () => ["here", "there"],
  };
  const requireNamed = (name: string, more: object = directory) =>
    requireNamedSandbox(
      { server: { sandboxes, directory: more } as unknown as ControlServer, headers: {} },
      name,
      "of",
    );

  it("is found at this node or another one, or refused with the nearest name [interfaces 15]", async () => {
    expect(await requireNamed("here")).toBe(here);
    const there = await requireNamed("there");
    expect([there instanceof RemoteSandbox, there.name]).toEqual([true, "there"]);
    await expect(requireNamed("ther")).rejects.toThrow(
      'of must be the name of a sandbox of this server. Did you mean "there"?',
    );
  });

  it("is found or refused by a server that runs alone [interfaces 11]", async () => {
    const local = new LocalDirectory(sandboxes as never);
    expect(await requireNamed("here", local)).toBe(here);
    await expect(requireNamed("there", local)).rejects.toThrow(
      "of must be the name of a sandbox of this server.",
    );
    await expect(requireNamed("hree", local)).rejects.toThrow('Did you mean "here"?');
  });
});

describe("the list of sandboxes of a fleet [interfaces 15]", () => {
  const makeShown = (name: string) => ({
    ...{ name, fixture: "reference", seed: 1, settings: {}, created_at: 0 },
    faults: { rules: { scenarios: [] } },
    world: {
      catchUp: () => {},
      epochNow: () => 0,
      clock: { mode: "real", rate: 1 },
      root: { tables: { all: () => [] } },
    },
  });
  const list = async (more: Partial<SandboxDirectory>) => {
    const asked: string[] = [];
    const directory = {
      isForwarded: () => false,
      listNames: async () => ["free", "theirs", "own", "gone"],
      askOtherNodes: async (path: string) => {
        asked.push(path);
        return [{ items: [{ name: "theirs" }, { name: "unlisted" }] }];
      },
      find: async (name: string) => {
        asked.push(name);
        return name === "free" ? makeShown(name) : undefined;
      },
      ...more,
    } as unknown as SandboxDirectory;
    const sandboxes = { all: () => [makeShown("own")] };
    const call = {
      server: { sandboxes, directory } as unknown as ControlServer,
      site: { baseUrl: () => "http://x", findOrigin: () => null } as unknown as Site,
      headers: {},
    };
    return { names: (await listSandboxes(call)).map(({ name }) => name), asked };
  };

  it("contains the sandboxes of all nodes in order of creation, and takes over those without an owner [interfaces 15]", async () => {
    expect(await list({})).toEqual({
      names: ["free", "theirs", "own"],
      asked: ["/_control/sandboxes", "free", "gone"],
    });
  });

  it("contains only this node's sandboxes if another node asks [interfaces 15]", async () => {
    expect(await list({ isForwarded: () => true })).toEqual({ names: ["own"], asked: [] });
  });

  it("takes over at most sixteen sandboxes at a time [interfaces 15]", async () => {
    let most = 0;
    let now = 0;
    const names = Array.from({ length: 40 }, (_, i) => `free-${i}`);
    const { names: listed } = await list({
      listNames: async () => names,
      find: async (name) => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now -= 1;
        return makeShown(name) as never;
      },
    });
    expect([listed, most]).toEqual([names, 16]);
  });

  it.each([
    ["held", 1],
    ["lost", 0],
  ] as const)(
    "the metrics of a fleet count the sandboxes of a node whose lease is %s [interfaces 15]",
    (lease, held) => {
      const figures = { node: "http://n", lease, owned: 2, proxied: 3, taken_over: 4, fenced: 5 };
      const text = formatMetrics({
        ...{ sandboxes: { all: () => [], size: 0 }, startedAt: 0, version: '1"\\\n' },
        ...{ requestCounter: { rows: () => [] }, directory: { getFigures: () => figures } },
      } as unknown as ControlServer);
      expect(text).toContain('understudy_info{version="1\\"\\\\\\n"} 1\n');
      expect(text.slice(text.indexOf("# HELP understudy_fleet"))).toBe(
        [
          "# HELP understudy_fleet_lease_held 1 while this node may own sandboxes.",
          "# TYPE understudy_fleet_lease_held gauge",
          `understudy_fleet_lease_held ${held}`,
          "# HELP understudy_fleet_owned Sandboxes that this node owns.",
          "# TYPE understudy_fleet_owned gauge",
          "understudy_fleet_owned 2",
          "# HELP understudy_fleet_proxied_total Requests proxied to other nodes.",
          "# TYPE understudy_fleet_proxied_total counter",
          "understudy_fleet_proxied_total 3",
          "# HELP understudy_fleet_taken_over_total Sandboxes taken over.",
          "# TYPE understudy_fleet_taken_over_total counter",
          "understudy_fleet_taken_over_total 4",
          "# HELP understudy_fleet_fenced_total Sandboxes lost to other nodes.",
          "# TYPE understudy_fleet_fenced_total counter",
          "understudy_fleet_fenced_total 5",
          "",
        ].join("\n"),
      );
    },
  );
});
