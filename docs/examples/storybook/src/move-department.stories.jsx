import { expect, userEvent, within } from "storybook/test";
import { MoveDepartment } from "./move-department.jsx";

export default {
  component: MoveDepartment,
  args: {
    organization: "org_acme",
    department: { id: "dept_ml", name: "ML" },
    parents: [
      { id: "dept_ops", name: "Operations" },
      { id: "dept_platform", name: "Platform" },
    ],
  },
  parameters: { understudy: { user: "usr_ada", clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" } } },
  play: async ({ canvasElement, parameters }) => {
    const canvas = within(canvasElement);
    await userEvent.click(canvas.getByRole("button", { name: "Move" }));
    await expect(await canvas.findByText(parameters.outcome, {}, { timeout: 10_000 })).toBeVisible();
  },
};

const story = (understudy, outcome) => ({ parameters: { understudy, outcome } });
const refused = (name, outcome) => story({ scenario: `departments-reparent-${name}` }, outcome);

export const Moved = story({}, "ML is now at dept_acme/dept_ops/dept_ml.");
export const Cycle = refused("cycle", /^Refused \(422, DEPARTMENT_CYCLE_DETECTED\)/);
export const Forbidden = refused("forbidden", /^Refused \(403/);
export const ForeignOrganization = refused("foreign-organization", /^Refused \(403/);
export const UnknownOrganization = refused("unknown-organization", /^Refused \(404/);
export const UnknownDepartment = refused("not-found", /^Refused \(404/);
export const WrongInput = refused("invalid-input", /^Refused \(422/);
export const SignedOut = refused("signed-out", /^Refused \(401/);
export const RateLimited = refused("rate-limited", /^Too many requests/);
export const ConnectionLost = story(
  { faults: [{ match: { operation: "departments.reparent" }, effect: { wire: "reset" } }] },
  /^The connection was lost/,
);
