import { describe, expect, it } from "vitest";
import { listSuccesses } from "../../engine/contract/operation.ts";
import { RESOURCES } from "../../engine/resources/index.ts";
import { checkBody } from "./check-answer.ts";
import { checkAnyRefusal } from "./check-refusal.ts";
import { Contract } from "./contract.ts";
import { Verdict } from "./verdict.ts";

const CONTRACT = new Contract(RESOURCES);

function check(id: string, body: unknown): Verdict {
  const verdict = new Verdict();
  const operation = CONTRACT.getOperation(id);
  checkBody(verdict, operation, listSuccesses(operation)[0]!.schema!, body);
  return verdict;
}

describe("verify of a body", () => {
  const job = {
    job_id: "job_1",
    status: "running",
    job_type: "sync",
    start_time: "2026-03-15T12:00:00Z",
    connection_id: "conn_1",
    bytes_synced: 0,
    rows_synced: 0,
    duration: null,
  };
  const entry = {
    id: "log_1",
    timestamp: "2026-03-15T12:00:00Z",
    resource_type: "assistant",
    resource_id: "asst_1",
    resource_name: "Helper",
    action: "updated",
    user_id: "usr_1",
    user_name: "Ada",
    user_email: "ada@acme.test",
    changes: [],
  };
  const makeLogs = (one: object) => ({ logs: [one], total_count: 1, skip: 0, take: 50 });

  it("fails if a documented field is missing or of another type [2.6]", () => {
    expect(check("change_logs.list", makeLogs(entry)).outcome).toBe("passed");
    const { user_name: _, ...without } = entry;
    expect(check("change_logs.list", makeLogs(without)).failures).toEqual([
      'change_logs.list: /logs/0 has no "user_name"',
    ]);
    expect(check("change_logs.list", makeLogs({ ...entry, changes: null })).outcome).toBe("failed");
    expect(check("change_logs.list", makeLogs({ ...entry, timestamp: "yesterday" })).outcome).toBe("failed");
  });

  it("checks the documented prefix of an identifier, and leaves the rest to the service [2.1]", () => {
    expect(check("change_logs.list", makeLogs({ ...entry, id: "entry_1" })).outcome).toBe("failed");
    const { outcome, differences } = check("change_logs.list", makeLogs({ ...entry, id: "log_1:2" }));
    expect([outcome, differences[0]?.assumption]).toEqual(["differs", "G08"]);
    expect(check("change_logs.list", makeLogs({ ...entry, user_id: "uid_1" })).outcome).toBe("passed");
    expect(check("change_logs.list", makeLogs({ ...entry, user_id: "1" })).outcome).toBe("failed");
  });

  it("does so also for an identifier that may be null [2.1]", () => {
    const department = {
      ...{ id: "dept_a", name: "A", description: "", path: "dept_a", depth: 1, organization_id: "org_a" },
      ...{ member_count: 0, is_active: true, is_default: false, color: "#000000", created_by: "usr_1" },
      created_at: "2026-03-15T12:00:00Z",
    };
    const checkParent = (parent_id: unknown) => check("departments.reparent", { ...department, parent_id });
    expect(checkParent(null).outcome).toBe("passed");
    expect(checkParent("dept_b").outcome).toBe("passed");
    expect(checkParent("dept_1:2").differences).toMatchObject([{ assumption: "G08" }]);
    expect(checkParent("b").outcome).toBe("failed");
    expect(checkParent(7).failures).toEqual([
      "departments.reparent: /parent_id must be a text or null, not the number 7",
    ]);
  });

  it("reports words that the reference lists for filters as differences only [G31]", () => {
    const { outcome, differences } = check("change_logs.list", makeLogs({ ...entry, action: "polished" }));
    expect([outcome, differences[0]?.assumption]).toEqual(["differs", "G31"]);
  });

  it("reports types of job fields, which are not documented, as differences only [G14]", () => {
    const list = (one: object) => ({ jobs: [one], total: 1, limit: 50, offset: 0 });
    expect(check("connector_jobs.list", list(job)).outcome).toBe("passed");
    expect(check("connector_jobs.list", list({ ...job, duration: "7 s" })).outcome).toBe("differs");
    const { duration: _, ...without } = job;
    expect(check("connector_jobs.list", list(without)).outcome).toBe("failed");
    expect(check("connector_jobs.list", { total: 1, limit: 50, offset: 0 }).outcome).toBe("failed");
  });

  it("mentions undeclared fields [2]", () => {
    const verdict = check("change_logs.list", { ...makeLogs({ ...entry, mood: "good" }), next: null });
    expect(verdict.outcome).toBe("passed");
    expect(verdict.notes).toEqual(["also answers /logs/*/mood, /next"]);
  });

  it("says that the type of an error must be text where the reference names none [7.2]", () => {
    const verdict = new Verdict();
    const json = { error: { message: "Slow down", type: null, code: "rate_limit_exceeded" } };
    checkAnyRefusal(verdict, {
      ...{ operation: CONTRACT.getOperation("threads.delete"), method: "DELETE", path: "/v1/threads/thr_1" },
      ...{ sent: { params: {}, query: {}, body: undefined, headers: new Headers() }, authenticated: true },
      ...{ status: 429, headers: new Headers(), text: JSON.stringify(json), json, problem: undefined },
    });
    expect(verdict.failures).toEqual(["/v1/threads/thr_1 (429): error.type is null, not text"]);
  });

  it("confirms no assumption by details that the reference shows [7.1]", () => {
    const verdict = new Verdict();
    const params = { session_id: "mbsess_1" };
    const operation = CONTRACT.getOperation("meeting_sessions.export_transcript");
    const error = {
      ...{ code: "SESSION_NOT_FOUND", type: "client_error", status: 404, details: params },
      ...{ message: "No", system_message: "No", trace_id: "t", timestamp: "2026-03-15T12:00:00Z" },
    };
    const json = { success: false, error };
    checkAnyRefusal(verdict, {
      ...{ operation, method: "GET", path: "/v1/x" },
      ...{ sent: { params, query: {}, body: undefined, headers: new Headers() }, authenticated: true },
      ...{ status: 404, headers: new Headers(), text: JSON.stringify(json), json, problem: undefined },
    });
    expect([verdict.failures, [...verdict.confirmed.keys()]]).toEqual([[], ["G29"]]);
  });
});
