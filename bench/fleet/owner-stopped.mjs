// Stops owners (SIGSTOP) for longer than their leases and continues them (SIGCONT): none of their writes after the
// takeover may be acknowledged or visible.
import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  createWithRetry,
  emit,
  getSandboxPath,
  listIds,
  makeDepartment,
  printRow,
  readOption,
  requireStatus,
  startNode,
  startSetup,
  waitUntil,
} from "./setup.mjs";

const ROUNDS = readOption("rounds", 10);
const OWNERS = readOption("owners", 5);
const { redis, receiver, survivor } = await startSetup();
const owners = await Promise.all(Array.from({ length: OWNERS }, () => startNode(redis)));
let [stale, false201, extra, missed, asked] = [0, 0, 0, 0, 0];

for (let round = 0; round < ROUNDS; round++) {
  await Promise.all(
    owners.map(async (owner, i) => {
      const name = `s${round}-${i}`;
      await createWithRetry(owner, name, receiver, "1s");
      const { deliveries } = await emit(owner, name);
      owner.signal("SIGSTOP");
      const late = Array.from({ length: 5 }, (_, n) =>
        ask(owner, "POST", `${getSandboxPath(name)}/state/departments`, makeDepartment(`dept_late${n}`)),
      );
      const reads = Array.from({ length: 5 }, () =>
        ask(owner, "GET", `${getSandboxPath(name)}/state/departments/dept_new`),
      );
      asked += late.length + reads.length;
      await waitUntil(
        async () =>
          (
            await ask(
              survivor,
              "POST",
              `${getSandboxPath(name)}/state/departments`,
              makeDepartment("dept_new"),
            )
          ).status === 201,
        { every: 50 },
      );
      owner.signal("SIGCONT");
      const answered = await Promise.all(late);
      const there = await listIds(survivor, name);
      for (const [n, { status }] of answered.entries()) {
        if (status === 201 && !there.has(`dept_late${n}`)) false201 += 1;
        if (status !== 201 && there.has(`dept_late${n}`)) false201 += 1;
      }
      // A 404 would come from the old owner's state.
      for (const { status } of await Promise.all(reads)) if (status === 404) stale += 1;
      if ((await ask(owner, "GET", `${getSandboxPath(name)}/state/departments/dept_new`)).status === 404)
        stale += 1;
      await pause(2500);
      const id = deliveries[0].delivery_id;
      const times = receiver.attempts.get(id)?.length ?? 0;
      if (times > 2) extra += times - 2;
      if (times < 2) missed += 1;
      await requireStatus(ask(survivor, "DELETE", getSandboxPath(name)), 204);
    }),
  );
}
printRow(`owner stopped and continued, ${ROUNDS * OWNERS} times`, {
  "requests to it while stopped": asked,
  "acknowledged but not there": false201,
  "stale reads": stale,
  "deliveries by the fenced owner": extra,
  "retries missed": missed,
});
process.exit(stale + false201 + extra + missed === 0 ? 0 : 1);
