import { expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

/** The complete list of interfaces 4. */
const KINDS = [
  ...[
    "webhook.retry",
    "file.step",
    "connector.job",
    "transcription.step",
    "meeting.line",
    "invoice",
    "expiry",
    "lease",
  ],
];

it("an advance reports seeded timers with the documented kinds, and every kind occurs [interfaces 4]", async () => {
  const control = async (method: string, path: string, body?: object) => {
    const answer = await api.call(undefined, method, `/_control/sandboxes${path}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00.000Z" };
  const settings = { live_meetings: "on", invoicing: "on" };
  const failed = { status: "failed", attempts: 1, response_code: 500, event: "user.created" };
  const next_retry = "2026-03-15T12:10:00.000Z";
  const deliveries = [{ ...failed, delivery_id: "del_due", last_attempt: clock.now, next_retry }];
  const webhook = { id: "wh_due", url: "http://127.0.0.1:9/", events: ["user.created"], deliveries };
  const fixture = { extends: "reference", webhooks: [webhook] };
  await control("POST", "", { name: "kinds", fixture, clock, settings });
  await control("POST", "/kinds/faults", {
    match: { operation: "models.list" },
    effect: { delay: "1ms" },
    lease: { ttl: "5m" },
  });
  await api.call("ada", "POST", "/_s/kinds/v1/auth/token", {});
  const pending: { kind: string; subject: string }[] = await control("GET", "/kinds/clock/pending");
  const first = await control("POST", "/kinds/clock/advance", { by: "2h" });
  // A running meeting would add transcripts for the whole month.
  await control("PATCH", "/kinds", { settings: { live_meetings: "off" } });
  const ran = [...first.ran, ...(await control("POST", "/kinds/clock/advance", { by: "35d" })).ran];
  const kinds = new Set<string>(ran.map(({ kind }: { kind: string }) => kind));
  for (const { kind } of pending) expect(KINDS).toContain(kind);
  expect([...kinds].sort()).toEqual([...KINDS].sort());
  const transcribed = ran.filter(({ kind }: { kind: string }) => kind === "transcription.step");
  expect(transcribed).toEqual([
    { at: expect.any(String), kind: "transcription.step", subject: "trans_pending" },
  ]);
});
