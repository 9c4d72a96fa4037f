import { request } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { formatBanner } from "../../src/cli/start-server.ts";
import type { Understudy } from "../../src/control/understudy-options.ts";
import { assemble } from "../../src/understudy.ts";

const token = "a-control-token-of-this-test";
const headers = { authorization: `Bearer ${token}` };

describe("a server on every address of its machine", () => {
  let understudy: Understudy;
  afterEach(() => understudy.close());

  // The server refuses requests whose Host is the address that it is bound to with 403.
  it.each([
    ["0.0.0.0", /^http:\/\/127\.0\.0\.1:\d+$/],
    ["::", /^http:\/\/\[::1\]:\d+$/],
  ])(
    "says for %s where it can be reached, console and control API too [interfaces 7]",
    async (host, expected) => {
      understudy = assemble({
        fixture: "reference",
        shared: { token },
        allowHosts: ["box.test"],
      });
      const url = await understudy.listen(0, host);
      expect(url).toMatch(expected);
      expect((await fetch(`${url}/_console`)).status).toBe(200);
      expect((await fetch(`${url}/_control/health`, { headers })).status).toBe(200);
      const banner = formatBanner(
        understudy,
        { url, console: `${url}/_console`, pid: 1, token },
        { allowHosts: ["box.test"] },
      );
      expect(banner).toContain(`  Log in   ${url}/_console#login=`);
      expect(banner).toContain("  Also as  box.test\n");
      expect(banner).not.toContain(host === "::" ? "[::]" : host);
    },
  );

  it("gives a sandbox an origin that answers, also to a caller by the name of another sandbox [interfaces 16]", async () => {
    understudy = assemble({ fixture: "reference", shared: { token } });
    const url = new URL(await understudy.listen(0, "0.0.0.0"));
    const post = request(new URL("/_control/sandboxes", url), {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", host: `orders.localhost:${url.port}` },
    });
    const answer = new Promise<Awaited<ReturnType<typeof json>>>((resolve, reject) => {
      post.once("response", (response) => json(response).then(resolve, reject));
    });
    post.end(JSON.stringify({ name: "billing", origin: true }));
    const { origin } = (await answer) as { origin: string };
    expect(origin).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await fetch(`${origin.replace("localhost", "127.0.0.1")}/v1/models`)).status).toBe(401);
  });

  it("names no other addresses if none is allowed, or if the value is the address itself [interfaces 7]", async () => {
    understudy = assemble({ fixture: "reference", shared: { token } });
    const url = await understudy.listen(0, "127.0.0.1");
    const ready = { url, console: `${url}/_console`, pid: 1, token };
    expect(formatBanner(understudy, ready)).not.toContain("Also as");
    expect(formatBanner(understudy, ready, { allowHosts: ["127.0.0.1"] })).not.toContain("Also as");
    const named = { ...ready, url: "http://api.box.test:4747" };
    expect(formatBanner(understudy, named, { allowHosts: ["box.test"] })).toContain("Also as  box.test\n");
    expect(formatBanner(understudy, named, { publicUrl: named.url })).not.toContain("Also as");
    const atAddress = { ...ready, url: "http://[fd00::1]:4747" };
    expect(formatBanner(understudy, atAddress, { allowHosts: ["fd00::1"] })).not.toContain("Also as");
  });

  it("shows a call whose caller may make it [interfaces 2]", async () => {
    const users = [
      { id: "usr_ada", account: "suspended" },
      { id: "usr_ben", memberships: { org_acme: null } },
    ];
    understudy = assemble({ fixture: { extends: "reference", users } as never });
    const url = await understudy.listen(0, "127.0.0.1");
    const banner = formatBanner(understudy, { url, console: `${url}/_console`, pid: 1, token: null });
    const [, key, call] = /curl -s -H 'api-key: (\w+)' (\S+)/.exec(banner)!;
    expect((await fetch(call!, { headers: { "api-key": key! } })).status).toBe(200);
  });
});
