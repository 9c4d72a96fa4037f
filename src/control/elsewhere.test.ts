import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Elsewhere } from "./elsewhere.ts";
import { listFleet } from "./fleet-list.ts";
import { metricsText } from "./metrics.ts";
import type { ControlFleet, ControlServer } from "./operation.ts";
import { Problem } from "./problem.ts";
import { sandboxNamed } from "./sandbox-named.ts";

/** The node that owns the other sandbox, as far as these calls see it. */
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
  server = { address: () => ({ host: "127.0.0.1", port }) } as ControlServer;
});
afterAll(() => owner.close());

const caller = {
  host: "any.example.test:1",
  authorization: "Bearer a-token-of-tests",
  cookie: "not passed on",
};
const elsewhere = () => new Elsewhere("there", server, caller);

describe("interfaces 15 a sandbox that another node owns", () => {
  it("interfaces 15 is asked as its client asked, in that client's name", async () => {
    answers = { status: 200, body: '{"id":"r"}' };
    expect(await elsewhere().call("POST", "/faults", { id: "r" })).toEqual({ id: "r" });
    expect(heard).toEqual({
      line: "POST /_control/sandboxes/there/faults",
      headers: [
        ...["host", "any.example.test:1", "authorization", "Bearer a-token-of-tests"],
        ...["content-type", "application/json", "Content-Length", "10", "Connection", "close"],
      ],
      body: '{"id":"r"}',
    });
  });

  it("interfaces 15 sends no body and no token where there is none, and knows an empty answer", async () => {
    answers = { status: 204, body: "" };
    const anonymous = new Elsewhere("there", server, { host: "x" });
    expect(await anonymous.call("DELETE", "/faults/r")).toBeUndefined();
    expect(heard).toMatchObject({
      line: "DELETE /_control/sandboxes/there/faults/r",
      headers: ["host", "x", "content-type", "application/json", "Connection", "close"],
    });
  });

  it("interfaces 15 refuses as its owner does", async () => {
    const problem = {
      ...{ type: "urn:understudy:problem:unknown-snapshot", title: "Unknown snapshot", status: 404 },
      ...{ detail: "There is no snapshot.", value: "x" },
    };
    answers = { status: 400, body: JSON.stringify(problem) };
    const refused = await elsewhere()
      .call("GET", "/snapshots/x")
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Problem);
    expect((refused as Problem).body).toEqual(problem);
    expect((refused as Problem).kind).toBe("unknown-snapshot");
  });

  it("interfaces 15 tells when the owner is not to be reached", async () => {
    const nobody = { address: () => ({ host: "127.0.0.1", port: 1 }) } as ControlServer;
    await expect(new Elsewhere("there", nobody, {}).call("GET", "")).rejects.toThrow("ECONNREFUSED");
  });
});

describe("interfaces 15 a sandbox that a call names", () => {
  const here = { name: "here" };
  const sandboxes = { get: (name: string) => (name === "here" ? here : undefined), all: () => [here] };
  const fleet = { find: async (name: string) => sandboxes.get(name), names: async () => ["here", "there"] };
  const named = (name: string, more: object = { fleet }) =>
    sandboxNamed({ server: { sandboxes, ...more } as unknown as ControlServer, headers: {} }, name, "of");

  it("interfaces 15 may be this node's, another's, or nobody's", async () => {
    expect(await named("here")).toBe(here);
    const there = await named("there");
    expect([there instanceof Elsewhere, there.name]).toEqual([true, "there"]);
    await expect(named("ther")).rejects.toThrow(
      'of must be the name of a sandbox of this server. Did you mean "there"?',
    );
  });

  it("interfaces 11 where the server stands alone, it knows its own", async () => {
    expect(await named("here", {})).toBe(here);
    await expect(named("there", {})).rejects.toThrow("of must be the name of a sandbox of this server.");
    await expect(named("hree", {})).rejects.toThrow('Did you mean "here"?');
  });
});

describe("interfaces 15 what a fleet shows", () => {
  const shown = (name: string) => ({
    ...{ name, fixture: "reference", seed: 1, settings: {}, created_at: 0, faults: { scenarios: [] } },
    world: {
      catchUp: () => {},
      epochNow: () => 0,
      clock: { mode: "real", rate: 1 },
      root: { tables: { all: () => [] } },
    },
  });
  const list = async (more: Partial<ControlFleet>) => {
    const asked: string[] = [];
    const fleet = {
      isPassedOn: () => false,
      names: async () => ["free", "theirs", "own", "gone"],
      askOthers: async (path: string) => {
        asked.push(path);
        return [{ items: [{ name: "theirs" }, { name: "unlisted" }] }];
      },
      find: async (name: string) => {
        asked.push(name);
        return name === "free" ? shown(name) : undefined;
      },
      ...more,
    } as unknown as ControlFleet;
    const sandboxes = { all: () => [shown("own")] };
    const call = { server: { sandboxes } as unknown as ControlServer, origin: "http://x", headers: {} };
    return { names: (await listFleet(fleet, call)).map(({ name }) => name), asked };
  };

  it("interfaces 15 sandboxes of all nodes in order of creation, those that nobody owns taken over", async () => {
    expect(await list({})).toEqual({
      names: ["free", "theirs", "own"],
      asked: ["/_control/sandboxes", "free", "gone"],
    });
  });

  it("interfaces 15 to another node its own alone", async () => {
    expect(await list({ isPassedOn: () => true })).toEqual({ names: ["own"], asked: [] });
  });

  it("interfaces 15 many that nobody owns are taken over sixteen at a time", async () => {
    let most = 0;
    let now = 0;
    const names = Array.from({ length: 40 }, (_, i) => `free-${i}`);
    const { names: listed } = await list({
      names: async () => names,
      find: async (name) => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now -= 1;
        return shown(name) as never;
      },
    });
    expect([listed, most]).toEqual([names, 16]);
  });

  it.each([
    ["held", 1],
    ["lost", 0],
  ] as const)("interfaces 15 figures of a node whose lease is %s", (lease, held) => {
    const figures = { node: "http://n", lease, owned: 2, passed_on: 3, taken_over: 4, fenced: 5 };
    const text = metricsText({
      ...{ sandboxes: { all: () => [], size: 0 }, started: 0, version: '1"\\\n' },
      ...{ tally: { rows: () => [] }, fleet: { figures: () => figures } },
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
        "# HELP understudy_fleet_passed_on_total Requests passed on to other nodes.",
        "# TYPE understudy_fleet_passed_on_total counter",
        "understudy_fleet_passed_on_total 3",
        "# HELP understudy_fleet_taken_over_total Sandboxes taken over.",
        "# TYPE understudy_fleet_taken_over_total counter",
        "understudy_fleet_taken_over_total 4",
        "# HELP understudy_fleet_fenced_total Sandboxes taken away.",
        "# TYPE understudy_fleet_fenced_total counter",
        "understudy_fleet_fenced_total 5",
        "",
      ].join("\n"),
    );
  });
});
