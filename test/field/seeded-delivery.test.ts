import { expect, it } from "vitest";
import { runCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
const RETRY = "2026-03-15T13:00:00.000Z";

it.each<[id: string, known: Record<string, string | number | null>, lines: string[]]>([
  [
    "del_ok",
    { attempts: 1, response_code: 200, delivered_at: "2026-03-10T08:00:00.000Z" },
    ["attempts: 1, last answer: 200", "delivered: 2026-03-10T08:00:00.000Z"],
  ],
  [
    "del_failed",
    { attempts: 6, response_code: 503, last_attempt: "2026-03-12T15:21:00.000Z", next_retry: null },
    ["attempts: 6, last answer: 503", "last attempt: 2026-03-12T15:21:00.000Z"],
  ],
  [
    "del_silent",
    { attempts: 2, response_code: 0, last_attempt: "2026-03-15T11:00:00.000Z", next_retry: RETRY },
    ["attempts: 2, last answer: none", "last attempt: 2026-03-15T11:00:00.000Z", `next retry: ${RETRY}`],
  ],
])("deliveries show prints answer, attempts and times of the seeded %s", async (id, known, lines) => {
  const name = id.replace("_", "-");
  const deliveries = [
    {
      delivery_id: "del_silent",
      event: "user.created",
      status: "failed",
      response_code: 0,
      attempts: 2,
      next_retry: RETRY,
    },
  ].map((one) => ({ ...one, last_attempt: "2026-03-15T11:00:00.000Z" }));
  const fixture = {
    extends: "reference",
    webhooks: [{ id: "wh_silent", active: false, events: ["user.created"], deliveries }],
  };
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00.000Z" };
  const created = await api.call(undefined, "POST", "/_control/sandboxes", { name, fixture, clock });
  expect(created.status, created.text).toBe(201);
  const { body } = await api.call(undefined, "GET", `/_control/sandboxes/${name}/deliveries/${id}`);
  expect(body).toMatchObject({ ...known, created_at: expect.any(String) });
  const { stdout } = await runCommand(["deliveries", "show", id, "--url", api.url, "--sandbox", name]);
  for (const line of [...lines, `created: ${body.created_at}`]) expect(stdout).toContain(`\n${line}\n`);
});
