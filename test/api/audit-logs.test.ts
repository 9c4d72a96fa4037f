import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditChange, makeChange } from "../../src/engine/resources/audit-logs/log-changes.ts";
import { writeCsv } from "../../src/engine/resources/audit-logs/operations.ts";
import { findActor, recordAudit } from "../../src/engine/resources/audit-logs/rules.ts";
import {
  type AuditLog,
  auditLogs,
  ENTITY_TYPES,
  NAMED_ACTIONS,
} from "../../src/engine/resources/audit-logs/schema.ts";
import { COLUMNS, exportLog, exportRows, parseCsv, toRows } from "../support/audit-rows.ts";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

const HOUR = 3_600_000;

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const getWorld = () => api.understudy.sandboxes.get("default")!.world;
const write = (name: string, fields: Partial<AuditChange> = {}, actor_id = "usr_ben") =>
  getWorld().transact((tx) => {
    const change = makeChange("role", "created", { id: "role_x", name }, fields);
    recordAudit(tx, "org_acme", change, actor_id);
  });
/** An entry at a given instant, in an organization whose log is empty at first. */
const makeInitechEntry = (entity_name: string, timestamp: string) =>
  getStateRules(api, "audit_logs").post({
    organization_id: "org_initech",
    entity_name,
    timestamp: getWorld().read().toInstant(Date.parse(timestamp)),
  });
const readNames = (rows: Record<string, string>[]) => rows.map((row) => row["Entity Name"]);

