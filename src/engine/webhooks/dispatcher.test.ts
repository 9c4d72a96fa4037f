import { describe, expect, it } from "vitest";
import { createNames, runPendingCallbacks, setUpDeliveries } from "../../../test/support/deliveries-setup.ts";
import { queueAttempt, queuedAttempts } from "./queued-attempts.ts";

describe("the sender of deliveries", () => {
  it("sends queued attempts after the commit: one first attempt of a webhook at a time, in order [6.4]", async () => {
    const { sent, listSentIds, recorded, sandbox } = setUpDeliveries();
    const { world, queue, waiting } = sandbox();
    world.transact((tx) => {
      for (const id of ["a", "b"])
        queueAttempt(tx, { id, kind: "first", webhook_id: "wh_1", delivery_id: id });
      queueAttempt(tx, { id: "c", kind: "first", webhook_id: "wh_2", delivery_id: "c" });
    });
    expect(listSentIds()).toEqual([]);
    await runPendingCallbacks();
    expect(listSentIds()).toEqual(["a", "c"]);
    await sent[0]!.answer(200);
    expect(listSentIds()).toEqual(["a", "c", "b"]);
    expect(recorded.map(({ queued }) => queued.id)).toEqual(["a"]);
    expect(waiting()).toEqual(["b", "c"]);
    await sent[2]!.answer(500);
    await queue(["d"]);
    expect(listSentIds()).toEqual(["a", "c", "b", "d"]);
  });

  it("sends at most 128 of a sandbox at once, then those of the webhook that has waited longest [6.4]", async () => {
    const { sent, listSentIds, sandbox } = setUpDeliveries();
    const { queue, remove } = sandbox();
    for (const webhook of createNames("wh_", 131)) await queue([`${webhook}/a`, `${webhook}/b`], webhook);
    expect(sent).toHaveLength(128);
    for (const id of ["wh_128/a", "wh_128/b"]) await remove(id);
    for (const i of [5, 7, 6, 128]) await sent[i]!.answer(200);
    expect(listSentIds().slice(128)).toEqual(["wh_129/a", "wh_130/a", "wh_5/b", "wh_7/b"]);
    await Promise.all([129, 130].map((i) => sent[i]!.answer(200)));
    expect(listSentIds().slice(132)).toEqual(["wh_6/b", "wh_129/b"]);
  });

  it("sends at most 512 of a server at once, and gives a free place to the sandbox that waits [6.4]", async () => {
    const { sent, listSentIds, sandbox } = setUpDeliveries();
    const sandboxes = createNames("s", 5).map((name) => ({ name, ...sandbox(name) }));
    for (const { name, queue } of sandboxes) {
      for (const webhook of createNames(`${name}_`, 110)) await queue([webhook], webhook);
    }
    expect(sent).toHaveLength(512);
    await sent[0]!.answer(200);
    await sent[200]!.answer(500);
    expect(listSentIds().slice(512)).toEqual(["s4_72", "s4_73"]);
    sandboxes[4]!.world.close();
    await runPendingCallbacks();
    await sandboxes[0]!.queue(createNames("new", 128), "wh_new", "retry");
    await sent[1]!.answer(200);
    expect(listSentIds().slice(514)).toEqual(createNames("new", 4));
  });

  it("never sends a cancelled attempt that waits, and aborts one in progress without a trace [G24]", async () => {
    const { sent, listSentIds, recorded, completed, errors, sandbox } = setUpDeliveries();
    const { world, queue, remove, attempt } = sandbox();
    await queue(["a", "b", "c"]);
    const ends = ["a", "b", "c", "d"].map((id) => attempt(id));
    await remove("b");
    expect(await ends[1]).toBe(false);
    expect(sent[0]!.signal!.aborted).toBe(false);
    await remove("a");
    expect(sent[0]!.signal!.aborted).toBe(true);
    expect(await ends[0]).toBe(false);
    expect(await ends[3]).toBe(false);
    expect(listSentIds()).toEqual(["a", "c"]);
    await sent[1]!.answer(200);
    expect(await ends[2]).toBe(true);
    expect(completed.map(({ queued }) => queued.id)).toEqual(["c"]);
    await world.whenSettled();
    expect([recorded.length, errors.length]).toEqual([2, 0]);
  });

  it("a restore cancels running attempts and continues the snapshot's queue in order [interfaces 4]", async () => {
    const { sent, listSentIds, recorded, sandbox } = setUpDeliveries();
    const { world, queue, remove, attempt, waiting } = sandbox();
    // The order of the ids differs from that of the positions, which the queue uses.
    await queue(["z", "a", "m"]);
    const value = world.toValue();
    for (const id of ["m", "a", "z"]) await remove(id);
    await queue(["later"]);
    const later = attempt("later");
    world.restore(value);
    expect(sent[1]!.signal!.aborted).toBe(true);
    expect(await later).toBe(false);
    await runPendingCallbacks();
    expect(listSentIds()).toEqual(["z", "later", "z"]);
    expect(recorded.map(({ queued }) => queued.id)).toEqual(["z"]);
    expect(waiting().toSorted()).toEqual(["a", "m", "z"]);
    await sent[2]!.answer(200);
    await sent[3]!.answer(200);
    expect(listSentIds().slice(2)).toEqual(["z", "a", "m"]);
  });

  it("does not record an attempt from before a restore, even if the same attempt is queued again [interfaces 4]", async () => {
    const { sent, listSentIds, recorded, completed, sandbox } = setUpDeliveries();
    const { world, queue, waiting } = sandbox();
    await queue(["a", "b"]);
    world.restore(world.toValue());
    await runPendingCallbacks();
    expect(listSentIds()).toEqual(["a", "a"]);
    expect([recorded.length, completed.length]).toEqual([0, 0]);
    await sent[0]!.answer(200);
    expect(waiting()).toEqual(["a", "b"]);
    await sent[1]!.answer(200);
    expect(listSentIds()).toEqual(["a", "a", "b"]);
    expect(recorded).toHaveLength(1);
  });

  it("ends the attempts of a world that ends, and sends no later ones [interfaces 4]", async () => {
    const { sent, listSentIds, recorded, completed, errors, sandbox } = setUpDeliveries();
    const { world, queue, attempt } = sandbox();
    await queue(["a", "b"]);
    const ends = [attempt("a"), attempt("b")];
    world.close();
    expect(await Promise.all(ends)).toEqual([false, false]);
    expect(sent[0]!.signal!.aborted).toBe(true);
    await runPendingCallbacks();
    await queue(["c"]);
    expect(await attempt("c")).toBe(false);
    await world.whenSettled();
    expect(listSentIds()).toEqual(["a"]);
    expect([recorded.length, completed.length, errors.length]).toEqual([0, 0, 0]);
  });

  it("does not make an attempt that the rules cancel, but the next one [G24]", async () => {
    const { listSentIds, completed, sandbox } = setUpDeliveries({
      rules: {
        plan: (_world, { delivery_id: body, id }) =>
          id === "a" ? undefined : { number: 1, url: "http://a.test/", secret: "", event: "", body },
      },
    });
    const { world, attempt, waiting, queue } = sandbox();
    world.transact((tx) => queueAttempt(tx, { id: "a", kind: "first", webhook_id: "w", delivery_id: "a" }));
    const end = attempt("a");
    await queue(["b"], "w");
    expect(await end).toBe(false);
    expect(listSentIds()).toEqual(["b"]);
    expect(waiting()).toEqual(["b"]);
    expect(completed).toEqual([]);
  });

  it("reports an attempt that cannot be made or recorded, and stops waiting for it [6.4]", async () => {
    const makeThrower = (what: string) => () => {
      throw new Error(`no ${what}`);
    };
    for (const [given, expected] of [
      [{ rules: { plan: makeThrower("plan") } }, 0],
      [{ findFault: makeThrower("fault") }, 0],
      [{ rules: { record: makeThrower("record") } }, 1],
    ] as const) {
      const { sent, completed, errors, sandbox } = setUpDeliveries(given);
      const { world, attempt, waiting } = sandbox();
      const queued = { kind: "first", webhook_id: "wh_1", delivery_id: "a" } as const;
      world.transact((tx) => queueAttempt(tx, { id: "a", ...queued }));
      const end = attempt("a");
      await runPendingCallbacks();
      expect(sent).toHaveLength(expected);
      await sent[0]?.answer(200);
      expect(await end).toBe(false);
      expect(waiting()).toEqual([]);
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/^no /) })]);
      expect(completed).toEqual([]);
    }
  });

  it("sends an attempt after its change is stored, and not at all if that was undone [quality 2.6]", async () => {
    const ready: { resolve: () => void; reject: (why: Error) => void }[] = [];
    const waitUntilReadyToSend = () =>
      new Promise<void>((resolve, reject) => ready.push({ resolve, reject }));
    const { listSentIds, recorded, completed, sandbox } = setUpDeliveries({ waitUntilReadyToSend });
    const { world, queue, attempt } = sandbox();
    const before = world.toValue();
    await queue(["undone"], "wh_1");
    await queue(["a"], "wh_2");
    const undone = attempt("undone");
    expect(listSentIds()).toEqual([]);
    world.restore(before);
    ready[0]!.resolve();
    expect(await undone).toBe(false);
    await queue(["b"], "wh_3");
    // A delivery is sent even if its change could not be saved: its client received an error.
    ready[2]!.reject(new Error("the disk is full"));
    await runPendingCallbacks();
    expect(listSentIds()).toEqual(["b"]);
    expect([recorded.length, completed.length]).toEqual([0, 0]);
  });

  it("follows the schedule that is set when the outcome is recorded [6.4]", async () => {
    const { sent, recorded, sandbox } = setUpDeliveries();
    const { settings, queue } = sandbox();
    await queue(["a", "b", "c"]);
    settings.retry_schedule = ["2s", 5, "PT1H"];
    await sent[0]!.answer(500);
    await sent[1]!.answer(500);
    settings.retry_schedule = ["0s"];
    await sent[2]!.answer(500);
    const [first, second, third] = recorded.map(({ schedule }) => schedule);
    expect(first).toEqual([2000, 5, 3_600_000]);
    expect(second).toEqual(first);
    expect(third).toEqual([0]);
  });

  it("an advance waits for each due retry, and reports no cancelled one [interfaces 4]", async () => {
    const { sent, listSentIds, sandbox } = setUpDeliveries({
      rules: {
        plan: (world, { id, webhook_id, delivery_id }) =>
          world.get(queuedAttempts, id)?.cancelled
            ? undefined
            : { number: 2, url: `http://${webhook_id}.test/`, secret: "", event: "", body: delivery_id },
      },
    });
    const { world } = sandbox();
    world.transact((tx) => {
      for (const subject of ["a", "b", "c"]) tx.schedule({ kind: "webhook.retry", subject, due: 1000 });
    });
    let ended = false;
    const ran = world.advance(2000).finally(() => {
      ended = true;
    });
    await runPendingCallbacks();
    expect(listSentIds()).toEqual(["a"]);
    world.transact((tx) => tx.update(queuedAttempts, "c/retry", { cancelled: true }));
    await sent[0]!.answer(200);
    expect(listSentIds()).toEqual(["a", "b"]);
    expect(ended).toBe(false);
    await sent[1]!.answer(500);
    expect((await ran).map(({ subject }) => subject)).toEqual(["a", "b"]);
  });

  it("does not queue a retry that is no longer needed, and counts it as run [6.4]", async () => {
    const { listSentIds, sandbox } = setUpDeliveries({ rules: { queueRetry: () => undefined } });
    const { world } = sandbox();
    world.transact((tx) => tx.schedule({ kind: "webhook.retry", subject: "a", due: 1000 }));
    expect(await world.advance(2000)).toMatchObject([{ kind: "webhook.retry", subject: "a" }]);
    expect(listSentIds()).toEqual([]);
  });

  it("names the attempt as the source of the change that records its outcome [interfaces 10]", async () => {
    const { sent, completed, sandbox } = setUpDeliveries();
    const { world, queue, commits } = sandbox();
    world.clock = { ...world.clock, at: 77 };
    await queue(["a"]);
    world.clock = { ...world.clock, at: 99 };
    await sent[0]!.answer(503);
    expect(commits.at(-1)!.source).toEqual({
      change: {
        kind: "delivery",
        title: "The first attempt to deliver user.created to wh_1 was answered 503.",
        subject: "a",
        delivered: false,
        work: { record: expect.objectContaining({ id: "a" }), key: "_outgoing\u0000a" },
      },
    });
    expect(completed).toMatchObject([
      {
        queued: { id: "a" },
        plan: { number: 1, url: "http://wh_1.test/" },
        outcome: { at: 77, url: "http://wh_1.test/", response_code: 503, duration_ms: 1 },
        exchange: { response_headers: {} },
      },
    ]);
  });

  it("has no attempts of an unknown sandbox", async () => {
    const { attempt } = setUpDeliveries();
    expect(await attempt({ name: "other" } as Parameters<typeof attempt>[0], "a")).toBe(false);
  });
});
