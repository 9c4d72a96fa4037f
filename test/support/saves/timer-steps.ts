import type { FreshWorld } from "../openapi/fresh-world.ts";
import { RECIPES } from "../openapi/recipes.ts";
import { rule, UNREACHABLE_URL } from "./control-steps.ts";

/** Sets a timer of every kind in a new sandbox. */
export async function setTimers(world: FreshWorld): Promise<void> {
  await world.control("PATCH", "", { settings: { live_meetings: "on", invoicing: "on" } });
  await world.control("POST", "/state/webhooks", {
    organization_id: "org_acme",
    url: UNREACHABLE_URL,
    events: ["user.created"],
  });
  await world.control("POST", "/events", { event: "user.created", for: "usr_dan" });
  await world.control("POST", "/faults", { ...rule, lease: { ttl: "2m" } });
  const params = { organization_id: "org_acme" };
  const started = { who: "dan", params, body: { connection_id: "conn_wiki", job_type: "sync" } } as const;
  await world.call("/v1/organizations/{organization_id}/knowledge/connectors/jobs", "POST", started);
  const attach = RECIPES["store_files.attach"]![0]!;
  await world.call("/v1/organizations/{organization_id}/stores/{store_id}/files", "POST", {
    who: "dan",
    params: { ...params, store_id: "store_handbook" },
    body: { file_id: "file_raw" },
    ...(await attach.request(world)),
  });
  await world.upload(5);
}

/** When the clock has advanced by all of these, timers of every kind have run. */
export const ADVANCES = ["1m", "5m", "8d", "23d"] as const;

/** Advances the clock. Returns the kinds of the timers that ran. */
export async function advance(world: FreshWorld, by: (typeof ADVANCES)[number]): Promise<string[]> {
  const { body } = await world.control("POST", "/clock/advance", { by });
  return body.ran.map(({ kind }: { kind: string }) => kind);
}