describe("audit_logs.export", () => {
  it("streams a CSV with the documented columns, type and file name [4.15, 2.6]", async () => {
    const answer = await exportLog(api);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="audit-log-org_acme-2026-03-15.csv"',
    );
    expect(answer.headers.get("content-length")).toBeNull();
    expect(answer.text.split("\n")[0]).toBe(COLUMNS);
    expect(toRows(answer)).toHaveLength(400);
  });

  it("names the file after the current day of the sandbox [G28]", async () => {
    await api.advance(13 * HOUR);
    const { headers } = await exportLog(api);
    expect(headers.get("content-disposition")).toContain("audit-log-org_acme-2026-03-16.csv");
  });

  it("has every entity type and every named action in the reference world", async () => {
    const rows = await exportRows(api);
    expect(new Set(rows.map((row) => row["Entity Type"]))).toEqual(new Set(ENTITY_TYPES));
    expect(new Set(rows.map((row) => row["Action"]))).toEqual(new Set(NAMED_ACTIONS));
  });

  it("has the newest 10,000 of 12,000 entries, newest first [4.15, G28]", async () => {
    const rows = await exportRows(api, "", "eve", "org_globex");
    expect(rows).toHaveLength(10_000);
    const times = rows.map((row) => Date.parse(row["Timestamp"]!));
    expect(times.every((time, n) => n === 0 || time <= times[n - 1]!)).toBe(true);
    const all = [...getWorld().read().index(auditLogs, "by_organization", "org_globex")];
    expect(all).toHaveLength(12_000);
    expect(times[0]).toBe(Date.parse(EPOCH) + all[0]!.timestamp);
    expect(times.at(-1)).toBe(Date.parse(EPOCH) + all[9_999]!.timestamp);
  });

  it("orders entries of one instant by id [G28]", async () => {
    for (const name of ["one", "two", "three"]) makeInitechEntry(name, EPOCH);
    const stored = [...getWorld().read().index(auditLogs, "by_organization", "org_initech")];
    expect(stored.map(({ id }) => id)).toEqual(stored.map(({ id }) => id).sort());
    expect(readNames(await exportRows(api, "", "hana", "org_initech"))).toEqual(
      stored.map(({ entity_name }) => entity_name),
    );
  });

  it.each([
    "entity_type=department",
    "action_type=membership_added",
    "actor_id=usr_ben",
    "target_id=usr_dan",
  ])("filters by %s [4.15]", async (filter) => {
    const [name, value] = filter.split("=") as [string, string];
    const field = { action_type: "action" }[name] ?? name;
    const expected = [...getWorld().read().index(auditLogs, "by_organization", "org_acme")].filter(
      (entry) => entry[field as keyof AuditLog] === value,
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(400);
    const rows = await exportRows(api, `?${filter}`);
    expect(rows.map((row) => row["Timestamp"])).toEqual(
      expected.map(({ timestamp }) => getWorld().read().toIso(timestamp)),
    );
  });

  it("filters by department_id, and all filters together [4.15]", async () => {
    const target = { id: "usr_dan", name: "Dan" };
    write("Wanted", { department_id: "dept_ml", target }, "usr_cleo");
    write("Other department", { department_id: "dept_eng", target });
    const all =
      "?entity_type=role&action_type=created&actor_id=usr_cleo&target_id=usr_dan&department_id=dept_ml&from_date=2026-03-15&to_date=2026-03-15&search_term=want";
    expect(readNames(await exportRows(api, all))).toEqual(["Wanted"]);
    expect(readNames(await exportRows(api, "?department_id=dept_ml&entity_type=role"))).toEqual(["Wanted"]);
  });

  it("is empty for an unknown action_type, and 422 for an unknown entity_type [G08]", async () => {
    expect(await exportRows(api, "?action_type=teleported")).toEqual([]);
    const { status, body } = await exportLog(api, "?entity_type=planet");
    expect([status, body.error.code, body.error.details]).toEqual([
      422,
      "INVALID_INPUT",
      { field: "entity_type", value: "planet" },
    ]);
  });

  it.each([
    ["actor_id", "ada"],
    ["department_id", "eng"],
    ["target_id", "not an id"],
    ["from_date", "yesterday"],
    ["to_date", "2026-02-30"],
    ["from_date", ""],
  ])("answers 422 to %s=%s [G08]", async (field, value) => {
    const { status, body } = await exportLog(api, `?${field}=${encodeURIComponent(value)}`);
    expect([status, body.error.details]).toEqual([422, { field, value }]);
  });

  it("includes both dates, and a date without time is the whole UTC day [G28]", async () => {
    makeInitechEntry("last of the 9th", "2026-03-09T23:59:59.999Z");
    makeInitechEntry("first of the 10th", "2026-03-10T00:00:00.000Z");
    makeInitechEntry("last of the 10th", "2026-03-10T23:59:59.999Z");
    makeInitechEntry("first of the 11th", "2026-03-11T00:00:00.000Z");
    const listNamesWithin = async (query: string) =>
      readNames(await exportRows(api, query, "hana", "org_initech"));
    expect(await listNamesWithin("?from_date=2026-03-10&to_date=2026-03-10")).toEqual([
      "last of the 10th",
      "first of the 10th",
    ]);
    expect(await listNamesWithin("?from_date=2026-03-11")).toEqual(["first of the 11th"]);
    expect(await listNamesWithin("?to_date=2026-03-09")).toEqual(["last of the 9th"]);
    expect(await listNamesWithin("?from_date=2026-03-10T23:59:59.999Z&to_date=2026-03-11T00:00:00Z")).toEqual(
      ["first of the 11th", "last of the 10th"],
    );
    expect(await listNamesWithin("?to_date=2026-03-09T23:59:59.998Z")).toEqual([]);
    const justAfter = "2026-03-10T23:59:59.999001Z";
    expect(await listNamesWithin(`?from_date=${justAfter}`)).toEqual(["first of the 11th"]);
    expect(await listNamesWithin(`?from_date=${justAfter}&to_date=${justAfter}`)).toEqual([]);
  });

  it("refuses a from_date after to_date, but not the same day [G28]", async () => {
    const { status, body } = await exportLog(api, "?from_date=2026-03-11&to_date=2026-03-10");
    expect([status, body.error.details]).toEqual([422, { field: "from_date", value: "2026-03-11" }]);
    expect((await exportLog(api, "?from_date=2026-03-10T23:00:00Z&to_date=2026-03-10")).status).toBe(200);
  });

  it("searches entity name, actor name and e-mail for search_term, in any case [4.15, G28]", async () => {
    makeInitechEntry("Größe der Türme", EPOCH);
    makeInitechEntry("Other", EPOCH);
    const search = async (term: string) =>
      readNames(await exportRows(api, `?search_term=${encodeURIComponent(term)}`, "hana", "org_initech"));
    expect(await search("GRÖSSE")).toEqual([]);
    expect(await search("gRÖß")).toEqual(["Größe der Türme"]);
    expect(await search("gro\u0308ß")).toEqual(["Größe der Türme"]);
    expect((await search("hana SUZ")).sort()).toEqual(["Größe der Türme", "Other"]);
    expect(await search("@initech")).toHaveLength(2);
    expect(await search("nobody")).toEqual([]);
    expect(await search(".*")).toEqual([]);
    expect(await search("")).toHaveLength(2);
  });

  it("quotes what needs quoting and keeps formulas as they are [G28]", async () => {
    const hostile = ['=1+1,"x"', "two\nlines\r\n", "+49", "@here", "-2", "  blanks ", "käse 🧀", '"'];
    for (const name of hostile) makeInitechEntry(name, EPOCH);
    const { text } = await exportLog(api, "", "hana", "org_initech");
    expect(
      parseCsv(text)
        .slice(1)
        .map((cells) => cells[2])
        .sort(),
    ).toEqual([...hostile].sort());
    for (const cells of parseCsv(text)) expect(cells).toHaveLength(9);
  });

  it("escapes formulas for spreadsheets if csv_formulas is escape, and changes nothing else [G28]", async () => {
    await api.close();
    api = await startReference({ settings: { csv_formulas: "escape" } });
    for (const name of ["=1+1", "@here", "plain", "a=b"]) makeInitechEntry(name, EPOCH);
    const rows = await exportRows(api, "", "hana", "org_initech");
    expect(readNames(rows).sort()).toEqual(["'=1+1", "'@here", "a=b", "plain"]);
  });

  it("is only for owners and admins: the refusals are 404, 403, 403 in this order [4.15, G03]", async () => {
    const fetchCode = async (...request: Parameters<typeof exportLog>) => {
      const { status, body } = await exportLog(...request);
      return [status, body?.error.code];
    };
    expect(await fetchCode(api, "", "ada", "org_nowhere")).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    expect(await fetchCode(api, "", "eve")).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
    expect(await fetchCode(api, "", "dan")).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    expect(await fetchCode(api, "", "ben")).toEqual([200, undefined]);
  });

  it("continues to read the world in which it started [4.15, decision 2]", async () => {
    const source = {
      entries: getWorld().read().index(auditLogs, "by_organization", "org_acme"),
      matches: undefined,
      toIso: String,
      formulas: "keep" as const,
    };
    const stream = writeCsv(source, new AbortController().signal);
    await stream.next();
    await stream.next();
    write("Late");
    for (const { id } of [...source.entries].slice(300))
      getWorld().transact((tx) => tx.remove(auditLogs, id));
    let rest = "";
    for await (const chunk of stream) rest += chunk;
    expect(rest).not.toContain("Late");
    expect(parseCsv(rest)).toHaveLength(200);
  });

  it("stops reading rows when the client leaves [4.15]", async () => {
    let made = 0;
    const listEntries = function* () {
      for (const entry of getWorld().read().index(auditLogs, "by_organization", "org_globex")) {
        made += 1;
        yield entry;
      }
    };
    const leave = new AbortController();
    const source = { entries: listEntries(), matches: undefined, toIso: String, formulas: "keep" as const };
    for await (const _chunk of writeCsv(source, leave.signal)) if (made > 0) leave.abort();
    expect(made).toBeLessThan(1_000);
  });

  it("leaves the server working if a client hangs up in the middle [4.15]", async () => {
    const { port, hostname } = new URL(api.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET /v1/organizations/org_globex/audit-log/export HTTP/1.1\r\nHost: x\r\napi-key: ${KEYS.eve}\r\n\r\n`,
        ),
      );
      socket.once("data", () => socket.destroy());
      socket.once("close", () => resolve());
    });
    expect(await exportRows(api, "", "eve", "org_globex")).toHaveLength(10_000);
  });

  it("counts entries of the fixture toward the total of generate.audit_log [interfaces 5]", async () => {
    await api.close();
    api = await startReference({
      fixture: {
        organizations: [{ id: "org_one" }, { id: "org_two" }],
        users: [{ id: "usr_own", memberships: { org_one: "owner", org_two: "owner" } }],
        api_keys: [{ id: "apikey_own", user_id: "usr_own", current: "org_one", key: KEYS.ada }],
        audit_log: {
          org_one: [{ entity_name: "Given", actor_id: "usr_own", timestamp: "2026-03-15T12:00:00.000Z" }],
        },
        generate: { audit_log: { org_one: 3, org_two: 5 } },
      },
    });
    const rows = await exportRows(api, "", "ada", "org_one");
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({ "Entity Name": "Given", Timestamp: EPOCH });
    expect(await exportRows(api, "", "ada", "org_two")).toHaveLength(5);
  });
});

describe("an audit entry", () => {
  it.each([
    [{}, "usr_ben", "Ben Castro"],
    [{ entity_id: "usr_cleo" }, "usr_cleo", "Cleo Martin"],
    [{ entity_type: "department", entity_id: "dept_ops" }, "dept_ops", "Operations"],
    [{ entity_type: "vector_store", entity_id: "vs_new" }, "vs_new", "Manuals"],
    [{ entity_type: "role", entity_id: "role_x" }, "role_x", "role_x"],
    [{ entity_type: "department" }, expect.stringMatching(/^obj_/), expect.stringMatching(/^obj_/)],
  ])("that a state call creates with %j names that object, and not the actor [G40]", (fields, id, name) => {
    getStateRules(api, "vector_stores").post({ id: "vs_new", name: "Manuals" });
    const { record } = getStateRules(api, "audit_logs").post({ actor_id: "usr_ben", ...fields });
    expect([record.entity_id, record.entity_name, record.actor_name]).toEqual([id, name, "Ben Castro"]);
  });

  it("names the actor by the current name, also after the actor is deleted [G31]", async () => {
    write("Before");
    getStateRules(api, "users").patch("usr_ben", { name: "Benedict Castro" }, { silent: true });
    write("After");
    const rows = await exportRows(api, "?actor_id=usr_ben&from_date=2026-03-15T12:00:00Z");
    const actors = Object.fromEntries(rows.map((row) => [row["Entity Name"], row["Actor Name"]]));
    expect(actors).toEqual({ Before: "Ben Castro", After: "Benedict Castro" });
  });

  it.each([
    ["usr_ben", "Ben Castro"],
    ["usr_gone", "usr_gone"],
    ["usr_system", "System"],
  ])("and one of the change log have the same name for %s: %s [G31]", async (id, name) => {
    write("Audited", {}, id);
    getStateRules(api, "audit_logs").post({
      entity_name: "Given",
      organization_id: "org_acme",
      actor_id: id,
    });
    const rows = await exportRows(api, `?actor_id=${id}&from_date=2026-03-15T12:00:00Z`);
    const actors = new Set(rows.map((row) => row["Actor Name"]));
    expect([...actors]).toEqual([name]);
    expect(findActor(getWorld().read(), id, "org_acme")).toMatchObject({ user_id: id, user_name: name });
  });
});
