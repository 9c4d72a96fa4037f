import { CONTROL_OPERATIONS } from "../../../src/control/operations/index.ts";
import { isReadOnly } from "../../../src/engine/contract/operation.ts";
import type { Api } from "../harness.ts";
import type { FreshWorld } from "../openapi/fresh-world.ts";
import { RECIPES } from "../openapi/recipes.ts";

/** No process listens on this port. */
export const UNREACHABLE_URL = "http://127.0.0.1:9/hook";
const department = { organization_id: "org_acme", name: "Kept", id: "dept_kept", parent_id: null };
export const rule = {
  id: "rule",
  match: { operation: "threads.delete" },
  times: 2,
  effect: { error: "RATE_LIMIT_EXCEEDED" },
};

/**
 * Calls that change something, except those of own operations: a server that saves its sandboxes refuses to change these
 * for one sandbox (interfaces.md 18).
 */
export const SAVED_CALLS = CONTROL_OPERATIONS.filter(
  (operation) => !isReadOnly(operation) && !operation.id.startsWith("operations."),
);

/** By control operation: calls that prepare a new sandbox, then the operation's own call. */
export function controlSteps(api: Api, world: FreshWorld): Record<string, () => Promise<unknown>> {
  const findNewestEntry = async () => (await world.control("GET", "/history?limit=1")).body.entries[0].id;
  const create = (path: string, body: object) => world.control("POST", path, body);
  return {
    "sandboxes.create": () =>
      api.call(undefined, "POST", "/_control/sandboxes", {
        name: "made",
        seed: 9,
        clock: { mode: "frozen" },
      }),
    "sandboxes.update": () => world.control("PATCH", "", { settings: { processing_seconds: 7 } }),
    "sandboxes.delete": () => api.call(undefined, "DELETE", `/_control/sandboxes/${world.name}`),
    "sandboxes.reset": async () => {
      await create("/state/departments", department);
      await world.control("POST", "/reset", { seed: 12 });
    },
    "sandboxes.fork": async () => {
      await create("/state/departments", department);
      await create("/fork", { name: "forked" });
    },
    "snapshots.save": () =>
      create("/snapshots", { name: "b" }).then(() => create("/snapshots", { name: "a" })),
    "snapshots.restore": async () => {
      await create("/snapshots", { name: "before" });
      await create("/state/departments", department);
      await world.control("POST", "/snapshots/before/restore");
    },
    "snapshots.upload": async () => {
      await create("/snapshots", { name: "one" });
      const { body } = await world.control("GET", "/snapshots/one");
      await world.control("PUT", "/snapshots/two", body);
    },
    "snapshots.delete": () =>
      create("/snapshots", { name: "gone" }).then(() => world.control("DELETE", "/snapshots/gone")),
    "clock.set": () => world.control("PUT", "/clock", { mode: "frozen", now: "2027-01-01T00:00:00Z" }),
    "clock.advance": () => create("/clock/advance", { by: "3h" }),
    "clock.run": () => create("/clock/pending/run", { kind: "connector.job", subject: "job_sync_running" }),
    "clock.stop": async () => {
      const advancing = create("/clock/advance", { by: "400d" });
      await world.control("DELETE", "/clock/advance");
      await advancing;
    },
    "held.release": async () => {
      await create("/faults", { match: { operation: "models.list" }, effect: { hold: true } });
      const answer = world.call("/v1/models", "GET", { who: "dan" });
      let held: { id: string }[] = [];
      while (held.length === 0) held = (await world.control("GET", "/held")).body.items;
      await create(`/held/${held[0]!.id}/release`, {});
      await answer;
    },
    "sandboxes.open": async () => {
      const file = await fetch(`${api.url}/_control/sandboxes/${world.name}/export`, { method: "POST" });
      const bytes = Buffer.from(await file.arrayBuffer());
      await api.call(undefined, "POST", "/_control/open", { file: bytes.toString("base64"), name: "opened" });
    },
    "state.create": () => create("/state/departments", department),
    "state.update": () => world.control("PATCH", "/state/departments/dept_ops", { name: "Renamed" }),
    "state.delete": () => world.control("DELETE", "/state/departments/dept_ml"),
    "scenarios.activate": () => world.control("PUT", "/scenarios/active", { names: ["slow-network"] }),
    "faults.add": () => create("/faults", { ...rule, lease: { ttl: "10m" } }),
    "faults.change": () =>
      create("/faults", rule).then(() => world.control("PUT", "/faults/rule", { ...rule, times: 2 })),
    "faults.remove": () => create("/faults", rule).then(() => world.control("DELETE", "/faults/rule")),
    "faults.clear": () => create("/faults", rule).then(() => world.control("DELETE", "/faults")),
    "history.rewind": async () => {
      await create("/state/departments", department);
      await create("/state/departments", { ...department, id: "dept_undone" });
      await create(`/history/${await findNewestEntry()}/rewind`, {});
    },
    "history.fork": async () => {
      await create("/state/departments", department);
      await create(`/history/${await findNewestEntry()}/fork`, { name: "branch" });
    },
    "history.repeat": async () => {
      const path = "/v1/organizations/{organization_id}/departments/{department_id}/reparent";
      const [recipe] = RECIPES["departments.reparent"]!;
      await world.call(path, "POST", await recipe!.request(world));
      await create(`/history/${await findNewestEntry()}/repeat`, {});
    },
    "events.trigger": async () => {
      await create("/state/webhooks", {
        organization_id: "org_acme",
        url: UNREACHABLE_URL,
        events: ["user.created"],
      });
      await create("/events", { event: "user.created", for: "usr_dan" });
    },
    "deliveries.redeliver": () => create("/deliveries/redeliver", { ids: ["del_failed"] }),
    // Journal and coverage are not saved, whichever call clears or reports them.
    "journal.clear": () => world.control("DELETE", "/journal"),
    "coverage.clear": () => world.control("DELETE", "/coverage"),
    "coverage.report": async () => {
      const { body } = await world.control("GET", "/coverage");
      await api.call(undefined, "POST", "/_control/coverage", body);
    },
    "receivers.create": () => create("/receivers", { answers: [500, 200] }),
    "receivers.update": async () => {
      const { body } = await create("/receivers", {});
      await world.control("PATCH", `/receivers/${body.id}`, { answers: [410] });
    },
    "receivers.delete": async () => {
      const { body } = await create("/receivers", {});
      await world.control("DELETE", `/receivers/${body.id}`);
    },
  };
}
