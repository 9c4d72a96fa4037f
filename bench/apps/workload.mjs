// The workload of all baselines: 40 routes with one path parameter each, a response of about 400 bytes (a
// department), and a POST of 200 bytes that makes a small change.
export const ROUTE_COUNT = 40;
export const HIT_ROUTE = 27;
export const routeNames = Array.from({ length: ROUTE_COUNT }, (_, index) => `resource${index}`);

export function makeDepartment() {
  return {
    id: "dept_infra",
    name: "Infra",
    description: "Keeps the lights on for everyone who builds on the platform, day and night, since 2019",
    parent_id: "dept_platform",
    path: "dept_acme/dept_eng/dept_platform/dept_infra",
    depth: 3,
    organization_id: "org_acme",
    member_count: 4,
    is_active: true,
    is_default: false,
    color: null,
    created_by: "usr_ada",
    created_at: "2026-03-15T12:00:00.000Z",
  };
}

/** The change of a POST: a new parent, and the path that follows from it. */
export function reparent(record, parentId) {
  record.parent_id = parentId;
  record.path = `dept_acme/${parentId}/${record.id}`;
  record.depth = 2;
  return record;
}

export const readPortArgument = () => Number(process.argv[2] ?? 0);
