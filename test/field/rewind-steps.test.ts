import { beforeEach, describe, expect, it } from "vitest";
import { createHistoryClient } from "../support/history-setup.ts";
import { useReference } from "../support/use-reference.ts";
import { startReceiver } from "../support/webhook-setup.ts";

const api = useReference();
let count = 0;
let sandbox: ReturnType<typeof createHistoryClient>;
let prefix: string;

async function create(clock: object, more: object = {}) {
  const settings = { connector_failure_rate: 0, ...more };
  const name = `steps-${++count}`;
  await api.call(undefined, "POST", "/_control/sandboxes", { name, clock, settings });
  sandbox = createHistoryClient(api, name);
  prefix = `/_s/${name}`;
}
beforeEach(() => create({ mode: "frozen" }));

/** Rewinds to before the newest timer or retry entry of this record that an advance caused. */
async function rewindBefore(subject: string, kind: string) {
  const { id, at } = await sandbox.newest(`?kind=${kind}&subject=${subject}`);
  await sandbox.rewind(id);
  const { now } = await sandbox.ok("GET", "/clock");
  expect(Date.parse(now)).toBeLessThan(Date.parse(at));
  return id;
}
const fetchStatus = async (path: string) => (await sandbox.ok("GET", `/state/${path}`)).status;
const listPending = async (subject: string) =>
  (await sandbox.ok("GET", "/clock/pending")).filter((one: { subject: string }) => one.subject === subject);

