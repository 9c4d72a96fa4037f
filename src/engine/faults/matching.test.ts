import { describe, expect, it } from "vitest";
import { createFacts, createFaults, decideCall, evaluateCall } from "../../../test/support/fault-setup.ts";

const EFFECT = { status: 503 };

describe("a rule", () => {
  it("with an operation glob hits only matching operations [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({ id: "f", match: { operation: "threads.*" }, effect: EFFECT });
    expect(await decideCall(faults, "threads.delete")).toBe("fault:inline/f");
    expect(await decideCall(faults, "departments.reparent")).toBe("-");
  });

  it.each([
    [{ principal: "usr_dan" }, { user: "usr_dan" }, { user: "usr_ada" }],
    [{ principal: "usr_dan" }, { user: "usr_dan" }, {}],
    [
      { api_key: "apikey_dan" },
      { user: "usr_dan", key: "apikey_dan" },
      { user: "usr_dan", key: "apikey_ci" },
    ],
    [{ organization: "org_globex" }, { organization: "org_globex" }, { organization: "org_acme" }],
    [{ path: "/v1/threads/thread_a" }, { path: "/v1/threads/thread_a" }, { path: "/v1/threads/thread_b" }],
    [{ path: "/v1/**" }, { path: "/v1/threads/thread_a" }, { path: "/v2/threads/thread_a" }],
    [{ path: "/v1/*/thread_?" }, { path: "/v1/threads/thread_a" }, { path: "/v1/threads/deeper/thread_a" }],
    [{ header: { "X-Trial": "b" } }, { headers: { "x-trial": "b" } }, { headers: { "x-trial": "a" } }],
    [{ header: { "X-Trial": null } }, {}, { headers: { "x-trial": "a" } }],
    [{ query: { limit: 10 } }, { query: "limit=10&offset=1" }, { query: "limit=11" }],
    [{ query: { tag: "b" } }, { query: "tag=a&tag=b" }, { query: "tag=a&tag=c" }],
    [{ query: { limit: null } }, { query: "offset=1" }, { query: "limit=10" }],
    [{ method: "DELETE" }, {}, undefined],
  ])("matches by %j only the described request [interfaces 6]", async (match, hit, miss) => {
    const faults = createFaults(1);
    faults.add({ id: "f", match: { operation: "threads.delete", ...match }, effect: EFFECT });
    expect(await decideCall(faults, "threads.delete", hit)).toBe("fault:inline/f");
    if (miss !== undefined) expect(await decideCall(faults, "threads.delete", miss)).toBe("-");
  });

  it.each([
    [{ new_parent_id: "dept_ops" }, { new_parent_id: "dept_ops", more: 1 }, true],
    [{ new_parent_id: null }, { new_parent_id: null }, true],
    [{ new_parent_id: null }, {}, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, true],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2, c: 3 }] }, true],
    [{ a: [1] }, { a: [1, 2] }, false],
    [{ a: "1" }, { a: 1 }, false],
    [{ a: 1 }, undefined, false],
    [{ a: {} }, { a: [] }, false],
  ])("matches by the body %j the sent body %j: %s [interfaces 6]", async (body, sent, hit) => {
    const faults = createFaults(1);
    faults.add({ id: "f", match: { operation: "departments.reparent", body }, effect: EFFECT });
    expect(await decideCall(faults, "departments.reparent", { body: sent })).toBe(
      hit ? "fault:inline/f" : "-",
    );
  });

  it("is neither evaluated nor counted if it could only add a delay to another rule's [interfaces 6]", async () => {
    const faults = createFaults(1);
    const later = faults.add({ id: "later", times: 1, effect: { delay: "9s" } });
    faults.add({ id: "first", effect: { delay: "1s" } });
    const { injection } = await evaluateCall(faults, "threads.delete");
    expect(injection).toMatchObject({ decision: "fault:inline/first", delay_ms: 1000 });
    expect(later.progress).toMatchObject({ calls: 0, hits: 0 });
  });

  it("is evaluated newest first if inline, and the next one after it is used up [interfaces 3]", async () => {
    const faults = createFaults(1);
    faults.add({ id: "old", effect: EFFECT });
    faults.add({ id: "new", times: 1, effect: EFFECT });
    expect(await decideCall(faults, "threads.delete")).toBe("fault:inline/new");
    expect(await decideCall(faults, "threads.delete")).toBe("fault:inline/old");
  });

  it("passes an operation that never answers its code, unless the code is forced [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({
      id: "f",
      match: { operation: "*" },
      times: 2,
      effect: { error: "DEPARTMENT_CYCLE_DETECTED" },
    });
    expect(await decideCall(faults, "threads.delete")).toBe("-");
    expect(await decideCall(faults, "departments.reparent")).toBe("fault:inline/f");
    faults.rules.remove();
    faults.add({ id: "f", match: { operation: "*" }, effect: { error: "DEPARTMENT_CYCLE_DETECTED!" } });
    expect(await decideCall(faults, "threads.delete")).toBe("fault:inline/f");
  });

  it("decides the delay or the answer if it is the first that has one [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({ id: "never-asked", effect: { delay: "9s" } });
    faults.add({ id: "answer", times: 1, effect: { status: 503, delay: "5s" } });
    faults.add({ id: "slow", times: 1, effect: { delay: "20ms" } });
    const { injection } = await evaluateCall(faults, "threads.delete");
    expect(injection).toMatchObject({ decision: "fault:inline/answer", delay_ms: 20 });
    const hits = Object.fromEntries(
      faults.rules.inlineRules.map(({ rule, progress }) => [rule.id, progress.hits]),
    );
    expect(hits).toEqual({ slow: 1, answer: 1, "never-asked": 0 });
  });
});

