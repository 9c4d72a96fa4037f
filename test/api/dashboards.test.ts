import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const revoke = (who: Caller | undefined, link = "slink_board", dashboard = "dsh_revenue") =>
  api.call(who, "DELETE", `/v1/dashboards/${dashboard}/share-links/${link}`);
const resolve = (slug: string) => api.call(undefined, "GET", `/v1/dashboards/shared/${slug}`);

describe("share_links.revoke [4.12]", () => {
  it.each(["cleo", "ben", "ada"] as const)("allows %s: 204 without a body [4.12, G02]", async (who) => {
    const answer = await revoke(who);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(answer.headers.get("x-ratelimit-limit")).toBe("1000");
  });

  it("revokes a slug at once, and a second revocation changes nothing [3.4]", async () => {
    expect((await resolve("revenue-board")).status).toBe(200);
    await revoke("cleo");
    expect((await resolve("revenue-board")).status).toBe(404);
    expect((await resolve("revenue-partner")).status).toBe(200);
    const link = getStateRules(api, "share_links").get("slink_board");
    expect(link).toMatchObject({ status: "revoked", revoked_at: 0 });
    await api.advance(60_000);
    expect((await revoke("cleo")).status).toBe(204);
    expect(getStateRules(api, "share_links").get("slink_board")).toEqual(link);
  });

  it.each([
    [
      "an unknown dashboard",
      "cleo",
      "slink_board",
      "dsh_none",
      404,
      "DASHBOARD_NOT_FOUND",
      { dashboard_id: "dsh_none" },
    ],
    [
      "a stranger",
      "eve",
      "slink_board",
      "dsh_revenue",
      404,
      "DASHBOARD_NOT_FOUND",
      { dashboard_id: "dsh_revenue" },
    ],
    [
      "a stranger, unknown link",
      "eve",
      "slink_none",
      "dsh_revenue",
      404,
      "DASHBOARD_NOT_FOUND",
      { dashboard_id: "dsh_revenue" },
    ],
    [
      "a member without the capability",
      "dan",
      "slink_board",
      "dsh_revenue",
      403,
      "INSUFFICIENT_PERMISSIONS",
      {},
    ],
    [
      "the same with an unknown link",
      "dan",
      "slink_none",
      "dsh_revenue",
      403,
      "INSUFFICIENT_PERMISSIONS",
      {},
    ],
    [
      "an unknown link",
      "cleo",
      "slink_none",
      "dsh_revenue",
      404,
      "RESOURCE_NOT_FOUND",
      { link_id: "slink_none" },
    ],
    [
      "another dashboard's link",
      "cleo",
      "slink_globex",
      "dsh_revenue",
      404,
      "RESOURCE_NOT_FOUND",
      { link_id: "slink_globex" },
    ],
    ["no credentials", undefined, "slink_board", "dsh_revenue", 401, "AUTHENTICATION_REQUIRED", {}],
  ] as const)("refuses %s [4.12, G03]", async (_, who, link, dashboard, status, code, details) => {
    const answer = await revoke(who, link, dashboard);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, details });
    expect((await resolve("revenue-board")).status).toBe(200);
  });

  it("answers 422 to malformed ids [4.12, G08]", async () => {
    const answer = await revoke("cleo", "board");
    expect(answer.body.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { field: "link_id", value: "board" },
    });
  });
});

describe("share_links.resolve [G19]", () => {
  it("needs no credentials and has no rate headers [G19]", async () => {
    const answer = await resolve("revenue-board");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ dashboard_id: "dsh_revenue", title: "Revenue", link_id: "slink_board" });
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect(answer.headers.get("x-ratelimit-limit-requests")).toBeNull();
  });

  it("answers 404 RESOURCE_NOT_FOUND to an unknown slug [G19]", async () => {
    const answer = await resolve("nobody-knows");
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({
      code: "RESOURCE_NOT_FOUND",
      details: { slug: "nobody-knows" },
    });
  });
});

describe("state rules of dashboards and links [interfaces 4]", () => {
  it("the links of a deleted dashboard are deleted [4.12]", async () => {
    getStateRules(api, "dashboards").remove("dsh_revenue");
    expect((await resolve("revenue-board")).status).toBe(404);
    expect(getStateRules(api, "share_links").size()).toBe(1);
    expect((await revoke("cleo")).body.error.code).toBe("DASHBOARD_NOT_FOUND");
  });

  it("a new link resolves until its status is revoked, which sets revoked_at [G19]", async () => {
    const links = getStateRules(api, "share_links");
    const { record } = links.post({ dashboard_id: "dsh_revenue", slug: "fresh-slug" });
    expect((await resolve("fresh-slug")).body.link_id).toBe(record.link_id);
    links.patch(record.link_id, { status: "revoked" });
    expect(links.get(record.link_id).revoked_at).toBe(0);
    expect((await resolve("fresh-slug")).status).toBe(404);
    links.patch(record.link_id, { status: "active" });
    expect(links.get(record.link_id).revoked_at).toBeNull();
  });

  it.each([
    [{ slug: "globex-kpis" }, "slug"],
    [{ dashboard_id: "dsh_none" }, "dashboard_id"],
  ])("a link with %j is refused [interfaces 4]", (fields, field) => {
    expect(() => getStateRules(api, "share_links").post(fields)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", details: expect.objectContaining({ field }) }),
    );
  });
});
