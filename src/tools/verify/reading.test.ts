import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { afterAll, describe, expect, it } from "vitest";
import { noContent } from "../../engine/contract/reply.ts";
import { Id } from "../../engine/contract/schema.ts";
import { RESOURCES } from "../../engine/resources/index.ts";
import { ObjectNames } from "./contract.ts";
import { inventId, toBrokenAnswer } from "./exchange.ts";
import { KnownObjects, readIdsToUse } from "./known-objects.ts";
import { RequestPacer } from "./target.ts";
import { Verdict } from "./verdict.ts";

const NAMES = new ObjectNames(RESOURCES);
const folder = mkdtempSync(join(tmpdir(), "understudy-verify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("an answer that broke off", () => {
  it.each([
    ["UND_ERR_SOCKET", "other side closed", "the connection was closed before a whole answer"],
    ["ECONNRESET", "read ECONNRESET", "the connection was closed before a whole answer"],
    ["EPIPE", "write EPIPE", "the connection was closed before a whole answer"],
    ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9", "connect ECONNREFUSED 127.0.0.1:9"],
    [undefined, "bad port", "fetch refuses this port"],
  ])("has the reason in words: %s, %s [interfaces 2]", (code, message, problem) => {
    const cause = Object.assign(new Error(message), { code });
    expect(toBrokenAnswer(new TypeError("fetch failed", { cause })).problem).toBe(problem);
  });

  it("names the host whose name cannot be resolved, and the first of several refused addresses [interfaces 2]", () => {
    const resolution = { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "no-such.invalid" };
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND no-such.invalid"), resolution);
    const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:9"), new Error("again")]);
    const problems = [unknown, refused].map(
      (cause) => toBrokenAnswer(new TypeError("fetch failed", { cause })).problem,
    );
    expect(problems).toEqual([
      "the name no-such.invalid cannot be resolved (ENOTFOUND)",
      "connect ECONNREFUSED ::1:9",
    ]);
  });
});

describe("the verdict of verify", () => {
  it("is never a pass for an unobserved requirement, and fails only what the reference specifies [interfaces 2]", () => {
    expect(new Verdict().outcome).toBe("not-observable");
    const verdict = new Verdict();
    verdict.expect(true, "", "G08");
    expect([verdict.outcome, [...verdict.confirmed]]).toEqual(["passed", [["G08", 1]]]);
    verdict.notObservable("there is none");
    expect(verdict.outcome).toBe("not-observable");
    verdict.expect(false, "other", "G08");
    expect(verdict.outcome).toBe("differs");
    verdict.expect(false, "wrong");
    expect(verdict.outcome).toBe("failed");
  });
});

describe("objects that verify uses", () => {
  it("are those that belong together first, or only the given ones [interfaces 2]", () => {
    const known = new KnownObjects(NAMES, new Map([["organization_id", ["org_a"]]]));
    known.collectIds({ data: [{ id: "vs_1" }, { id: "vs_2" }], files: ["file_1"], text: "see file_2" });
    known.addRelatedIds({ store_id: "vs_2", file_id: "file_9" });
    const names = ["organization_id", "store_id", "file_id"];
    expect(known.combineValues(names, 3)[0]).toEqual({
      organization_id: "org_a",
      store_id: "vs_2",
      file_id: "file_9",
    });
    expect(known.combineValues(names, 3)).toHaveLength(3);
    expect(known.listCandidates("file_id")).toEqual(["file_9", "file_1"]);
    expect(known.combineValues(["org_id"])).toEqual([{ org_id: "org_a" }]);
    expect(known.combineValues(["session_id"])).toEqual([]);
    expect(known.combineValues([])).toEqual([{}]);
  });

  it("do not count as found if their ids are invented [interfaces 2]", () => {
    const known = new KnownObjects(NAMES);
    known.collectIds({ details: { session_id: inventId("mbsess_") }, job_id: "4711" });
    expect(known.findOne("session_id")).toBeUndefined();
    expect(known.findOne("job_id")).toBe("4711");
  });
});