describe("an answer of a rule", () => {
  const evaluateEffect = async (effect: object, sent: object = {}, operation = "threads.delete") => {
    const faults = createFaults(1);
    faults.add({ id: "f", match: { operation }, effect });
    return (await evaluateCall(faults, operation, sent)).injection?.effect;
  };

  it("keeps its headers if its status has no body [interfaces 6]", async () => {
    expect(await evaluateEffect({ status: 204, headers: { "x-mine": "1" } })).toEqual({
      kind: "raw",
      status: 204,
      headers: { "x-mine": "1" },
      body: undefined,
      content_type: undefined,
    });
  });

  it("has the rule's headers in place of those of the same name in any case [interfaces 6]", async () => {
    const headers = { "retry-AFTER": "7", "x-mine": "1" };
    expect((await evaluateEffect({ error: "RATE_LIMIT_EXCEEDED", headers })) as object).toHaveProperty(
      "headers",
      headers,
    );
    expect(await evaluateEffect({ error: "RATE_LIMIT_EXCEEDED" })).toMatchObject({
      headers: { "Retry-After": "60" },
    });
  });

  it("has details that name the organization of the request [interfaces 6]", async () => {
    const sent = { query: "org_id=org_wanted", organization: "org_present" };
    const effect = { error: "ORGANIZATION_ACCESS_DENIED" };
    const wanted = await evaluateEffect(effect, sent, "usage.retrieve_limits");
    expect(wanted).toMatchObject({ details: { organization_id: "org_wanted" } });
    const present = await evaluateEffect(effect, { ...sent, query: "" }, "usage.retrieve_limits");
    expect(present).toMatchObject({ details: { organization_id: "org_present" } });
  });
});

describe("the journal's reasons", () => {
  it("name the nearest rule that did not match, with the missed condition [interfaces 3]", async () => {
    const faults = createFaults(1);
    faults.add({
      id: "far",
      match: { operation: "threads.delete", organization: "org_x" },
      effect: EFFECT,
    });
    faults.add({
      id: "near",
      match: { operation: "threads.delete", organization: "org_acme", header: { "x-trial": "b" } },
      effect: EFFECT,
    });
    const { reasons } = await evaluateCall(faults, "threads.delete");
    expect(reasons).toEqual(['nearest rule inline/near did not match: header x-trial is not "b"']);
  });

  it("name a rule for another caller, and show a random draw [interfaces 3]", async () => {
    const faults = createFaults(1);
    faults.add({
      id: "f",
      match: { operation: "threads.delete", principal: "usr_ada" },
      effect: EFFECT,
    });
    expect((await evaluateCall(faults, "threads.delete", { user: "usr_dan" })).reasons).toEqual([
      "nearest rule inline/f did not match: principal is not usr_ada",
    ]);
    faults.add({ id: "p", probability: 0.000001, effect: EFFECT });
    const [reason] = (await evaluateCall(faults, "threads.delete")).reasons;
    expect(reason).toMatch(/^inline\/p matched, but did not trigger: draw 0\.\d{4} is not below 0\.000001$/);
  });

  it("are one shared list for requests without a near rule [interfaces 6]", async () => {
    const faults = createFaults(1);
    faults.add({
      id: "f",
      match: { operation: "threads.delete", principal: "usr_ada" },
      effect: EFFECT,
    });
    const first = faults.before(createFacts("threads.delete", { user: "usr_dan" }));
    const second = faults.before(createFacts("threads.delete", { user: "usr_eve" }));
    expect((await first).reasons).toBe((await second).reasons);
  });
});

describe("a thousand rules", () => {
  it("are evaluated only if they can match the operation and the caller of the request [interfaces 6]", async () => {
    const faults = createFaults(1);
    let asked = 0;
    for (let i = 0; i < 1000; i++) {
      const match =
        i % 5 === 0
          ? { operation: "threads.delete", principal: `usr_${i}` }
          : { operation: "departments.reparent", path: "/v1/organizations/none/**" };
      faults.add({ id: `r${i}`, match, effect: EFFECT });
    }
    for (const { rule } of faults.rules.inlineRules) {
      for (const criterion of rule.criteria) {
        const { isMet } = criterion;
        criterion.isMet = (facts) => {
          asked += 1;
          return isMet(facts);
        };
      }
    }
    expect(await decideCall(faults, "threads.delete", { user: "usr_dan" })).toBe("-");
    expect(await decideCall(faults, "threads.delete", { user: "usr_995" })).toBe("fault:inline/r995");
    expect(await decideCall(faults, "usage.retrieve_limits", { user: "usr_dan" })).toBe("-");
    expect(asked).toBe(0);
  });

  it("are not armed if used up or of probability 0 [interfaces 6]", async () => {
    const faults = createFaults(1);
    expect(faults.mayAffectRequests).toBe(false);
    faults.add({ id: "zero", probability: 0, effect: EFFECT });
    expect(faults.mayAffectRequests).toBe(false);
    faults.add({ id: "once", times: 1, effect: EFFECT });
    expect(faults.mayAffectRequests).toBe(true);
    expect(await decideCall(faults, "threads.delete")).toBe("fault:inline/once");
    expect(faults.mayAffectRequests).toBe(false);
    faults.add({ id: "deliveries", match: { event: "user.*" }, effect: EFFECT });
    expect(faults.mayAffectRequests).toBe(false);
  });
});
