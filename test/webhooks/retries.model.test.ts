import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

/** The model's state of one delivery. It must equal the sandbox's after every step. */
interface Model {
  delivery_id: string;
  status: "success" | "failed";
  code: number;
  attempts: number;
  scheduled: number;
  /** In milliseconds since 1970; null without a pending retry. */
  next: number | null;
}

const SCHEDULE = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];

type Step =
  | { do: "trigger" }
  | { do: "advance"; by: number }
  | { do: "redeliver"; pick: number }
  | { do: "deactivate" }
  | { do: "activate" }
  | { do: "reset" }
  | { do: "restore" };

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: "trigger" }) },
    {
      weight: 6,
      arbitrary: fc
        .constantFrom(1_000, 60_000, 300_000, 3_600_000, 86_400_000)
        .map<Step>((by) => ({ do: "advance", by })),
    },
    { weight: 3, arbitrary: fc.nat(9).map<Step>((pick) => ({ do: "redeliver", pick })) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: "deactivate" }) },
    { weight: 2, arbitrary: fc.constant<Step>({ do: "activate" }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: "reset" }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: "restore" }) },
  ),
  { minLength: 1, maxLength: 40 },
);
const answers = fc.array(fc.constantFrom(500, 500, 500, 503, 302, 410, 200), { minLength: 1, maxLength: 12 });

class Run {
  deliveries: Model[] = [];
  active = true;
  now = Date.parse("2026-03-15T12:00:00.000Z");
  served = 0;
  webhook_id = "";
  private readonly api: WebhookApi;
  private readonly answers: number[];

  constructor(api: WebhookApi, list: number[]) {
    this.api = api;
    this.answers = list;
  }

  async begin(): Promise<void> {
    const receiver = await this.api.receiver(this.answers);
    this.webhook_id = (await this.api.webhook(receiver.url)).webhook_id;
    await this.api.control("DELETE", "/snapshots/clean");
    expect((await this.api.control("POST", "/snapshots", { name: "clean" })).status).toBe(201);
    this.forget();
  }

  /** The state after a restore of `clean`, which also sets the clock back. */
  forget(): void {
    this.deliveries = [];
    this.active = true;
    this.now = Date.parse("2026-03-15T12:00:00.000Z");
    this.served = 0;
  }

  private answer(): number {
    const code = this.answers[Math.min(this.served, this.answers.length - 1)]!;
    this.served += 1;
    return code;
  }

  private attempt(delivery: Model, scheduled: boolean): void {
    const code = this.answer();
    delivery.attempts += 1;
    delivery.code = code;
    if (scheduled) delivery.scheduled += 1;
    if (code === 200) {
      delivery.status = "success";
      delivery.next = null;
    } else if (code === 410) {
      this.active = false;
      for (const each of this.deliveries) each.next = null;
      delivery.next = null;
    } else if (scheduled) {
      const delay = SCHEDULE[delivery.scheduled - 1];
      delivery.next = delay === undefined ? null : this.now + delay;
    }
  }

  async step(step: Step): Promise<void> {
    const { api } = this;
    if (step.do === "trigger") {
      const made = await api.trigger();
      expect(made).toHaveLength(this.active ? 1 : 0);
      if (made[0] === undefined) return;
      const { delivery_id } = made[0];
      const fresh: Model = { delivery_id, status: "failed", code: 0, attempts: 0, scheduled: 0, next: null };
      this.deliveries.push(fresh);
      this.attempt(fresh, true);
    } else if (step.do === "advance") {
      const expected = this.walk(this.now + step.by);
      const ran = await api.advanceBy(`${step.by}ms`);
      expect(ran.filter(({ kind }) => kind === "webhook.retry")).toEqual(expected);
    } else if (step.do === "redeliver") {
      const delivery = this.deliveries[step.pick % Math.max(1, this.deliveries.length)];
      if (delivery === undefined) return;
      const path = `/webhooks/${this.webhook_id}/deliveries/${delivery.delivery_id}/redeliver`;
      const { status } = await api.call("ada", "POST", path);
      expect(status).toBe(delivery.status === "success" ? 422 : 200);
      if (delivery.status !== "success") this.attempt(delivery, false);
    } else if (step.do === "restore") {
      await api.control("POST", "/snapshots/clean/restore");
      this.forget();
    } else if (step.do === "reset") {
      await api.control("POST", "/reset", {});
      expect((await api.pending()).filter(({ kind }) => kind === "webhook.retry")).toEqual([]);
      this.now = Date.parse("2026-03-15T12:00:00.000Z");
      await this.begin();
    } else {
      this.active = step.do === "activate";
      await api.call("ada", "PUT", `/webhooks/${this.webhook_id}`, { active: this.active });
      if (!this.active) for (const delivery of this.deliveries) delivery.next = null;
    }
  }

  /**
   * Makes the retries up to `end`, each at its instant. Those of one instant run in the order of their delivery ids, as
   * timers do.
   */
  private walk(end: number): object[] {
    const ran: object[] = [];
    for (;;) {
      const [due] = this.deliveries
        .filter(({ next }) => next !== null && next <= end)
        .sort((a, b) => a.next! - b.next! || (a.delivery_id < b.delivery_id ? -1 : 1));
      if (due === undefined) break;
      this.now = due.next!;
      ran.push({ at: new Date(this.now).toISOString(), kind: "webhook.retry", subject: due.delivery_id });
      this.attempt(due, true);
    }
    this.now = end;
    return ran;
  }

  async agree(): Promise<void> {
    const listed = await this.api.deliveries(this.webhook_id);
    const known = new Map(listed.map((delivery) => [delivery.delivery_id, delivery]));
    expect(known.size).toBe(this.deliveries.length);
    for (const { delivery_id, status, code, attempts, scheduled, next } of this.deliveries) {
      expect(scheduled).toBeLessThanOrEqual(6);
      const shown = known.get(delivery_id)!;
      expect(shown).toMatchObject({ status, response_code: code, attempts });
      if (status === "failed")
        expect(shown.next_retry).toBe(next === null ? null : new Date(next).toISOString());
    }
    const due = (await this.api.pending())
      .filter(({ kind }) => kind === "webhook.retry")
      .map(({ subject, due_at }) => `${due_at} ${subject}`);
    const expected = this.deliveries
      .filter(({ next }) => next !== null)
      .map(({ next, delivery_id }) => `${new Date(next!).toISOString()} ${delivery_id}`);
    expect(due.sort()).toEqual(expected.sort());
  }
}

const RUNS = Number(process.env["WEBHOOK_MODEL_RUNS"] ?? 60);

describe("the retries of a delivery [G24]", () => {
  it("follow a model: due times, at most six attempts, success final, reset and 410 cancel [G24]", async () => {
    const api = await startWebhooks({ settings: { journal_limit: 10 } });
    // The rate limit must not affect this test.
    await api.control("PATCH", "/state/organizations/org_acme", {
      plan: "enterprise",
      rate_limit: 1_000_000,
    });
    await api.control("POST", "/snapshots", { name: "first" });
    try {
      await fc.assert(
        fc.asyncProperty(answers, steps, async (list, sequence) => {
          await api.control("POST", "/snapshots/first/restore");
          const run = new Run(api, list);
          await run.begin();
          for (const step of sequence) {
            await run.step(step);
            await run.agree();
          }
        }),
        { numRuns: RUNS },
      );
    } finally {
      await api.close();
    }
  }, 300_000);
});
