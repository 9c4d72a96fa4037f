import { describe, expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
let count = 0;

/** A sandbox with a rule on a path of its own that requires membership. */
async function createSandbox(match: object) {
  const name = `enc-${++count}`;
  const control = (method: string, path: string, body?: object) =>
    api.call(undefined, method, `/_control/sandboxes/${name}${path}`, body);
  await api.call(undefined, "POST", "/_control/sandboxes", { name });
  const armed = await control("POST", "/faults", { match, effect: { status: 200, body: { own: true } } });
  expect(armed.status, armed.text).toBe(201);
  return { name, control };
}

/** The id with every character as `%XX`, as some clients write the underscore. */
const escapeAll = (id: string) => [...id].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

describe("a percent-encoded id in a path", () => {
  const OWN = { path: "/v1/own/{id}/members" };
  it.each([
    ["org_acme", 200],
    ["org%5Facme", 200],
    [escapeAll("org_acme"), 200],
    ["org%5Fglobex", 403],
    [escapeAll("org_globex"), 403],
  ])("is decoded to check membership of the organization %s [interfaces 11]", async (id, status) => {
    const { name, control } = await createSandbox(OWN);
    const path = `/v1/own/${id}/members`;
    const answer = await api.call("dan", "GET", `/_s/${name}${path}`);
    expect(answer.status).toBe(status);
    const { body } = await control("POST", "/faults/explain", { method: "GET", path, principal: "usr_dan" });
    expect(body.status).toBe(status);
    const organization = id.includes("globex") || id === escapeAll("org_globex") ? "org_globex" : "org_acme";
    expect(answer.headers.get("service-organization")).toBe(organization);
  });

  it.each([
    [{ path: "/v1/own/org_acme/members" }, "/v1/own/org%5facme/members"],
    [{ path: "/v1/own/org%5Facme/members" }, "/v1/own/org_acme/members"],
    [{ path: "/v1/own/*/a@b" }, "/v1/own/org_acme/a%40b"],
    [{ path: "/v1/own/%2A" }, "/v1/own/*"],
    [{ path: "/v1/own/{a%2Cb,c}" }, "/v1/own/a,b"],
    [{ path: "/v1/own/a%2fb" }, "/v1/own/a%2Fb"],
    [{ organization: "org_globex", path: "/v1/own/**" }, "/v1/own/org%5Fglobex"],
  ])("is decoded for rule %j and matches %s [interfaces 6]", async (match, path) => {
    const { name, control } = await createSandbox(match);
    const who = path.includes("globex") ? "eve" : "dan";
    expect((await api.call(who, "GET", `/_s/${name}${path}`)).status).toBe(200);
    const other = await api.call(who, "GET", `/_s/${name}/v1/other/x%2Fy`);
    expect(other.status).toBe(404);
    const count = async (pattern: string) =>
      (await control("POST", "/journal/verify", { match: { path: pattern }, count: 1 })).body;
    expect(await count(match.path)).toMatchObject({ ok: true });
    expect(await count(path.replace("*", "\\*"))).toMatchObject({ ok: true });
    // The journal has the path as it was sent.
    const { entries } = (await control("GET", `/journal?path=${encodeURIComponent(match.path)}`)).body;
    expect(entries[0].path).toBe(path);
  });

  it("is decoded for the path of a rule with an operation [interfaces 6]", async () => {
    const { name, control } = await createSandbox({ path: "/v1/own" });
    await control("POST", "/faults", {
      match: { operation: "threads.delete", path: "/v1/threads/thread%5Fada" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    expect((await api.call("ada", "DELETE", `/_s/${name}/v1/threads/%74hread_ada`)).status).toBe(429);
  });

  it("is decoded in a sandbox's prefix and in control calls [interfaces 3, 4]", async () => {
    const { name, control } = await createSandbox(OWN);
    const encoded = name.replace("-", "%2D");
    expect((await api.call("dan", "GET", `/_s/${encoded}/v1/own/org_acme/members`)).status).toBe(200);
    const callControl = (method: string, path: string, body?: object) =>
      api.call(undefined, method, `/_control/sandboxes/${encoded}${path}`, body);
    expect((await callControl("POST", "/clock/advance", { by: "1m" })).status).toBe(200);
    const { steps } = (await control("POST", "/bundle")).body;
    expect(steps.at(-1).control.path).toBe("/clock/advance");
    const receiver = (await callControl("POST", "/receivers", {})).body;
    const url = receiver.url.replace(name, encoded).replace("rcv_", "rcv%5F");
    expect((await fetch(url, { method: "POST" })).status).toBe(200);
  });
});
