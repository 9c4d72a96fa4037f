import { setTimeout as wait } from "node:timers/promises";
import { type Flaw, processAgain, processOnceBy } from "./flaw.ts";
import { CORRECT_STEPS } from "./flawed-receiver.ts";

/** Longer than the checks of repetitions take, and shorter than the grader waits. */
export const SHORT_TIME_MS = 3000;

export const repetitionFlaws: Flaw[] = [
  {
    name: "ignores the delivery id",
    fails: [
      "duplicate",
      "duplicate-at-once",
      "retry-after-5xx",
      "timeout-after-commit",
      "whole-schedule",
      "long-memory",
    ],
    steps: { process: (context, payload) => processAgain(context, payload) },
  },
  {
    name: "answers 409 to a repetition",
    fails: ["duplicate", "retry-after-5xx", "timeout-after-commit", "whole-schedule", "long-memory"],
    steps: {
      process: (context, payload) =>
        context.memory.known.has(payload.delivery_id) ? [409] : CORRECT_STEPS.process(context, payload),
    },
  },
  {
    name: "checks the delivery id first and records it later",
    fails: ["duplicate-at-once"],
    mayFail: ["timeout-after-commit", "whole-schedule"],
    steps: {
      async process(context, payload) {
        if (context.memory.known.has(payload.delivery_id)) return [200];
        await wait(8);
        context.memory.known.add(payload.delivery_id);
        return processAgain(context, payload);
      },
    },
  },
  {
    name: "remembers only the last delivery",
    fails: ["retry-after-5xx", "whole-schedule", "long-memory"],
    steps: {
      process({ memory, ...context }, payload) {
        if (memory.scratch.get("last") === payload.delivery_id) return [200];
        memory.scratch.set("last", payload.delivery_id);
        return processAgain({ memory, ...context }, payload);
      },
    },
  },
  {
    name: "records the delivery after its answer was sent",
    fails: ["timeout-after-commit", "whole-schedule", "duplicate-at-once"],
    steps: {
      async process(context, payload) {
        if (context.memory.known.has(payload.delivery_id)) return [200];
        const answer = processAgain(context, payload);
        await wait(30);
        if (!context.request.socket.destroyed) context.memory.known.add(payload.delivery_id);
        return answer;
      },
    },
  },
  {
    name: "remembers the id before it verifies",
    fails: ["forgery-before-original"],
    steps: {
      screen({ request, memory }) {
        const id = String(request.headers["x-service-delivery"]);
        memory.scratch.set(id, Number(memory.scratch.get(id) ?? 0) + 1);
        return null;
      },
      refuseSignature({ request, memory }) {
        memory.known.add(String(request.headers["x-service-delivery"]));
        return [401];
      },
    },
  },
  {
    name: "drops deliveries older than the newest one",
    fails: ["distinct-deliveries", "out-of-order", "whole-schedule"],
    steps: {
      process(context, payload) {
        const newest = String(context.memory.scratch.get("newest") ?? "");
        if (payload.timestamp < newest) return [200, "stale"];
        context.memory.scratch.set("newest", payload.timestamp);
        return CORRECT_STEPS.process(context, payload);
      },
    },
  },
  {
    name: "refuses timestamps older than five minutes",
    fails: ["whole-schedule"],
    steps: {
      consider: (_context, { timestamp }) =>
        Date.now() - Date.parse(timestamp) > 300_000 ? [400, "stale"] : null,
    },
  },
  {
    name: "accepts and does nothing",
    fails: [
      "valid-processed",
      "duplicate",
      "duplicate-at-once",
      "retry-after-5xx",
      "distinct-deliveries",
      "distinct-at-once",
      "forgery-before-original",
      "timeout-after-commit",
      "whole-schedule",
    ],
    steps: { process: () => [200] },
  },
  {
    name: "identifies deliveries by event and object",
    fails: ["distinct-deliveries"],
    steps: processOnceBy(({ event, data }) => `${event} ${JSON.stringify(data["user_id"] ?? data)}`),
  },
  {
    name: "identifies deliveries by event, object and time",
    fails: ["distinct-deliveries"],
    steps: processOnceBy(({ event, data, timestamp }) => JSON.stringify([event, data, timestamp])),
  },
  {
    name: "identifies deliveries by the beginning of their ids",
    fails: ["distinct-deliveries"],
    steps: processOnceBy(({ delivery_id }) => delivery_id.slice(0, 24)),
  },
  {
    name: "remembers fifty deliveries",
    fails: ["long-memory"],
    steps: {
      process(context, payload) {
        const { known } = context.memory;
        if (known.has(payload.delivery_id)) return [200];
        known.add(payload.delivery_id);
        if (known.size > 50) known.delete([...known][0]!);
        return processAgain(context, payload);
      },
    },
  },
  {
    name: "remembers deliveries for a short time",
    fails: ["long-memory"],
    steps: {
      process(context, payload) {
        const { scratch } = context.memory;
        const until = Number(scratch.get(payload.delivery_id) ?? 0);
        scratch.set(payload.delivery_id, performance.now() + SHORT_TIME_MS);
        return performance.now() < until ? [200] : processAgain(context, payload);
      },
    },
  },
  {
    name: "refuses an update of an unknown user",
    fails: ["out-of-order"],
    steps: {
      consider({ memory }, { event, data }) {
        const user = `user ${data["user_id"]}`;
        // Deliveries of other checks are not sent twice.
        if (event === "user.created") memory.scratch.set(user, true);
        return event === "user.deleted" && !memory.scratch.has(user) ? [404, "no such user"] : null;
      },
    },
  },
  {
    name: "answers Retry-After to every repeated delivery",
    fails: ["duplicate", "retry-after-5xx", "timeout-after-commit", "whole-schedule", "long-memory"],
    steps: {
      process: (context, payload) =>
        context.memory.known.has(payload.delivery_id)
          ? [429, "", { "Retry-After": "0.1" }]
          : CORRECT_STEPS.process(context, payload),
    },
  },
  {
    name: "processes everything a second time, later",
    fails: ["late-effects"],
    steps: {
      process({ memory }, { delivery_id: id }) {
        if (!memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
          // "Later" is counted in other deliveries, so that it does not depend on the machine's speed.
          const earlier = [...memory.known].at(-65);
          if (earlier !== undefined) memory.processed.push(earlier);
        }
        return [200];
      },
    },
  },
  {
    name: "mixes up simultaneous deliveries",
    // An attempt that has timed out is still running during the next one.
    fails: ["distinct-at-once", "whole-schedule"],
    steps: {
      async process({ memory }, { delivery_id }) {
        memory.scratch.set("current", delivery_id);
        await wait(5);
        const id = String(memory.scratch.get("current"));
        if (!memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
        }
        return [200];
      },
    },
  },
  {
    name: "answers 2xx to more deliveries than its queue can store",
    fails: ["distinct-at-once"],
    steps: {
      process({ memory }, { delivery_id: id }) {
        const queued = (memory.scratch.get("queued") ?? []) as string[];
        if (memory.known.has(id) || queued.length >= 10) return [202];
        memory.known.add(id);
        memory.scratch.set("queued", [...queued, id]);
        return [202];
      },
      // The queue is processed when the probe is read, so that the result does not depend on the machine's speed.
      work({ memory }) {
        memory.processed.push(...((memory.scratch.get("queued") ?? []) as string[]));
        memory.scratch.delete("queued");
      },
    },
  },
];
