// Calls whose cost is examined one by one: `garbage` measures each, `profile NAME` shows where the time goes.
import { control } from "./client.mjs";
import {
  asAda,
  asEve,
  controlHeaders,
  LIMITS,
  REPARENT,
  startUnderstudy,
  writeFixtureFile,
} from "./subjects/understudy.mjs";

const JOBS = "/v1/organizations/org_acme/knowledge/connectors/jobs";

/** The name of a sandbox whose journal has one entry. */
const BARE_JOURNAL = "bare-journal";

const bodies = ["dept_ops", "dept_platform"].map((new_parent_id) => ({ new_parent_id }));

/** {name, path, method?, as, status}: a call that is sent to one server repeatedly. */
export const CALLS = [
  { name: "GET", path: LIMITS, as: asEve, status: 200 },
  // The same call where the journal has one entry: memory that survives here does not belong to the journal.
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

/** Starts a server for all calls, with the probe. */
export async function startForCalls() {
  const server = await startUnderstudy({ probe: true, fixture: writeFixtureWithLimit() });
  const state = control(server);
  await state.post("/sandboxes", { name: BARE_JOURNAL, settings: { journal_limit: 1 } });
  await state.close();
  return server;
}

export const toHeaders = ({ path, as }, server) =>
  path.startsWith("/_control") ? { ...as, ...controlHeaders(server) } : as;

/** Limits an organization so that the second request of a key in a minute is refused. */
function writeFixtureWithLimit() {
  return writeFixtureFile({
    organizations: [
      ...["org_acme", "org_globex", "org_hooli"].map((id) => ({ id, plan: "enterprise", rate_limit: 1e9 })),
      { id: "org_initech", plan: "enterprise", rate_limit: 1 },
    ],
  });
}
