import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { replayBundle } from "../../src/client/replay/replay-bundle.ts";
import type { UnderstudyOptions } from "../../src/control/understudy-options.ts";
import type { Bundle } from "../../src/tools/bundle/bundle.ts";
import { type Api, startReference } from "../support/harness.ts";

const token = "a-control-token-of-this-test";
const folder = mkdtempSync(join(tmpdir(), "understudy-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open: Api[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

async function start(options: UnderstudyOptions): Promise<Api> {
  const api = await startReference(options);
  open.push(api);
  return api;
}

/** Collects the secrets that a sandbox issues, in the same order on each server. */
async function collectSecrets(api: Api) {
  const grant = await api.call("dan", "POST", "/v1/auth/token");
  const hook = await api.call("ada", "POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["user.updated"],
  });
  const place = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", {
    filename: "a.txt",
    file_size: 3,
    mime_type: "text/plain",
  });
  return {
    access: grant.body.access_token as string,
    refresh: grant.body.refresh_token as string,
    hook: JSON.stringify(hook.body).match(/whsec_[\w-]+/)![0],
    upload: new URL(place.body.upload_url).pathname + new URL(place.body.upload_url).search,
    statuses: [grant.status, hook.status, place.status],
  };
}

const shared = { shared: { token } };
const asBearer = (api: Api, access: string) =>
  api.call(undefined, "GET", "/v1/models", undefined, { authorization: `Bearer ${access}` });

describe("secrets of a shared server", () => {
  it("cannot be derived from fixture, seed and name, which are public [interfaces 7]", async () => {
    const mine = await start({});
    const theirs = await start(shared);
    const [forged, real] = [await collectSecrets(mine), await collectSecrets(theirs)];
    expect(real.statuses).toEqual(forged.statuses);
    for (const kind of ["access", "refresh", "hook", "upload"] as const) {
      expect([kind, real[kind]]).not.toEqual([kind, forged[kind]]);
    }
    expect((await asBearer(theirs, real.access)).status).toBe(200);
    expect((await asBearer(theirs, forged.access)).status).toBe(401);
    const other = await collectSecrets(await start(shared));
    expect(other.access).not.toBe(real.access);
    expect(other.hook).not.toBe(real.hook);
  });

  it("depend only on seed, name and resets if the server is local [interfaces 5]", async () => {
    expect(await collectSecrets(await start({}))).toEqual(await collectSecrets(await start({})));
  });

  it("do not affect what the seed decides [interfaces 7]", async () => {
    const ask = async (api: Api) =>
      (
        await api.call("ada", "POST", "/v1/organizations/org_acme/departments/dept_ml/reparent", {
          new_parent_id: "dept_ops",
        })
      ).text;
    expect(await ask(await start(shared))).toBe(await ask(await start({})));
  });

  it("stay the same when the server is restarted with its worlds [interfaces 2]", async () => {
    const persist = { folder: join(folder, "kept") };
    const first = await start({ ...shared, persist });
    const { access } = await collectSecrets(first);
    await first.close();
    open.length = 0;
    const second = await start({ ...shared, persist });
    expect((await asBearer(second, access)).status).toBe(200);
    const reset = await second.call(undefined, "POST", "/_control/sandboxes/default/reset", undefined, {
      authorization: `Bearer ${token}`,
    });
    expect(reset.status).toBe(200);
    expect((await asBearer(second, access)).status).toBe(401);
  });

  it("are not in a bundle, which replays without them [interfaces 2]", async () => {
    const api = await start(shared);
    const secrets = await collectSecrets(api);
    await asBearer(api, secrets.access);
    await api.call(undefined, "PUT", secrets.upload, "abc", { "content-type": "text/plain" });
    await api.call(undefined, "POST", "/v1/auth/refresh", { refresh_token: secrets.refresh });
    const { body } = await api.call(undefined, "POST", "/_control/sandboxes/default/bundle", undefined, {
      authorization: `Bearer ${token}`,
    });
    const text = JSON.stringify(body);
    for (const secret of [secrets.access, secrets.refresh, secrets.hook]) expect(text).not.toContain(secret);
    expect(await replayBundle(body as Bundle)).toEqual({ requests: 6, control_calls: 0 });
  });
});

describe("a control token", () => {
  it.each([
    ["fifteen-letters", "at least 16 characters"],
    ["", "at least 16 characters"],
    ["a token with spaces in it", "printable ASCII"],
    ["ein-schlüssel-mit-umlaut", "printable ASCII"],
  ])("is refused as %j [interfaces 7]", async (short, why) => {
    await expect(startReference({ shared: { token: short } })).rejects.toThrow(why);
  });

  it("may have sixteen characters [interfaces 7]", async () => {
    const api = await start({ shared: { token: "exactly-16-chars" } });
    const headers = { authorization: "Bearer exactly-16-chars" };
    expect((await api.call(undefined, "GET", "/_control/health", undefined, headers)).status).toBe(200);
  });
});
