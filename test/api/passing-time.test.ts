import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function control(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await api.call(undefined, method, `/_control/sandboxes/default${path}`, body);
  if (answer.status >= 400) throw new Error(answer.text);
  return answer.text === "" ? undefined : JSON.parse(answer.text);
}
const changeSettings = (changed: object) => control("PATCH", "", { settings: changed });
const restart = async (changed: object) => {
  await api.close();
  api = await startReference({ settings: changed });
};
const advance = async (by: number): Promise<{ at: string; kind: string; subject: string }[]> =>
  (await control("POST", "/clock/advance", { by })).ran;
const listPendingKinds = async () =>
  (await control("GET", "/clock/pending")).map(({ kind }: { kind: string }) => kind);

describe("transcriptions [G17]", () => {
  const listSentences = (id = "trans_pending", who: Caller = "dan") =>
    api.call(who, "GET", `/v1/audio/transcribe/${id}/sentences`);

  it("complete an hour after the fixture's epoch, with their sentences, if in processing [G17]", async () => {
    await advance(HOUR - 1000);
    expect((await listSentences()).status).toBe(422);
    const ran = await advance(1000);
    expect(ran).toContainEqual({
      at: "2026-03-15T13:00:00.000Z",
      kind: "transcription.step",
      subject: "trans_pending",
    });
    const { status, body, headers } = await listSentences();
    expect(status).toBe(200);
    expect(headers.get("last-modified")).toBe("Sun, 15 Mar 2026 13:00:00 GMT");
    const { sentences: heard, audio_duration_seconds } = body.data;
    expect(heard.length).toBeGreaterThan(5);
    expect(body.metadata.total_count).toBe(heard.length);
    let clock = 0;
    for (const { text, start, end } of heard) {
      expect(text).not.toBe("");
      expect(start).toBeGreaterThanOrEqual(clock);
      expect(end).toBeGreaterThan(start);
      clock = end;
    }
    expect(clock).toBeLessThanOrEqual(audio_duration_seconds);
    expect(audio_duration_seconds - clock).toBeLessThan(15);
    expect(await control("GET", "/state/transcriptions/trans_pending")).toMatchObject({
      status: "completed",
      completed_at: "2026-03-15T13:00:00.000Z",
    });
  });

  it("take transcription_seconds from the epoch in a fixture, and from the creation in a state call [G17]", async () => {
    await restart({ transcription_seconds: 90 });
    await advance(80_000);
    const made = await control("POST", "/state/transcriptions", {
      transcription_id: "trans_new",
      organization_id: "org_acme",
      status: "processing",
      audio_duration_seconds: 1.5,
      pii_redaction: ["person_name"],
    });
    expect(made.status).toBe("processing");
    expect((await advance(10_000)).map(({ subject }) => subject)).toContain("trans_pending");
    expect((await listSentences("trans_new")).status).toBe(422);
    await advance(80_000);
    expect((await listSentences("trans_new")).body.data.sentences).toEqual([
      { text: expect.stringContaining("[PERSON_NAME]"), start: 0, end: 1.5 },
    ]);
  });

  it("keep only existing sentences, and no longer complete if their status changes or they are deleted [G17]", async () => {
    await control("POST", "/state/sentences", { transcription_id: "trans_pending", text: "Only this." });
    await advance(HOUR);
    expect((await listSentences()).body.data.sentences).toMatchObject([{ text: "Only this." }]);
    await control("PATCH", "/state/transcriptions/trans_pending", { status: "processing" });
    expect(await listPendingKinds()).toContain("transcription.step");
    await control("PATCH", "/state/transcriptions/trans_pending", { status: "failed" });
    expect(await listPendingKinds()).not.toContain("transcription.step");
    await control("PATCH", "/state/transcriptions/trans_pending", { status: "processing" });
    await control("DELETE", "/state/transcriptions/trans_pending");
    expect(await listPendingKinds()).not.toContain("transcription.step");
  });

  it.each(["processing", "failed"])(
    "have sentences if a state call completes them: %s before [G17]",
    async (status) => {
      await control("PATCH", "/state/transcriptions/trans_pending", { status });
      await control("PATCH", "/state/transcriptions/trans_pending", { status: "completed" });
      const { body } = await listSentences();
      expect(body.data.sentences.length).toBeGreaterThan(5);
      expect(body.data.sentences.at(-1).end).toBeLessThanOrEqual(body.data.audio_duration_seconds);
    },
  );

  it("have the same lines for the same seed, and again after a restore [G17]", async () => {
    await control("POST", "/snapshots", { name: "before" });
    await advance(HOUR);
    const first = (await listSentences()).body.data;
    await control("POST", "/snapshots/before/restore");
    expect((await listSentences()).status).toBe(422);
    await advance(HOUR);
    expect((await listSentences()).body.data).toEqual(first);
  });
});