describe("names of verify's objects", () => {
  it("come from the declarations: one per prefix, or a collection for the parameter of its ids [2.1]", () => {
    const known = new KnownObjects(NAMES);
    const ids = ["asst_1", "file_1", "mbsess_1", "mcoll_1", "trans_1", "vs_1", "wh_1"];
    known.collectIds({ ids, others: ["org_1", "usr_1", "whsec_1", "asst_", "nothing"] });
    const found = ["assistant_id", "file_id", "session_id", "collection_id", "transcription_id"];
    expect([...found, "store_id", "webhook_id"].map((name) => known.listCandidates(name))).toEqual(
      ids.map((id) => [id]),
    );
    expect(known.listCandidates("organization_id")).toEqual([]);
    expect([...NAMES.withoutPrefix]).toEqual(["job_id"]);
    const collections = ["organizations", "vector_stores", "store_files", "connector_jobs"];
    expect(["org_id", ...collections].map((name) => NAMES.getMainName(name))).toEqual([
      ...["organization_id", "organization_id", "store_id"],
      // The ids of store_files are ids of stores, so their main name is store_id.
      ...["store_files", "job_id"],
    ]);
  });

  it("are for reading only if an id was found by chance [interfaces 2]", () => {
    const about = { section: "4", summary: "", errors: [], success: { status: 204 }, handle: noContent };
    const names = new ObjectNames([
      {
        name: "things",
        collections: [],
        operations: [
          {
            ...about,
            id: "a",
            method: "GET",
            path: "/{seen_id}",
            params: Type.Object({ seen_id: Id("seen_") }),
          },
          {
            ...about,
            id: "b",
            method: "PUT",
            path: "/{kept_id}",
            params: Type.Object({ kept_id: Id("kept_") }),
          },
        ],
      },
    ]);
    expect([names.findParameter("seen_1"), names.findParameter("kept_1")]).toEqual(["seen_id", undefined]);
  });
});

describe("--use", () => {
  it("takes pairs, lists, collections' names and files [interfaces 2]", () => {
    const file = join(folder, "objects.yaml");
    writeFileSync(
      file,
      "transcription_id: trans_1\nmusic_collections: [mcoll_1, mcoll_2]\nparent_department_id: null\n",
    );
    const found = readIdsToUse(
      ["meeting_sessions=mbsess_1,mbsess_2", file, "webhook_url=http://127.0.0.1/a,b"],
      NAMES,
    );
    expect(Object.fromEntries(found)).toEqual({
      session_id: ["mbsess_1", "mbsess_2"],
      transcription_id: ["trans_1"],
      collection_id: ["mcoll_1", "mcoll_2"],
      parent_department_id: ["null"],
      webhook_url: ["http://127.0.0.1/a,b"],
    });
  });

  it("suggests the nearest name, and refuses an empty one [interfaces 2]", () => {
    expect(() => readIdsToUse(["sesion_id=mbsess_1"], NAMES)).toThrow(/Did you mean "session_id"/);
    expect(() => readIdsToUse(["session_id="], NAMES)).toThrow(/is empty/);
    expect(() => readIdsToUse(["session_id=mbsess_1, store_id=vs_1"], NAMES)).toThrow(
      "--use takes one name: write --use store_id=vs_1 apart from session_id",
    );
    expect(readIdsToUse(["model=a=b,c=d"], NAMES).get("model")).toEqual(["a=b", "c=d"]);
    const file = join(folder, "objects.yaml");
    writeFileSync(file, "- session_id\n");
    expect(() => readIdsToUse([file], NAMES)).toThrow(/must contain names and ids/);
    writeFileSync(file, "session_id:\n");
    expect(() => readIdsToUse([file], NAMES)).toThrow("--use session_id is empty");
  });
});

describe("the pace of verify", () => {
  const answer = (status: number, headers: Record<string, string>, text = "") => ({
    ...{ status, text, json: undefined, problem: undefined },
    headers: new Headers(headers),
  });

  it("waits for the end of a window with nothing left [8]", () => {
    const pace = new RequestPacer();
    pace.readRateHeaders(answer(200, { "x-ratelimit-remaining": "1", "x-ratelimit-reset-requests": "41s" }));
    expect(pace.getWaitMs()).toBe(0);
    pace.readRateHeaders(answer(200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset-requests": "1m0s" }));
    expect(pace.getWaitMs()).toBeGreaterThan(58_000);
    pace.readRateHeaders(answer(200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }));
    // A service whose clock differs from ours: wait for a whole window.
    expect(pace.getWaitMs()).toBeGreaterThan(58_000);
    pace.readRateHeaders(answer(200, { "x-ratelimit-remaining-requests": "99" }));
    expect(pace.getWaitMs()).toBe(0);
  });

  it("repeats a request refused for its rate, but not for its spending [G05]", () => {
    const pace = new RequestPacer();
    expect(pace.takeRetryMs(answer(429, { "retry-after": "7" }))).toBe(7000);
    expect(pace.takeRetryMs(answer(429, { "retry-after": "99999" }))).toBe(120_000);
    expect(pace.takeRetryMs(answer(429, {}))).toBeGreaterThan(0);
    expect(pace.takeRetryMs(answer(429, {}, '{"error":{"code":"SPENDING_LIMIT_EXCEEDED"}}'))).toBeUndefined();
    expect(pace.takeRetryMs(answer(503, { "retry-after": "7" }))).toBeUndefined();
  });
});
