import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStartOptions } from "../../src/cli/start-options.ts";
import { connect } from "../../src/client/connect.ts";
import { type Api, startReference } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

let api: Api;
let port: number;
beforeAll(async () => {
  api = await startReference();
  // The first label of such a name is the name of a sandbox (interfaces 16).
  await api.call(undefined, "POST", "/_control/sandboxes", { name: "tenant" });
  port = Number(new URL(api.url).port);
});
afterAll(() => api.close());

const LOCAL = ["tenant.localhost", "a.b.localhost", "Tenant.LocalHost", "localhost.", "tenant.localhost."];
const FOREIGN = ["localhost.evil.test", "evillocalhost", "localhost.test"];

const get = (path: string, ...headers: string[]) =>
  sendRawRequest(port, [`GET ${path} HTTP/1.1`, ...headers, "Connection: close"]);

const PATHS = ["/v1/models", "/_control/health", "/_control/sandboxes/default/live", "/_console/"];

describe("a page at a name below localhost", () => {
  it.each(LOCAL)("may call the API and the control API: %s [RFC 6761 6.3]", async (name) => {
    const origin = `http://${name.toLowerCase()}:5173`;
    for (const path of PATHS.slice(0, 2)) {
      const { headers } = await get(path, "Host: localhost", `Origin: ${origin}`);
      expect(headers["access-control-allow-origin"]).toBe(origin);
      const preflight = await sendRawRequest(port, [
        `OPTIONS ${path} HTTP/1.1`,
        "Host: localhost",
        `Origin: ${origin}`,
        "Access-Control-Request-Method: GET",
        "Connection: close",
      ]);
      expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, origin]);
    }
  });

  it.each(LOCAL)("may use the server's own name %s, also in a browser", async (name) => {
    for (const path of PATHS) {
      const { status } = await get(path, `Host: ${name}:${port}`, "User-Agent: Mozilla/5.0");
      const unauthorized = name.startsWith("a.b.") ? 404 : 401;
      expect([path, status]).toEqual([path, path === "/v1/models" ? unauthorized : 200]);
    }
  });

  it.each(FOREIGN)("is foreign as %s", async (name) => {
    const { headers } = await get("/v1/models", "Host: localhost", `Origin: http://${name}`);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    for (const path of PATHS)
      expect((await get(path, `Host: ${name}`, "User-Agent: Mozilla/5.0")).status).toBe(403);
  });
});

describe("a name below localhost", () => {
  it("can be bound without --shared", async () => {
    expect((await readStartOptions({ host: "tenant.localhost" } as never)).host).toBe("tenant.localhost");
    await expect(readStartOptions({ host: "tenant.test" } as never)).rejects.toThrow("is not loopback");
  });

  it("leads the library to the server with any resolver", async () => {
    const { port: bound } = new URL(api.url);
    expect(await connect(`http://tenant.localhost:${bound}`).health()).toMatchObject({ status: "ok" });
  });

  it("is not called by the webhooks of a shared server", async () => {
    const shared = await startReference({ shared: { token: "a-token-of-a-test" } });
    const hook = { url: `http://tenant.localhost:${port}/hook`, events: ["user.created"] };
    const { body } = await shared.call("ada", "POST", "/webhooks", hook);
    const { webhook_id } = body.data;
    const test = await shared.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    expect(test.body.data).toMatchObject({ status: "failed", response_code: 0 });
    await shared.close();
  });
});
