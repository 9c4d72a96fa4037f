import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { CLIENT_CHECK_NAMES } from "../../src/engine/faults/rule-document.ts";
import { CLIENT_CHECKS } from "../../src/tools/client-test/checks/index.ts";
import { createClient, type Flaws } from "./clients.ts";

/* interfaces 21: a flawed client is found by the name of its flaw, and a sound one gets no false word. */

let server: LocalUnderstudy;
beforeAll(async () => {
  server = await createUnderstudy();
});
afterAll(() => server.close());

const WEBHOOK = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
const LIST = "/v1/assistants/asst_helper/history";
const UPLOADS = "/v1/organizations/org_acme/files/upload-url";

type Work = (sandbox: SandboxClient, flaws: Flaws, signal: AbortSignal) => Promise<unknown>;

const clientOf = (sandbox: SandboxClient, flaws: Flaws, signal: AbortSignal) =>
  createClient(sandbox, sandbox.credentials.usr_ada, flaws, signal);

/** Reads, creates, reads again. */
const work: Work = async (sandbox, flaws, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  await call("GET", "/v1/models");
  await call("POST", "/webhooks", WEBHOOK);
  await call("GET", "/v1/models");
};

const readTwice: Work = async (sandbox, flaws, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  const path = "/v1/audio/transcribe/trans_short/sentences";
  await call("GET", path);
  await call("GET", path);
};

const create: Work = (sandbox, flaws, signal) =>
  clientOf(sandbox, flaws, signal).call("POST", "/webhooks", WEBHOOK);

const readTogether: Work = async (sandbox, flaws, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  await call("GET", "/v1/models");
  await Promise.all(Array.from({ length: 4 }, () => call("GET", "/v1/models")));
};

const upload: Work = async (sandbox, flaws, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  const bytes = new Uint8Array(2 * 256 * 1024).fill(65);
  const file = { filename: "a.txt", mime_type: "text/plain", file_size: bytes.length };
  const { upload_url } = await call("POST", UPLOADS, file);
  const put = async (from: number, to: number) => {
    const part = bytes.subarray(from, to);
    const range = part.length === 0 ? "*" : `${from}-${to - 1}`;
    const headers = { "content-range": `bytes ${range}/${bytes.length}` };
    const answer = await fetch(upload_url, { method: "PUT", signal, headers, body: part });
    await answer.arrayBuffer();
    return answer;
  };
  if (flaws.probesFirst) await put(0, 0).catch(() => {});
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 256 * 1024);
    try {
      await put(at, end);
      at = end;
    } catch {
      if (flaws.restartsUpload) continue;
      const { status, headers } = await put(0, 0);
      at =
        status === 308 ? Number(/-(\d+)$/.exec(headers.get("range") ?? "-0")?.[1] ?? -1) + 1 : bytes.length;
    }
  }
};

/** The whole file in one piece; the service takes a second registration of the same upload as the first. */
const register: Work = async (sandbox, flaws, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  const file = { filename: "a.txt", mime_type: "text/plain", file_size: 10 };
  const { upload_url, gcs_path } = await call("POST", UPLOADS, file);
  const put = () => fetch(upload_url, { method: "PUT", signal, body: "0123456789" });
  await put().catch(put);
  await call("POST", UPLOADS.replace("/upload-url", ""), { ...file, gcs_path });
};

const readPages: Work = async (sandbox, { pages, ...flaws }, signal) => {
  const { call } = clientOf(sandbox, flaws, signal);
  const limit = 2;
  for (let offset = 0; ; offset += limit + (pages === "gap" ? 1 : 0)) {
    const answer = await call("GET", `${LIST}?limit=${limit}&offset=${offset}`);
    if (pages === "twice" && offset === limit) await call("GET", `${LIST}?limit=${limit}&offset=${offset}`);
    if (!answer.pagination.has_more || (pages === "stops" && offset > 0)) return;
  }
};

async function grade(flaws: Flaws, only?: string[], does = work, timeoutMs = 4000) {
  const sandbox = await server.sandbox({ clock: { mode: "frozen" } });
  try {
    return await sandbox.gradeClient((signal) => does(sandbox, flaws, signal), { only, timeoutMs });
  } finally {
    await sandbox.delete();
  }
}

