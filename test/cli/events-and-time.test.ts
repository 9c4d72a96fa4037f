import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toValidator } from "../../src/engine/contract/validator.ts";
import { API } from "../../src/engine/resources/index.ts";
import { KEYS } from "../support/harness.ts";
import { createTempFolder, runCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference({ delay: { p50: "1ms", p99: "3ms" } });

const run = (...args: string[]) => runCommand([...args, "--url", api.url]);
const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
async function createReceiver(answers: unknown[]): Promise<string> {
  await run("reset");
  const post = async (path: string, body: object) => {
    const headers = { "api-key": KEYS.ada, "content-type": "application/json" };
    const answer = await fetch(api.url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { url: string };
  };
  const { url } = await post("/_control/sandboxes/default/receivers", { answers });
  await post("/webhooks", { url, events: ["user.created"] });
  return url.split("/").at(-1)!;
}

describe("the command events", () => {
  it("lists all events, and each sample fits its schema [interfaces 14]", async () => {
    const { items, total } = JSON.parse((await runCommand(["events", "--json"])).stdout);
    expect(total).toBe(API.events.length);
    for (const { name, schema, sample, fields } of items) {
      const validate = toValidator(schema);
      expect(validate(sample), `${name} ${JSON.stringify(validate.errors)}`).toBe(true);
      expect(fields, name).toEqual(expect.arrayContaining(Object.keys(sample.data)));
    }
    const { stdout } = await runCommand(["events", "user.created", "--sample"]);
    expect(JSON.parse(stdout)).toMatchObject({
      event: "user.created",
      data: { user_id: expect.stringMatching(/^usr_/) },
    });
    expect(JSON.parse((await runCommand(["events", "user.created", "--schema"])).stdout).title).toBe(
      "user.created",
    );
    const answer = await fetch(`${api.url}/_control/events`);
    expect(((await answer.json()) as { items: unknown }).items).toEqual(items);
  });

  it("prints types with --types ts that compile, and with --types py for every event [interfaces 14]", async () => {
    const { stdout } = await runCommand(["events", "--types", "ts"]);
    const file = join(createTempFolder(), "events.ts");
    writeFileSync(
      file,
      `${stdout}\nexport const of = (e: WebhookEvent) => (e.event === "file.processed" ? e.data.store_id : e.delivery_id);\n`,
    );
    const compile = () =>
      execFileSync("node_modules/.bin/tsc", ["--noEmit", "--strict", "--ignoreConfig", file]);
    expect(compile).not.toThrow();
    const python = (await runCommand(["events", "--types", "py"])).stdout;
    for (const { name } of API.events) expect(python).toContain(`event: Literal["${name}"]`);
    // Python has no `true`: the file could not be imported.
    expect(python).toContain("verified: Literal[True]");
  });

  it("suggests the nearest event for an unknown one [interfaces 14]", async () => {
    const { code, stderr } = await runCommand(["events", "user.creatd"]);
    expect([code, stderr]).toEqual([
      2,
      'understudy: "user.creatd" is not an event of the service. Did you mean "user.created"?\n',
    ]);
    expect((await runCommand(["events", "--schema", "--sample"])).code).toBe(2);
  });
});

describe("trigger and clock advance", () => {
  it("say why an attempt failed, and --expect success makes it exit 1 [interfaces 14]", async () => {
    await createReceiver([500, 200]);
    const failed = await run("trigger", "user.created", "--for", "usr_dan", "--expect", "success");
    expect([failed.code, failed.stderr]).toEqual([1, "understudy: 1 of 1 attempts failed\n"]);
    expect(failed.stdout).toMatch(/failed {2}500 {5}answered 500$/m);
    expect((await run("trigger", "user.created", "--expect", "success")).code).toBe(0);
    const undelivered = await run(
      "trigger",
      "user.created",
      "--organization",
      "org_globex",
      "--expect",
      "success",
    );
    expect([undelivered.code, undelivered.stderr]).toEqual([1, "understudy: no webhook received it\n"]);
    const wrong = await run("trigger", "user.created", "--organization", "org_acm");
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'understudy: --organization must be the id of an organization of this sandbox, not "org_acm". Did you mean "org_acme"?\n',
    ]);
  });

  it("emit as many events as --count says, spaced by --rate [interfaces 14]", async () => {
    await createReceiver([200]);
    const { deliveries } = await runJson("trigger", "user.created", "--count", "3", "--rate", "500/s");
    expect(deliveries).toHaveLength(3);
    expect(new Set(deliveries.map((one: { delivery_id: string }) => one.delivery_id)).size).toBe(3);
    expect((await run("trigger", "user.created", "--count", "0")).code).toBe(2);
    expect((await run("trigger", "user.created", "--rate", "fast")).stderr).toContain(
      '--rate takes events a second such as 5/s, not "fast"',
    );
  });

  it("deliver twice with --duplicate, and in another order with --shuffle [interfaces 14]", async () => {
    const listReceived = async (id: string) => {
      const path = `/_control/sandboxes/default/receivers/${id}/requests`;
      const { items } = (await (await fetch(api.url + path)).json()) as {
        items: { body: string }[];
      };
      return items.map(({ body }) => JSON.parse(body).delivery_id as string);
    };
    const listIds = ({ deliveries }: { deliveries: { delivery_id: string }[] }) =>
      deliveries.map(({ delivery_id }) => delivery_id);
    // The second copy of the first delivery fails, which must not change the status of the first copy.
    const twice = await createReceiver([200, 500, 200]);
    const doubled = await runJson(
      "trigger",
      "user.created",
      "--count",
      "2",
      "--duplicate",
      "--expect",
      "success",
    );
    const [first, second] = listIds(doubled);
    expect((await listReceived(twice)).sort()).toEqual([first, first, second, second].sort());
    expect(doubled.deliveries).toMatchObject([{ status: "success" }, { status: "success" }]);
    const shown = await runJson("deliveries", "show", first!);
    expect(shown).toMatchObject({ status: "success", response_code: 200, attempts: 2, why: null });
    expect(shown.log.map(({ response_code }: { response_code: number }) => response_code)).toEqual([
      200, 500,
    ]);

    await createReceiver([200, 500, 200]);
    const lost = await run("trigger", "user.created", "--count", "2", "--duplicate", "--expect", "success");
    expect([lost.code, lost.stderr]).toEqual([1, "understudy: 1 of 4 attempts failed\n"]);
    expect(lost.stdout.match(/(success|failed) .*$/gm)).toEqual([
      "success  200",
      "failed   500     answered 500",
      "success  200",
      "success  200",
    ]);
    for (const answers of [
      [500, 200],
      [200, 200, 200, 500],
    ]) {
      await createReceiver(answers);
      const args = ["--count", "2", "--duplicate", "--shuffle", "--expect", "success"];
      expect((await run("trigger", "user.created", ...args)).stderr).toContain("1 of 4 attempts failed");
    }

    const mixed = await createReceiver([200]);
    const shuffled = await runJson(
      "trigger",
      "user.created",
      "--count",
      "5",
      "--shuffle",
      "--expect",
      "success",
    );
    const happened = listIds(shuffled);
    expect((await listReceived(mixed)).map((id) => happened.indexOf(id))).toEqual([3, 4, 1, 0, 2]);
    expect(await runJson("deliveries", "list", "--status", "pending")).toMatchObject({ total: 0 });
    expect((await run("trigger", "user.created", "--shuffle")).stderr).toContain("--shuffle needs --count");
    // Most of these wait for longer than a minute of the sandbox's clock, and so are retried.
    const retried = await createReceiver([200]);
    await run("clock", "run", "x60");
    const late = await runJson("trigger", "user.created", "--count", "12", "--rate", "4/s", "--shuffle");
    expect(late.deliveries.flatMap(Object.keys)).not.toContain("log");
    expect((await listReceived(retried)).length).toBeLessThan(16);
    await run("clock", "freeze");
    await createReceiver([200, 500]);
    const [delivered] = listIds(await runJson("trigger", "user.created"));
    const refused = await run("deliveries", "redeliver", delivered!, "--again");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/success .* answered 500\n\n0 of 1 were delivered\.$/m);
    const again = await run("deliveries", "redeliver", first!, "--json");
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining("is not a delivery of this sandbox"),
    ]);
  }, 60_000);

  it("count each failed attempt of many redeliveries [interfaces 14]", async () => {
    const count = 201;
    await createReceiver([...Array.from({ length: count }, () => 200), 500]);
    const { deliveries } = await runJson("trigger", "user.created", "--count", String(count));
    const ids = deliveries.map((one: { delivery_id: string }) => one.delivery_id);
    const { stdout } = await run("deliveries", "redeliver", ...ids, "--again");
    expect(stdout).toMatch(/^0 of 201 were delivered\.$/m);
  }, 60_000);

  it("say everywhere why a webhook became inactive [interfaces 14]", async () => {
    await createReceiver([410]);
    const [{ delivery_id: id, webhook_id }] = (await runJson("trigger", "user.created")).deliveries;
    const because = `attempt 1 of ${id} was answered with 410`;
    expect((await run("deliveries", "list")).stdout).toContain(`${webhook_id} is inactive: ${because}.`);
    expect((await run("deliveries", "show", id)).stdout).toContain(`, inactive: ${because})`);
    expect((await run("trigger", "user.created")).stdout).toContain(`${webhook_id} is inactive: ${because}.`);
    // The webhook belongs to org_acme.
    const elsewhere = await run("trigger", "user.created", "--organization", "org_globex");
    expect(elsewhere.stdout).toBe("user.created was emitted; no active webhook is registered for it.\n");
    const createWebhook = async () =>
      (await fetch(`${api.url}/_control/sandboxes/default/state/webhooks/${webhook_id}`)).json();
    const put = (active: boolean) =>
      fetch(`${api.url}/webhooks/${webhook_id}`, {
        method: "PUT",
        headers: { "api-key": KEYS.ada, "content-type": "application/json" },
        body: JSON.stringify({ active }),
      });
    expect(await createWebhook()).toMatchObject({ active: false, inactive_because: because });
    expect(await (await put(true)).json()).not.toHaveProperty("data.inactive_because");
    expect(await createWebhook()).not.toHaveProperty("inactive_because");
    await put(false);
    expect(await createWebhook()).toMatchObject({
      inactive_because: "PUT /webhooks/{webhook_id} deactivated it",
    });
    const { body } = await api.call(undefined, "POST", "/_control/sandboxes/default/state/webhooks", {
      active: false,
      events: ["user.created"],
    });
    expect((await run("trigger", "user.created")).stdout).toContain(
      `${body.webhook_id} is inactive: no reason was given.`,
    );
  }, 60_000);

  it("advance to the next timer of a --kind, and say why a retry failed [interfaces 14]", async () => {
    await createReceiver([500, 503, 200]);
    await run("trigger", "user.created");
    const { stdout } = await run("clock", "advance", "next", "--kind", "webhook.retry");
    expect(stdout).toMatch(/webhook\.retry .* 503 {5}answered 503$/m);
    expect(stdout).toContain("Now 2026-03-15T12:01:00.000Z.");
    const none = await run("clock", "advance", "next", "--kind", "webhook.rety");
    expect([none.code, none.stderr]).toEqual([
      2,
      'understudy: no webhook.rety is pending; did you mean "webhook.retry"?\n',
    ]);
    expect((await run("clock", "advance", "5m", "--kind", "expiry")).code).toBe(2);
    expect((await run("clock", "advance")).code).toBe(2);
  });

  it.each([
    [["advance", "-5m"], "-5m would move it back; write 5m to go forward"],
    [["advance", "-PT5M"], "-PT5M would move it back; write PT5M to go forward"],
    [["set", "-5m"], "-5m would move it back; write an instant such as 2026-03-15T12:00:00Z to go forward"],
  ])("say for clock %j that the clock only moves forward [interfaces 4]", async (words, says) => {
    const { code, stderr } = await run("clock", ...words);
    expect([code, stderr]).toEqual([
      2,
      `understudy: the clock only moves forward, and ${says}; to go back, \`understudy rewind\`, \`snapshot restore\` or \`reset\`\n`,
    ]);
  });

  it("say for `clock run real` that the sandbox is later than the wall clock [interfaces 4]", async () => {
    await run("clock", "set", "2099-01-01T00:00:00Z");
    const { code, stderr } = await run("clock", "run", "real");
    expect([code, stderr]).toEqual([
      2,
      "understudy: <rate> cannot be real: the sandbox's time, 2099-01-01T00:00:00.000Z, is later than the wall clock's, and the clock only moves forward; to go back, reset the sandbox or restore a snapshot.\n",
    ]);
  });

  it("advance from retry to retry with --until-delivered, and are exit 1 if a delivery failed after its last retry [interfaces 14]", async () => {
    await createReceiver([500, 500, 200]);
    await run("trigger", "user.created");
    const done = await run("clock", "advance", "--until-delivered");
    expect([done.code, done.stdout.trim().split("\n").at(-1)]).toEqual([0, "Now 2026-03-15T12:06:00.000Z."]);
    await createReceiver([500]);
    await run("trigger", "user.created");
    const failed = await run("clock", "advance", "--until-delivered");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/^understudy: del_\S+ failed for good: answered 500\n$/);
    await createReceiver([500]);
    await run("clock", "run", "x60");
    await run("trigger", "user.created", "--count", "20");
    const running = await run("clock", "advance", "--until-delivered");
    expect([running.code, running.stderr.match(/failed for good: answered 500$/gm)?.length]).toEqual([1, 20]);
    await run("clock", "freeze");
  });

  it("count deleted sandboxes in coverage --all [interfaces 11]", async () => {
    await run("sandbox", "create", "short");
    await fetch(`${api.url}/_s/short/v1/models`, { headers: { "api-key": KEYS.dan } });
    await run("sandbox", "delete", "short");
    const countHits = ({
      operations,
    }: {
      operations: { operation: string; outcomes: { hits: number }[] }[];
    }) => operations.find(({ operation }) => operation === "models.list")!.outcomes[0]!.hits;
    expect([countHits(await runJson("coverage", "--all")), countHits(await runJson("coverage"))]).toEqual([
      1, 0,
    ]);
    expect((await run("coverage", "--all", "--fail-under", "100")).code).toBe(1);
    // The sandbox of a base URL is no `--sandbox`.
    const env = { UNDERSTUDY_URL: `${api.url}/_s/ci` };
    for (const words of [["--all"], ["--", "true"]]) {
      const { code, stderr } = await runCommand(["coverage", ...words], { env });
      expect([code, stderr]).toEqual([0, ""]);
    }
  });

  it("make a bundle of a server with a delay that can be replayed [interfaces 11]", async () => {
    await run("sandbox", "create", "late");
    await fetch(`${api.url}/_s/late/v1/models`, { headers: { "api-key": KEYS.dan } });
    const file = join(createTempFolder(), "late.json");
    expect((await run("bundle", file, "--sandbox", "late")).code).toBe(0);
    expect(await runCommand(["replay", file])).toMatchObject({ code: 0, stderr: "" });
  });

  it("say in a sentence which values an option takes [interfaces 2]", async () => {
    const { code, stderr } = await run("journal", "--kind", "deliverys");
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      'understudy: --kind takes "request" or "delivery", not "deliverys"',
    ]);
  });

  it("refuse a start with an invalid delay [interfaces 11]", async () => {
    const { code, stderr } = await runCommand(["start", "--port", "0", "--delay", "slow"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--delay must be a duration such as 200ms")]);
    expect((await runCommand(["start", "--port", "0", "--delay", "2s/1s"])).code).toBe(2);
    expect((await runJson("explain", "models.list")).rules[0].rule).toBe("start/delay");
  });
});