describe("rewinding to before a step of an advance", () => {
  it.each(["frozen", "real"])("restores a running connector job, with a %s clock", async (mode) => {
    await create({ mode });
    await sandbox.ok("POST", "/clock/advance", { by: "5m" });
    expect(await fetchStatus("connector_jobs/job_sync_running")).toBe("succeeded");
    const id = await rewindBefore("job_sync_running", "timer");
    expect(await fetchStatus("connector_jobs/job_sync_running")).toBe("running");
    expect((await sandbox.get(id)).undone).toBe(true);
    expect((await sandbox.newest("?kind=control")).undone).toBe(false);
    await sandbox.ok("POST", "/clock/advance", { by: "5m" });
    expect(await fetchStatus("connector_jobs/job_sync_running")).toBe("succeeded");
  });

  it("restores a file in processing, from the step that was rewound to", async () => {
    const [file] = (await sandbox.ok("GET", "/state/store_files?file_id=file_policies")).items;
    const path = `store_files/${file.id}`;
    await sandbox.ok("POST", "/clock/advance", { by: "5m" });
    expect(await fetchStatus(path)).toBe("completed");
    await rewindBefore("file_policies", "timer");
    expect(await fetchStatus(path)).toBe("processing");
    expect(await listPending("file_policies")).toHaveLength(1);
    await sandbox.ok("POST", "/clock/advance", { by: "5m" });
    expect(await fetchStatus(path)).toBe("completed");
  });

  it("restores a transcription in processing", async () => {
    await sandbox.ok("POST", "/clock/advance", { by: "2h" });
    expect(await fetchStatus("transcriptions/trans_pending")).toBe("completed");
    await rewindBefore("trans_pending", "timer");
    expect(await fetchStatus("transcriptions/trans_pending")).toBe("processing");
    expect(await listPending("trans_pending")).toHaveLength(1);
  });

  it("restores one of two things due at one instant", async () => {
    for (const id of ["trans_one", "trans_two"])
      await sandbox.ok("POST", "/state/transcriptions", { transcription_id: id, status: "processing" });
    await sandbox.ok("POST", "/clock/advance", { by: "2h" });
    const [first, second] = (await sandbox.entries("?kind=timer")).slice(-2);
    expect(first!.at).toBe(second!.at);
    await sandbox.rewind(second!.id);
    expect(await fetchStatus(`transcriptions/${first!.subject}`)).toBe("completed");
    expect(await fetchStatus(`transcriptions/${second!.subject}`)).toBe("processing");
  });

  it("restores the retry of a delivery", async () => {
    const answers = { answers: [500, 500, 200] };
    const { url, id: receiver } = await sandbox.ok("POST", "/receivers", answers);
    const hook = { url, events: ["user.created"] };
    await api.call("ada", "POST", `${prefix}/webhooks`, hook);
    await sandbox.ok("POST", "/state/users", { name: "Zoe" });
    await sandbox.ok("POST", "/clock/advance", { by: 0 });
    const [delivery] = (await sandbox.ok("GET", "/deliveries")).items.filter(
      (one: { event: string; attempts: number }) => one.event === "user.created" && one.attempts === 1,
    );
    const { delivery_id } = delivery;
    await sandbox.ok("POST", "/clock/advance", { by: "10m" });
    const readDelivery = () => sandbox.ok("GET", `/deliveries/${delivery_id}`);
    const countReceived = async () =>
      (await sandbox.ok("GET", `/receivers/${receiver}/requests`)).items.length;
    expect([(await readDelivery()).status, await countReceived()]).toEqual(["success", 3]);
    const retries = (await sandbox.entries(`?kind=delivery&subject=${delivery_id}`)).slice(-2);
    for (const [made, { id }] of [...retries.entries()].reverse()) {
      await sandbox.rewind(id);
      expect(await readDelivery()).toMatchObject({
        status: "failed",
        attempts: made + 1,
        next_retry: expect.any(String),
      });
      expect(await listPending(delivery_id)).toMatchObject([{ kind: "webhook.retry" }]);
      expect(await countReceived()).toBe(3);
    }
    await sandbox.ok("POST", "/clock/advance", { by: "10m" });
    expect([(await readDelivery()).status, await countReceived()]).toEqual(["success", 5]);
  });

  it("restores the first of two retries due at one instant, and marks its former attempt undone", async () => {
    const { url, id: receiver } = await sandbox.ok("POST", "/receivers", { answers: [500, 500, 200] });
    await api.call("ada", "POST", `${prefix}/webhooks`, { url, events: ["user.created"] });
    for (const name of ["Zoe", "Amy"]) await sandbox.ok("POST", "/state/users", { name });
    await sandbox.ok("POST", "/clock/advance", { by: 0 });
    await sandbox.ok("POST", "/clock/advance", { by: "10m" });
    const [first, second] = (await sandbox.entries("?kind=delivery")).slice(-2);
    expect(first!.at).toBe(second!.at);
    await sandbox.rewind(second!.id);
    const countMade = async () => (await sandbox.ok("GET", `/receivers/${receiver}/requests`)).items.length;
    await expect.poll(countMade).toBe(5);
    await sandbox.ok("POST", "/clock/advance", { by: 0 });
    const states: unknown[] = [];
    for (const { subject } of [first!, second!]) {
      const entries = await sandbox.entries(`?kind=delivery&subject=${subject}`);
      const { status, attempts } = await sandbox.ok("GET", `/deliveries/${subject}`);
      expect(entries.filter(({ undone }) => !undone)).toHaveLength(attempts);
      states.push([status, attempts, entries.length]);
    }
    expect(states).toEqual([
      ["success", 2, 3],
      ["failed", 1, 2],
    ]);
  });

  it("removes every trace of a request during a retry: its id and its place in the rate window", async () => {
    const waiting: ((status: number) => void)[] = [];
    const receiver = await startReceiver((_, __, respond) => void waiting.push(respond));
    const waitForArrivals = async (count: number) => expect.poll(() => waiting.length).toBe(count);
    await api.call("ada", "POST", `${prefix}/webhooks`, { url: receiver.url, events: ["user.created"] });
    await sandbox.ok("POST", "/state/users", { name: "Zoe" });
    await waitForArrivals(1);
    waiting[0]!(500);
    await sandbox.ok("POST", "/clock/advance", { by: 0 });
    const advance = sandbox.ok("POST", "/clock/advance", { by: "1m" });
    await waitForArrivals(2);
    const ask = () => api.call("dan", "GET", `${prefix}/v1/models`);
    const asked = await ask();
    expect(asked.status, asked.text).toBe(200);
    waiting[1]!(200);
    await advance;
    await sandbox.rewind((await sandbox.newest("?kind=delivery")).id);
    const again = await ask();
    expect(again.status).toBe(200);
    for (const name of ["x-request-id", "x-ratelimit-remaining"])
      expect(again.headers.get(name), name).toBe(asked.headers.get(name));
    await receiver.close();
  });

  it("restores a retry that began before the oldest change of the history", async () => {
    await create({ mode: "frozen" }, { history_limit: 5 });
    const waiting: ((status: number) => void)[] = [];
    const receiver = await startReceiver((_, __, respond) => void waiting.push(respond));
    const waitForArrivals = async (count: number) => expect.poll(() => waiting.length).toBe(count);
    await api.call("ada", "POST", `${prefix}/webhooks`, { url: receiver.url, events: ["user.created"] });
    await sandbox.ok("POST", "/state/users", { name: "Zoe" });
    await waitForArrivals(1);
    waiting[0]!(500);
    await sandbox.ok("POST", "/clock/advance", { by: 0 });
    const advance = sandbox.ok("POST", "/clock/advance", { by: "1m" });
    await waitForArrivals(2);
    for (let n = 0; n < 8; n++) await sandbox.ok("POST", "/state/departments", { name: `Team ${n}` });
    waiting[1]!(200);
    await advance;
    const { id, kept, subject } = await sandbox.newest("?kind=delivery");
    expect(kept).toBe(true);
    await sandbox.rewind(id);
    expect(await sandbox.ok("GET", `/deliveries/${subject}`)).toMatchObject({
      status: "failed",
      attempts: 1,
    });
    await receiver.close();
  });
});