describe("a sound client", () => {
  it.each([
    ["with a key", {}, work],
    ["with ETags", { etags: true }, readTwice],
    ["without retries", { retries: () => false }, work],
    ["with tokens", { usesToken: true, timeoutMs: 3000 }, readTogether],
    ["that uploads", {}, upload],
    ["that asks how much has arrived before it uploads", { probesFirst: true }, upload],
    ["that registers a file again", { blindRepeat: true }, register],
    ["that reads pages", {}, readPages],
  ] satisfies [string, Flaws, Work][])(
    "%s is accused of something [interfaces 21]",
    async (_, flaws, does) => {
      const report = await grade(flaws, undefined, does, 6000);
      const accused = report.checks.filter(({ outcome }) => outcome === "failed");
      expect(accused.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
      expect(report).toMatchObject({ verdict: "pass", stopped: null });
    },
    60_000,
  );
});

const NEVER_AGAIN = (retry: number) => (retry > 25 ? undefined : 1);

describe("a flaw is not found, or by another name", () => {
  it.each([
    ["honours-retry-after", { pause: () => 100 }, work],
    // Its body was not read when it was refused.
    ["honours-retry-after", { pause: () => 100 }, create],
    ["bounded-retries", { pause: NEVER_AGAIN }, work],
    ["growing-pauses", { pause: (retry: number) => (retry > 4 ? undefined : 200) }, work],
    ["no-retry-of-400", { retries: () => true }, work],
    ["no-retry-of-403", { retries: () => true }, work],
    ["no-retry-of-404", { retries: () => true }, work],
    ["no-retry-of-422", { retries: () => true }, work],
    ["no-blind-repeat", { blindRepeat: true }, work],
    ["resumes-uploads", { restartsUpload: true }, upload],
    ["gives-up-on-silence", { timeoutMs: 0 }, work],
    ["survives-wrong-type", { patientBody: true }, work],
    ["tolerates-additions", { strict: true }, work],
    ["tolerates-new-values", { closed: true }, work],
    ["one-refresh", { usesToken: true, refreshEach: true, timeoutMs: 3000 }, readTogether],
    ["no-credentials-in-urls", { keyInUrl: true }, work],
    ["no-credentials-elsewhere", { redirect: "follow" }, work],
    ["reads-all-pages", { pages: "twice" }, readPages],
    ["reads-all-pages", { pages: "gap" }, readPages],
    ["reads-all-pages", { pages: "stops" }, readPages],
    ["uses-etags", {}, readTwice],
  ] satisfies [string, Flaws, Work][])(
    "%s [interfaces 21]",
    async (id, flaws, does) => {
      const { checks, verdict } = await grade(flaws, [id], does);
      expect(checks).toMatchObject([{ id, outcome: "failed" }]);
      expect(checks[0]!.evidence.length).toBeGreaterThan(0);
      expect(verdict).toBe(checks[0]!.severity === "warning" ? "pass" : "fail");
    },
    30_000,
  );

  it("a scenario may expect a check that does not exist [interfaces 21]", () => {
    const known = CLIENT_CHECKS.map(({ id }) => id);
    expect(CLIENT_CHECK_NAMES.filter((id) => !known.includes(id))).toEqual([]);
  });

  it("each check has a flaw that fails it", () => {
    // `survives-truncated` and `survives-empty` share the code of `survives-wrong-type`; `jittered-pauses` has a unit test.
    expect(CLIENT_CHECKS.length).toBe(21);
  });
});

describe("a client that cannot be graded", () => {
  it("gets no sentence that says why [interfaces 21]", async () => {
    const silent = await grade({}, undefined, async () => {});
    expect(silent).toMatchObject({ verdict: "not-graded", checks: [] });
    expect(silent.stopped).toContain("made no request to the sandbox");
    const broken = await grade({}, undefined, async () => {
      throw new Error("connect ECONNREFUSED 127.0.0.1:4747");
    });
    expect(broken.stopped).toContain("ECONNREFUSED 127.0.0.1:4747");
    const failing = await grade({}, undefined, async (sandbox, flaws, signal) => {
      await work(sandbox, flaws, signal);
      throw new Error("no field data");
    });
    expect(failing.stopped).toContain("even without failures: no field data");
    await expect(grade({}, ["no-such-check"])).rejects.toThrow(
      /there is no check "no-such-check"; there are honours/,
    );
  });

  it("leaves the sandbox in another state [interfaces 21]", async () => {
    const sandbox = await server.sandbox({
      clock: { mode: "frozen" },
      settings: { token_lifetime_seconds: 77 },
    });
    const before = await sandbox.info();
    await sandbox.gradeClient((signal) => readTogether(sandbox, { usesToken: true }, signal), {
      only: ["one-refresh", "no-credentials-elsewhere"],
    });
    const { clock, settings, counts } = await sandbox.info();
    expect({ clock, settings, counts }).toEqual({
      clock: before.clock,
      settings: before.settings,
      counts: before.counts,
    });
    expect((await sandbox.faults.list()).items).toEqual([]);
    await sandbox.delete();
  });
});
