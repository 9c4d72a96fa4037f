import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Settings } from "../../src/engine/contract/settings.ts";
import { storeFiles } from "../../src/engine/resources/vector-stores/schema.ts";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

const STATUS = "/v1/organizations/org_acme/stores/vs_handbook/files/file_policies/status";
const JOB = "/v1/organizations/org_acme/knowledge/connectors/jobs/job_sync_running";
const CLOCK = { mode: "frozen", now: EPOCH };

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

/** Creates a sandbox, and returns functions that call its state and its emulated API. */
async function createSandbox(settings: Partial<Settings>, more: object = {}) {
  const made = await api.call(undefined, "POST", "/_control/sandboxes", { clock: CLOCK, settings, ...more });
  expect(made.status, made.text).toBe(201);
  const name: string = made.body.name;
  const control = `/_control/sandboxes/${name}`;
  const callOk = async (method: string, path: string, body?: unknown) => {
    const answer = await api.call(path.startsWith("/v1") ? "dan" : undefined, method, path, body, {
      "x-sandbox": name,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  return {
    name,
    ok: callOk,
    state: (method: string, path: string, body?: unknown) => callOk(method, `${control}/state/${path}`, body),
    advance: (by: string) => callOk("POST", `${control}/clock/advance`, { by }),
    control: (method: string, path: string, body?: unknown) => callOk(method, control + path, body),
  };
}

describe("state calls follow the settings of their sandbox", () => {
  it("if they put a file into a store, which takes processing_seconds [G11]", async () => {
    const { state, advance } = await createSandbox({ processing_seconds: 600 });
    await state("POST", "store_files", { store_id: "vs_empty", file_id: "file_loose" });
    await advance("300s");
    expect(await state("GET", "store_files/vs_empty:file_loose")).toMatchObject({
      status: "processing",
      progress_percent: 50,
    });
    await advance("300s");
    expect(await state("GET", "store_files/vs_empty:file_loose")).toMatchObject({ status: "completed" });
  });

  it("if they restart a file, which takes as long as the setting says then [G11]", async () => {
    const { state, advance, control } = await createSandbox({});
    await control("PATCH", "", { settings: { processing_seconds: 200 } });
    await state("PATCH", "store_files/vs_handbook:file_handbook", { status: "processing" });
    await advance("100s");
    expect(await state("GET", "store_files/vs_handbook:file_handbook")).toMatchObject({
      status: "processing",
      progress_percent: 50,
    });
  });

  it("if they start or restart a job, which takes connector_job_seconds [G14]", async () => {
    const { state, advance } = await createSandbox({ connector_job_seconds: 300 });
    const { job_id } = await state("POST", "connector_jobs", {
      connection_id: "conn_wiki",
      job_type: "sync",
    });
    await state("PATCH", "connector_jobs/job_reset_failed", { status: "running" });
    await advance("299s");
    expect((await state("GET", `connector_jobs/${job_id}`)).status).toBe("running");
    expect((await state("GET", "connector_jobs/job_reset_failed")).status).toBe("running");
    await advance("1s");
    expect(await state("GET", `connector_jobs/${job_id}`)).toMatchObject({
      status: "succeeded",
      duration: 300,
    });
    expect((await state("GET", "connector_jobs/job_reset_failed")).status).toBe("succeeded");
  });
});

describe("work in progress of a fixture follows the settings", () => {
  it("if processing takes longer: the file has made less progress, and ends later [G11]", async () => {
    const { ok, advance } = await createSandbox({ processing_seconds: 270 });
    expect(await ok("GET", STATUS)).toMatchObject({ status: "processing", progress_percent: 10 });
    await advance("242s");
    expect((await ok("GET", STATUS)).status).toBe("processing");
    await advance("1s");
    expect(await ok("GET", STATUS)).toMatchObject({
      status: "completed",
      completed_at: "2026-03-15T12:04:03.000Z",
    });
  });

  it("if processing takes less time: the file ended before the epoch [G11]", async () => {
    const { ok } = await createSandbox({ processing_seconds: 10 });
    expect(await ok("GET", STATUS)).toMatchObject({
      status: "completed",
      completed_at: "2026-03-15T11:59:43.000Z",
    });
  });

  it("for job_sync_running, which takes connector_job_seconds, then succeeds [G14]", async () => {
    const { ok, advance } = await createSandbox({ connector_job_seconds: 40 });
    await advance("29s");
    expect((await ok("GET", JOB)).status).toBe("running");
    await advance("1s");
    expect(await ok("GET", JOB)).toMatchObject({ status: "succeeded", duration: 40 });
  });

  it("but a job or a file without a start is in progress with any settings [G14]", async () => {
    const fixture = {
      extends: "reference",
      connector_jobs: [
        { job_id: "job_own", connection_id: "conn_wiki", job_type: "reset", status: "running" },
      ],
      vector_stores: [{ id: "vs_empty", files: [{ file_id: "file_loose", status: "processing" }] }],
    };
    for (const seconds of [2, 60, 86_400]) {
      const settings = { connector_job_seconds: seconds, processing_seconds: seconds };
      const { state } = await createSandbox(settings, { fixture });
      expect((await state("GET", "connector_jobs/job_own")).status).toBe("running");
      expect((await state("GET", "store_files/vs_empty:file_loose")).status).toBe("processing");
    }
  });

  it("at a reset, while a fork and a snapshot keep their times [G11, G14]", async () => {
    const { name, ok, advance, control } = await createSandbox({ connector_job_seconds: 40 });
    await control("POST", "/snapshots", { name: "early" });
    await control("PATCH", "", { settings: { connector_job_seconds: 100 } });
    await ok("POST", `/_control/sandboxes/${name}/fork`, { name: "second" });
    await control("POST", "/reset");
    await advance("89s");
    expect((await ok("GET", JOB)).status).toBe("running");
    await control("POST", "/snapshots/early/restore");
    await advance("30s");
    expect((await ok("GET", JOB)).status).toBe("succeeded");
    await ok("POST", "/_control/sandboxes/second/clock/advance", { by: "30s" });
    const forked = await api.call("dan", "GET", JOB, undefined, { "x-sandbox": "second" });
    expect(forked.body).toMatchObject({ status: "succeeded", duration: 40 });
  });

  it("while sandboxes share everything that does not depend on settings [decision 2]", async () => {
    const { sandboxes } = api.understudy;
    const getRoot = (name: string) => sandboxes.get(name)!.world.root;
    const first = (await createSandbox({ processing_seconds: 500 })).name;
    const second = (await createSandbox({ processing_seconds: 500, journal_limit: 7 })).name;
    const plain = (await createSandbox({ journal_limit: 7 })).name;
    expect(getRoot(plain)).toBe(getRoot("default"));
    expect(getRoot(second).tables.get(storeFiles.name)).toBe(getRoot(first).tables.get(storeFiles.name));
    expect(getRoot(first).tables.get("departments")).toBe(getRoot("default").tables.get("departments"));
    expect(getRoot(first).tables.get(storeFiles.name)).not.toBe(
      getRoot("default").tables.get(storeFiles.name),
    );
  });

  it("also after a restart from disk [interfaces 2]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "understudy-test-"));
    const persist = { folder, durable: false };
    await api.close();
    try {
      const settings = { connector_job_seconds: 40 };
      api = await startReference({ persist, settings });
      await api.call(undefined, "PATCH", "/_control/sandboxes/default", {
        settings: { connector_job_seconds: 1 },
      });
      await api.close();
      api = await startReference({ persist, settings: {} });
      await api.advance(29_000);
      expect((await api.call("dan", "GET", JOB)).body.status).toBe("running");
      await api.advance(1000);
      expect((await api.call("dan", "GET", JOB)).body.status).toBe("succeeded");
    } finally {
      await api.close();
      rmSync(folder, { recursive: true, force: true });
      api = await startReference();
    }
  });
});
