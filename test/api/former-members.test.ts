import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listErrorCodes } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { type Api, type ApiResponse, startReference } from "../support/harness.ts";
import { FreshWorld } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference({ settings: { preview: "on" } });
});
afterAll(() => api.close());

/** Reads the code in any of the envelopes. */
function readCode({ status, body }: ApiResponse): string {
  return `${status} ${body?.error?.code ?? body?.error_type ?? ""}`;
}

/** Operations without an organization: they need no caller, or concern the caller's own credentials. */
const WITHOUT_ORGANIZATION = ["users.set_current_organization", "auth.create_token", "auth.refresh_token"];
const ACTING = API.operations.filter(
  ({ id, credentials }) => credentials !== false && !WITHOUT_ORGANIZATION.includes(id),
);

async function leave(world: FreshWorld, who: string): Promise<void> {
  await world.control("PATCH", `/state/users/usr_${who}?silent=true`, { memberships: {}, capabilities: {} });
}

describe("a former member", () => {
  it.each(ACTING.map((operation) => [operation.id, operation] as const))(
    "is refused by %s as a non-member, and changes nothing [G37]",
    async (id, operation) => {
      const world = await FreshWorld.create(api, { preview: "on" });
      const good = await RECIPES[id]!.find(({ status }) => status < 300)!.request(world);
      const stranger = await world.call(operation.path, operation.method, { ...good, who: "eve" });
      await leave(world, good.who!);
      const { root } = api.understudy.sandboxes.get(world.name)!.world;
      const refused = await world.call(operation.path, operation.method, good);
      const said = listErrorCodes(operation).includes("ORGANIZATION_ACCESS_DENIED");
      expect(readCode(refused)).toBe(said ? "403 ORGANIZATION_ACCESS_DENIED" : readCode(stranger));
      expect(api.understudy.sandboxes.get(world.name)!.world.root).toBe(root);
      await world.delete();
    },
  );

  it("can still use the key and an access token in another organization [G37, 4.5]", async () => {
    const world = await FreshWorld.create(api);
    const { body: grant } = await world.call("/v1/auth/token", "POST", { who: "ada" });
    await world.control("PATCH", "/state/users/usr_ada", { memberships: { org_initech: "admin" } });
    const bearer = { headers: { authorization: `Bearer ${grant.access_token}` } };
    const listModels = (sent: object) => world.call("/v1/models", "GET", sent);
    for (const sent of [{ who: "ada" }, bearer]) {
      const refused = await listModels(sent);
      expect(readCode(refused)).toBe("403 ORGANIZATION_ACCESS_DENIED");
      expect(refused.body.error.details).toEqual({ organization_id: "org_acme" });
      expect(refused.body.error.system_message).toContain("/v1/user/current-organization");
    }
    const path = "/v1/user/current-organization";
    const back = await world.call(path, "PUT", { ...bearer, body: { organization_id: "org_acme" } });
    expect(back.status).toBe(403);
    const on = await world.call(path, "PUT", { ...bearer, body: { organization_id: "org_initech" } });
    expect(on.status).toBe(200);
    for (const sent of [{ who: "ada" }, bearer]) expect((await listModels(sent)).status).toBe(200);
    await world.delete();
  });

  it("is still named in the objects that are left [G37]", async () => {
    const world = await FreshWorld.create(api);
    await world.control("DELETE", "/state/users/usr_dan?silent=true");
    const { body } = await world.control("GET", "/state/threads/thread_long");
    expect(body.owner_id).toBe("usr_dan");
    await world.delete();
  });
});
