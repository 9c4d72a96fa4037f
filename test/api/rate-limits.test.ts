import { describe, expect, it } from "vitest";
import { type Caller, EPOCH, KEYS } from "../support/harness.ts";
import { getDecision, REPARENT, TO_OPS, useReferencePerTest } from "../support/reference-per-test.ts";

const api = useReferencePerTest();
const { listConfigs, setRateLimit, restart } = api;

describe("rate limits [section 8]", () => {
  const readLimit = async (who: Caller) => (await listConfigs({}, who)).headers.get("x-ratelimit-limit");

  it("follow the plan of the key's organization: premium, standard, enterprise [8]", async () => {
    expect([await readLimit("ada"), await readLimit("eve"), await readLimit("ivan")]).toEqual([
      "1000",
      "100",
      "5000",
    ]);
  });

  it("are in both header families, on refusals too [8, G07]", async () => {
    await api.advance(19_000);
    const answer = await listConfigs({}, "dan");
    expect(answer.status).toBe(403);
    const reset = Date.parse(EPOCH) / 1000 + 60;
    expect(
      Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith("x-ratelimit"))),
    ).toEqual({
      "x-ratelimit-limit": "1000",
      "x-ratelimit-remaining": "999",
      "x-ratelimit-reset": String(reset),
      "x-ratelimit-limit-requests": "1000",
      "x-ratelimit-remaining-requests": "999",
      "x-ratelimit-reset-requests": "41s",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-remaining-tokens": "1000000",
      "x-ratelimit-reset-tokens": "41s",
    });
  });

  it("are written 1m0s for a whole window [G07]", async () => {
    expect((await listConfigs({}, "ada")).headers.get("x-ratelimit-reset-requests")).toBe("1m0s");
  });

  it.each([
    ["plain", true, false],
    ["alternative", false, true],
  ] as const)(
    "are in one family of headers with rate_headers %s [G07]",
    async (rate_headers, plain, alternative) => {
      await restart({ rate_headers });
      const { headers } = await listConfigs({}, "ada");
      expect(headers.has("x-ratelimit-limit")).toBe(plain);
      expect(headers.has("x-ratelimit-remaining-tokens")).toBe(alternative);
    },
  );

  it("show an exact number of remaining requests for any limit [8]", async () => {
    for (const [limit, ...left] of [
      [1001, "1000", "999"],
      [2_000_051, "2000050", "2000049"],
    ] as const) {
      await restart({});
      setRateLimit("org_globex", limit);
      for (const each of left) {
        const { headers } = await listConfigs({}, "eve");
        expect(headers.get("x-ratelimit-remaining")).toBe(each);
        expect(headers.get("x-ratelimit-remaining-requests")).toBe(each);
      }
    }
  });

  it("answer 429 with details and Retry-After, in the operation's envelope, to the request over the limit [G05]", async () => {
    setRateLimit("org_globex", 3);
    await api.advance(30_000);
    const remaining = [];
    for (let sent = 0; sent < 3; sent++) {
      remaining.push((await listConfigs({}, "eve")).headers.get("x-ratelimit-remaining"));
    }
    expect(remaining).toEqual(["2", "1", "0"]);
    const answer = await listConfigs({}, "eve");
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      type: "client_error",
      details: { limit: 3, window_seconds: 60, retry_after_seconds: 30 },
    });
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(getDecision(answer)).toBe("rate-limit");
  });

  it("have windows of one minute of the sandbox's clock, and the next one is full [G07]", async () => {
    setRateLimit("org_globex", 1);
    await api.advance(59_000);
    expect((await listConfigs({}, "eve")).status).toBe(200);
    expect((await listConfigs({}, "eve")).headers.get("retry-after")).toBe("1");
    await api.advance(999);
    expect((await listConfigs({}, "eve")).status).toBe(429);
    await api.advance(1);
    expect((await listConfigs({}, "eve")).status).toBe(200);
    expect((await listConfigs({}, "eve")).headers.get("retry-after")).toBe("60");
  });

  it("count for each key, and an access token counts for its key [G07]", async () => {
    setRateLimit("org_acme", 3);
    const { body } = await api.call("ada", "POST", "/v1/auth/token");
    const bearer = { authorization: `Bearer ${body.access_token}` };
    const fetchRemaining = async (headers: Record<string, string>) =>
      (await listConfigs(headers)).headers.get("x-ratelimit-remaining");
    expect(await fetchRemaining(bearer)).toBe("1");
    expect(await fetchRemaining({ "api-key": KEYS.ci })).toBe("2");
    expect(await fetchRemaining({ "api-key": KEYS.ada })).toBe("0");
    expect((await listConfigs(bearer)).status).toBe(429);
    expect(await fetchRemaining({ "api-key": KEYS.ben })).toBe("2");
  });

  it("count requests refused by validation and access, but not those without credentials [G04]", async () => {
    await listConfigs();
    await api.call("ada", "POST", REPARENT, "{", { "content-type": "application/json" });
    await api.call("ada", "POST", REPARENT, { new_parent_id: 1 });
    await api.call("ada", "POST", REPARENT.replace("dept_ml", "dept_none"), TO_OPS);
    expect((await listConfigs({}, "ada")).headers.get("x-ratelimit-remaining")).toBe("996");
  });

  it("are full again after a reset [8]", async () => {
    setRateLimit("org_globex", 1);
    await listConfigs({}, "eve");
    api.understudy.sandboxes.get("default")!.reset();
    expect((await listConfigs({}, "eve")).headers.get("x-ratelimit-remaining")).toBe("99");
  });

  it("are separate for each sandbox [8]", async () => {
    api.understudy.sandboxes.create({ name: "other", clock: { mode: "frozen", now: Date.parse(EPOCH) } });
    await listConfigs({}, "eve");
    const { headers } = await listConfigs({ "x-sandbox": "other" }, "eve");
    expect(headers.get("x-ratelimit-remaining")).toBe("99");
  });
});
