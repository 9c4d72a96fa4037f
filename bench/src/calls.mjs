// Calls whose cost is looked into one by one: `garbage` measures each, `profile NAME` shows where it goes.
import { control } from "./client.mjs";
import {
  asAda,
  asEve,
  controlHeaders,
  fixtureFile,
  LIMITS,
  REPARENT,
  startUnderstudy,
} from "./subjects/understudy.mjs";

const JOBS = "/v1/organizations/org_acme/knowledge/connectors/jobs";

/** A sandbox whose journal keeps a single entry. */
const BARE_JOURNAL = "bare-journal";

const bodies = ["dept_ops", "dept_platform"].map((new_parent_id) => ({ new_parent_id }));

/** {name, path, method?, as, status}; each is one call of one server, sent again and again. */
export const CALLS = [
  { name: "GET", path: LIMITS, as: asEve, status: 200 },
  // The same where the journal keeps one entry: what survives here, it is not the journal that keeps.
  { name: "GET without journal", path: `/_s/${BARE_JOURNAL}${LIMITS}`, as: asEve, status: 200 },
  { name: "POST", method: "post", path: REPARENT, as: asAda, bodies, status: 200 },
  { name: "list page", path: JOBS, as: asAda, status: 200 },
  { name: "refusal 401", path: LIMITS, as: { "api-key": "ak_nobody" }, status: 401 },
  { name: "refusal 422", path: `${LIMITS}?month=13`, as: asEve, status: 422 },
  {
    name: "refusal 429",
    path: "/v1/models",
    as: { "api-key": "ak_hanaOwnerInitech00000000000000000000000" },
    status: 429,
  },
  { name: "control call", path: "/_control/sandboxes/default/clock", as: {}, status: 200 },
];

/** A server for all of them, with the probe inside. */
export async function startForCalls() {
  const server = await startUnderstudy({ probe: true, fixture: fixtureWithLimit() });
  const state = control(server);
  await state.post("/sandboxes", { name: BARE_JOURNAL, settings: { journal_limit: 1 } });
  await state.close();
  return server;
}

export const headersOf = ({ path, as }, server) =>
  path.startsWith("/_control") ? { ...as, ...controlHeaders(server) } : as;

/** The organization whose key is refused: its second request in a minute is one too many. */
function fixtureWithLimit() {
  return fixtureFile({
    organizations: [
      ...["org_acme", "org_globex", "org_hooli"].map((id) => ({ id, plan: "enterprise", rate_limit: 1e9 })),
      { id: "org_initech", plan: "enterprise", rate_limit: 1 },
    ],
  });
}