describe("live meetings [G34]", () => {
  const listSpoken = async (id = "mbsess_live") =>
    (await api.call("cleo", "GET", `/v1/meeting-buddy/sessions/${id}/transcripts/export?format=json`)).body;

  const changeSession = (fields: object) => control("PATCH", "/state/meeting_sessions/mbsess_live", fields);
  /** Adds a line that begins after the last one, and ends ten minutes later. */
  const sayLong = async () => {
    const { end_time: start_time } = (await listSpoken()).at(-1);
    const times = { start_time, end_time: start_time + 600 };
    await control("POST", "/state/meeting_transcripts", { session_id: "mbsess_live", ...times });
  };

  it("get no new lines by default [G34]", async () => {
    const before = await listSpoken();
    await advance(DAY);
    expect(await listSpoken()).toEqual(before);
    expect(await listPendingKinds()).not.toContain("meeting.line");
  });

  it("get line after line with live_meetings on, until they are stopped [G34]", async () => {
    await restart({ live_meetings: "on" });
    const before = await listSpoken();
    const ran = await advance(10 * MINUTE);
    const lines = ran.filter(({ kind, subject }) => kind === "meeting.line" && subject === "mbsess_live");
    const after = await listSpoken();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length - before.length).toBe(lines.length);
    expect(lines.length).toBeGreaterThan(30);
    for (let n = 1; n < after.length; n++)
      expect(after[n].start_time).toBeGreaterThanOrEqual(after[n - 1].end_time);
    const { started_at } = await control("GET", "/state/meeting_sessions/mbsess_live");
    expect(Date.parse(started_at) + after.at(-1).end_time * 1000).toBe(Date.parse(lines.at(-1)!.at));
    expect(new Set(after.map(({ text }: { text: string }) => text)).size).toBeGreaterThan(5);
    await api.call("cleo", "POST", "/v1/meeting-buddy/sessions/mbsess_live/stop");
    expect(await listPendingKinds()).not.toContain("meeting.line");
    await advance(HOUR);
    expect(await listSpoken()).toEqual(after);
  });

  it("stream each line when it is spoken [G34, G16]", async () => {
    await restart({ live_meetings: "on" });
    const held = (await listSpoken()).length;
    const leave = new AbortController();
    const path = "/v1/meeting-buddy/sessions/mbsess_live/transcripts/stream";
    const { body } = await fetch(api.url + path, {
      headers: { "api-key": "ak_cleoReporterAcme00000000000000000000000" },
      signal: leave.signal,
    });
    let text = "";
    const read = (async () => {
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    await advance(2 * MINUTE);
    await api.call("cleo", "POST", "/v1/meeting-buddy/sessions/mbsess_live/stop");
    await read;
    const events = text.split("\n").filter((line) => line.startsWith("data: "));
    expect(events.map((line) => JSON.parse(line.slice(6)))).toEqual(await listSpoken());
    expect(events.length).toBeGreaterThan(held + 5);
    leave.abort();
  });

  it("follow the setting for sessions that begin, resume or are restored from a snapshot [G34]", async () => {
    await control("POST", "/snapshots", { name: "quiet" });
    await changeSettings({ live_meetings: "on" });
    expect(await listPendingKinds()).toContain("meeting.line");
    await control("POST", "/snapshots", { name: "loud" });
    await changeSettings({ live_meetings: "off" });
    expect(await listPendingKinds()).not.toContain("meeting.line");
    await control("POST", "/snapshots/loud/restore");
    expect(await listPendingKinds()).not.toContain("meeting.line");
    await changeSettings({ live_meetings: "on" });
    await control("POST", "/snapshots/quiet/restore");
    expect((await listPendingKinds()).filter((kind: string) => kind === "meeting.line")).toHaveLength(1);
    await control("POST", "/state/meeting_sessions", {
      session_id: "mbsess_new",
      organization_id: "org_acme",
    });
    await control("PATCH", "/state/meeting_sessions/mbsess_empty", { status: "running" });
    expect((await listPendingKinds()).filter((kind: string) => kind === "meeting.line")).toHaveLength(3);
    await advance(5 * MINUTE);
    expect((await listSpoken("mbsess_new")).length).toBeGreaterThan(10);
    const [resumed] = await listSpoken("mbsess_empty");
    const { started_at } = await control("GET", "/state/meeting_sessions/mbsess_empty");
    expect(Date.parse(started_at) + resumed.start_time * 1000).toBeGreaterThan(
      Date.parse("2026-03-15T12:00:00Z"),
    );
    await control("PATCH", "/state/meeting_sessions/mbsess_empty", { status: "completed" });
    await control("DELETE", "/state/meeting_sessions/mbsess_new");
    expect((await listPendingKinds()).filter((kind: string) => kind === "meeting.line")).toHaveLength(1);
    await control("POST", "/reset");
    expect((await listPendingKinds()).filter((kind: string) => kind === "meeting.line")).toHaveLength(1);
  });

  it("start a new line after the end of the last one, even if that is later than now [G34]", async () => {
    const { started_at } = await control("GET", "/state/meeting_sessions/mbsess_live");
    const end_time = (Date.parse("2026-03-15T12:30:00Z") - Date.parse(started_at)) / 1000;
    await control("POST", "/state/meeting_transcripts", {
      session_id: "mbsess_live",
      text: "A long speech",
      start_time: end_time - 60,
      end_time,
    });
    await changeSettings({ live_meetings: "on" });
    const [{ due_at }] = (await control("GET", "/clock/pending")).filter(
      ({ kind }: { kind: string }) => kind === "meeting.line",
    );
    expect(Date.parse(due_at)).toBeGreaterThan(Date.parse("2026-03-15T12:30:00Z"));
  });

  it.each([
    ["a line is added that ends later than the next one", () => sayLong()],
    ["the session begins later", () => changeSession({ started_at: "2026-03-15T12:10:00Z" })],
  ])("go on to speak after %s [G34]", async (_what, change) => {
    await restart({ live_meetings: "on" });
    await change();
    const before = (await listSpoken()).length;
    await advance(30 * MINUTE);
    const spoken = await listSpoken();
    expect(spoken.length).toBeGreaterThan(before + 20);
    for (let n = before; n < spoken.length; n++)
      expect(spoken[n].start_time).toBeGreaterThanOrEqual(spoken[n - 1].end_time);
  });

  it("stay small over years, in one step and in many [G34]", async () => {
    await restart({ live_meetings: "on" });
    await advance(40 * DAY);
    const inOne = await listSpoken();
    expect(inOne.length).toBeLessThan(6000);
    await control("POST", "/reset");
    for (let day = 0; day < 40; day++) await advance(DAY);
    expect(await listSpoken()).toEqual(inOne);
  });
});

describe("connector jobs [G34]", () => {
  const JOBS = "/v1/organizations/org_acme/knowledge/connectors/jobs";
  const trigger = (connection_id: string, job_type = "sync") =>
    api.call("dan", "POST", JOBS, { connection_id, job_type });
  const fetchJob = async (id: string) => (await api.call("dan", "GET", `${JOBS}/${id}`)).body;
  const createConnection = (id: string, failure_rate: number | null = null) =>
    control("POST", "/state/connections", { id, organization_id: "org_acme", failure_rate });
  const listOutcomes = async (id: string, count: number) => {
    const ended: string[] = [];
    for (let n = 0; n < count; n++) {
      const { job_id } = (await trigger(id)).body;
      await advance(30_000);
      ended.push((await fetchJob(job_id)).status);
    }
    return ended;
  };

  it("keep the records that they synced, and report them, if they fail [G34]", async () => {
    await restart({ connector_failure_rate: 1 });
    await createConnection("conn_flaky");
    await api.call("dan", "PATCH", "/v1/organizations/org_acme/knowledge/connectors/notifications", {
      notifications: [{ type: "email", email: "ops@example.com", events: ["connector.job.failed"] }],
    });
    const { job_id } = (await trigger("conn_flaky")).body;
    const [{ due_at }] = (await control("GET", "/clock/pending")).filter(
      ({ subject }: { subject: string }) => subject === job_id,
    );
    const [ran] = (await advance(30_000)).filter(({ subject }) => subject === job_id);
    expect(ran).toEqual({ at: due_at, kind: "connector.job", subject: job_id });
    const failed = await fetchJob(job_id);
    const seconds = (Date.parse(due_at) - Date.parse("2026-03-15T12:00:00Z")) / 1000;
    expect(failed).toMatchObject({ status: "failed", duration: Math.floor(seconds) });
    expect(seconds).toBeGreaterThanOrEqual(3);
    expect(seconds).toBeLessThanOrEqual(27);
    expect(failed.rows_synced).toBeGreaterThan(0);
    expect((await control("GET", "/outbox")).items).toMatchObject([
      { to: "ops@example.com", subject: expect.stringContaining("connector.job.failed") },
    ]);
  });

  it("never fail on the reference connections, and prefer a connection's own rate [G34]", async () => {
    await restart({ connector_failure_rate: 1 });
    expect(new Set([...(await listOutcomes("conn_wiki", 5))])).toEqual(new Set(["succeeded"]));
    expect((await fetchJob("job_sync_running")).status).toBe("succeeded");
    await createConnection("conn_sound", 0);
    await createConnection("conn_own", 1);
    await changeSettings({ connector_failure_rate: 0 });
    expect(await listOutcomes("conn_sound", 3)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(await listOutcomes("conn_own", 3)).toEqual(["failed", "failed", "failed"]);
  });

  it("fail one time in twenty by default, dependent on seed and connection only [G34]", async () => {
    await createConnection("conn_often");
    const first = await listOutcomes("conn_often", 100);
    const failures = first.filter((status) => status === "failed").length;
    expect(failures).toBeGreaterThan(0);
    expect(failures).toBeLessThan(15);
    await control("POST", "/reset");
    await createConnection("conn_often");
    await trigger("conn_wiki");
    await api.call("dan", "DELETE", "/v1/threads/thread_dan");
    expect(await listOutcomes("conn_often", 40)).toEqual(first.slice(0, 40));
    await control("POST", "/reset", { seed: 2 });
    await createConnection("conn_often");
    expect(await listOutcomes("conn_often", 100)).not.toEqual(first);
  });

  it("count from zero after a reset, and then sync all records since the last one [G34]", async () => {
    await createConnection("conn_whole", 0);
    const run = async (type: string) => {
      const { job_id, rows_synced, bytes_synced } = (await trigger("conn_whole", type)).body;
      expect([rows_synced, bytes_synced]).toEqual([0, 0]);
      await advance(30_000);
      return fetchJob(job_id);
    };
    let before = 0;
    for (let n = 0; n < 6; n++) before += (await run("sync")).rows_synced;
    expect(before).toBeGreaterThan(4000);
    const reset = await run("reset");
    expect(reset.rows_synced).toBeGreaterThan(before);
    // The count has only the records of the last reset and the new ones.
    const again = await run("reset");
    expect(again.rows_synced).toBeGreaterThan(reset.rows_synced);
    expect(again.rows_synced).toBeLessThanOrEqual(reset.rows_synced + 4000);
    // A failed run keeps the records that it synced, and does not reset the count.
    await control("PATCH", "/state/connections/conn_whole", { failure_rate: 1 });
    expect(await run("reset")).toMatchObject({ status: "failed" });
    await control("PATCH", "/state/connections/conn_whole", { failure_rate: 0 });
    expect((await run("reset")).rows_synced).toBeGreaterThan(again.rows_synced);
    expect((await run("sync")).rows_synced).toBeLessThanOrEqual(4000);
  });
});

describe("invoicing [G36]", () => {
  const listInvoices = async () => (await control("GET", "/state/invoices")).items;
  const listEvents = async (receiver: string) =>
    (await control("GET", `/receivers/${receiver}/requests`)).items.map(
      ({ headers }: { headers: Record<string, string> }) => headers["x-service-event"],
    );

  it("does nothing in any month by default [G36]", async () => {
    const before = await listInvoices();
    await advance(40 * DAY);
    expect(await listInvoices()).toEqual(before);
  });

  it("creates invoices of organizations with spending at the turn of a month, which are paid three days later [G36]", async () => {
    await restart({ invoicing: "on" });
    const before = (await listInvoices()).length;
    await advance(16 * DAY);
    expect(await listInvoices()).toHaveLength(before);
    const ran = await advance(DAY);
    expect(ran.filter(({ kind }) => kind === "invoice")).toEqual([
      { at: "2026-04-01T00:00:00.000Z", kind: "invoice", subject: "2026-03" },
    ]);
    const written = (await listInvoices()).filter(
      ({ created_at }: { created_at: string }) => created_at === "2026-04-01T00:00:00.000Z",
    );
    const summarize = (all: { organization_id: string; amount: number; status: string }[]) =>
      all.map(({ organization_id, amount, status }) => [organization_id, amount, status]).sort();
    expect(summarize(written)).toEqual([
      ["org_acme", 850, "draft"],
      ["org_globex", 500, "draft"],
      ["org_hooli", 60, "draft"],
    ]);
    const settled = await advance(3 * DAY);
    expect(settled.filter(({ kind }) => kind === "invoice").map(({ at }) => at)).toEqual(
      Array(3).fill("2026-04-04T00:00:00.000Z"),
    );
    const ids = new Set(written.map(({ invoice_id }: { invoice_id: string }) => invoice_id));
    expect(
      summarize(
        (await listInvoices()).filter(({ invoice_id }: { invoice_id: string }) => ids.has(invoice_id)),
      ),
    ).toEqual([
      ["org_acme", 850, "paid"],
      ["org_globex", 500, "failed"],
      ["org_hooli", 60, "paid"],
    ]);
    await advance(60 * DAY);
    expect(await listInvoices()).toHaveLength(before + 3);
    expect(await listPendingKinds()).toEqual(expect.arrayContaining(["invoice"]));
  });

  it("invoices the rest of a month whose invoice was run early [G36]", async () => {
    await restart({ invoicing: "on" });
    const runEarly = () => control("POST", "/clock/pending/run", { kind: "invoice", subject: "2026-03" });
    const listAmounts = async () =>
      (await listInvoices())
        .filter(
          ({ organization_id, created_at }: { organization_id: string; created_at: string }) =>
            organization_id === "org_acme" && created_at >= "2026-03-15T12:00",
        )
        .map(({ amount }: { amount: number }) => amount)
        .sort();
    await runEarly();
    // Nothing was spent since.
    await runEarly();
    expect(await listAmounts()).toEqual([850]);
    await control("PATCH", "/state/usage/org_acme", { spent: { "2026-03": 862.5 } });
    await advance(60 * DAY);
    expect(await listAmounts()).toEqual([12.5, 850]);
  });

  it("sends its events to webhooks whatever the limits are then, and none if it is off [G36, 6.1]", async () => {
    await restart({ invoicing: "on" });
    const receiver = await control("POST", "/receivers", {});
    for (const who of ["eve", "ada"] as const)
      await api.call(who, "POST", "/webhooks", {
        url: receiver.url,
        events: ["invoice.created", "invoice.paid", "invoice.failed"],
      });
    await advance(17 * DAY);
    await control("PATCH", "/state/usage/org_globex", { monthly_limit: 100_000 });
    await advance(3 * DAY);
    expect((await listEvents(receiver.id)).sort()).toEqual([
      "invoice.created",
      "invoice.created",
      "invoice.failed",
      "invoice.paid",
    ]);
    await changeSettings({ invoicing: "off" });
    expect(await listPendingKinds()).not.toContain("invoice");
    await changeSettings({ invoicing: "on" });
    await control("POST", "/snapshots", { name: "april" });
    const may = { at: "2026-05-01T00:00:00.000Z", kind: "invoice", subject: "2026-04" };
    await control("PATCH", "/state/usage/org_initech", { spent: { "2026-04": 0.001 } });
    expect((await advance(30 * DAY)).filter(({ kind }) => kind === "invoice")[0]).toEqual(may);
    expect(await listInvoices()).toContainEqual(
      expect.objectContaining({ organization_id: "org_initech", amount: 0.01, status: "paid" }),
    );
  });

  it("delays a payment that is due while it is off until it is on again [G36]", async () => {
    await restart({ invoicing: "on" });
    await advance(17 * DAY);
    await changeSettings({ invoicing: "off" });
    expect(await listPendingKinds()).not.toContain("invoice");
    await advance(10 * DAY);
    await changeSettings({ invoicing: "on" });
    // The payment is long due, so it is made at once.
    const settled = (await listInvoices())
      .filter(({ created_at }: { created_at: string }) => created_at.startsWith("2026-04"))
      .map(({ status }: { status: string }) => status);
    expect(settled.sort()).toEqual(["failed", "paid", "paid"]);
  });

  it("does not pay an invoice again that a state call made a draft [G36]", async () => {
    await restart({ invoicing: "on" });
    await advance(20 * DAY);
    const [{ invoice_id }] = await listInvoices();
    await control("PATCH", `/state/invoices/${invoice_id}`, { status: "draft" });
    await changeSettings({ webhook_timeout_seconds: 5 });
    expect(await control("GET", `/state/invoices/${invoice_id}`)).toMatchObject({ status: "draft" });
  });

  it("does not complete an object again that a state call completed or deleted [G36]", async () => {
    await restart({ invoicing: "on" });
    await advance(17 * DAY);
    const [one, two] = (await listInvoices()).filter(
      ({ status, created_at }: { status: string; created_at: string }) =>
        status === "draft" && created_at.startsWith("2026-04"),
    );
    await control("PATCH", `/state/invoices/${one.invoice_id}`, { status: "paid" });
    await control("DELETE", `/state/invoices/${two.invoice_id}`);
    const ran = await advance(3 * DAY);
    expect(ran.filter(({ kind }) => kind === "invoice")).toHaveLength(1);
  });
});
