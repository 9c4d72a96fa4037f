import { expect, it } from "vitest";
import { waitUntilPasses } from "../support/eventually.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

const ADVANCE = ["POST", "/clock/advance", { by: "10h" }] as const;
const SET = ["PUT", "/clock", { mode: "frozen", now: "2026-03-15T22:00:00Z" }] as const;

/** A sandbox whose clock is advanced by 10h and waits for a receiver that does not answer. */
async function startAdvance(name: string, move: typeof ADVANCE | typeof SET = ADVANCE) {
  const S = `/_control/sandboxes/${name}`;
  const call = (method: string, path: string, body?: object) => api.call(undefined, method, S + path, body);
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00Z" };
  await api.call(undefined, "POST", "/_control/sandboxes", { name, clock });
  const receiver = (await call("POST", "/receivers", { answers: [500, "hang"] })).body;
  await api.call("ada", "POST", `/_s/${name}/webhooks`, { url: receiver.url, events: ["user.created"] });
  await call("POST", "/events", { event: "user.created" });
  const [method, path, body] = move;
  const advance = call(method, path, body);
  await waitUntilPasses(async () =>
    expect((await call("GET", `/receivers/${receiver.id}`)).body.served).toBe(2),
  );
  return { call, advance };
}

it.each([
  ["advanced", ADVANCE],
  ["set", SET],
] as const)(
  "a clock that is %s during a reset answers with the time after the reset, without a history [interfaces 4, 10]",
  async (name, move) => {
    const { call, advance } = await startAdvance(name, move);
    await call("POST", "/reset");
    const { status, body } = await advance;
    expect([status, body.now]).toEqual([200, "2026-03-15T12:00:00.000Z"]);
    expect((await call("GET", "/clock")).body.now).toBe(body.now);
    expect((await call("GET", "/history")).body.entries.map(({ title }: { title: string }) => title)).toEqual(
      [],
    );
  },
);

it("an advance whose sandbox is deleted answers with the time that it has reached [interfaces 4]", async () => {
  const { call, advance } = await startAdvance("deleted");
  await call("DELETE", "");
  const { status, body } = await advance;
  expect([status, body.now]).toEqual([200, "2026-03-15T12:01:00.000Z"]);
});
