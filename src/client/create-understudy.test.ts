import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CreateOptions, createUnderstudy } from "./create-understudy.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-create-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each<[string, () => NonNullable<CreateOptions["persist"]>]>([
  ["a folder", () => ({ folder })],
  ["a readable document", () => ({ file: join(folder, "world.json") })],
])("a server in this process that saves its worlds in %s", (_, getPersist) => {
  it("can be closed again, also while it closes, and loses nothing then", async () => {
    const persist = getPersist();
    const understudy = await createUnderstudy({ persist });
    await understudy.sandbox({ name: "mine" });
    await Promise.all([understudy.close(), understudy.close()]);
    await understudy.close();
    const next = await createUnderstudy({ persist });
    expect((await next.list()).map(({ name }) => name)).toContain("mine");
    await next.close();
  });

  it("leaves them to the next server if its own start failed", async () => {
    const persist = getPersist();
    await expect(createUnderstudy({ persist, fixture: "refrence" as "reference" })).rejects.toThrow(
      "refrence",
    );
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const { port } = busy.address() as AddressInfo;
    await expect(createUnderstudy({ persist, port })).rejects.toThrow("EADDRINUSE");
    busy.close();
    const next = await createUnderstudy({ persist });
    await next.close();
  });
});

it("a call during or after close() is refused with a sentence, instead of waiting for ever [interfaces 8]", async () => {
  const understudy = await createUnderstudy();
  const sandbox = await understudy.open("default");
  const closing = understudy.close();
  const closed = "close() was called.";
  await expect(sandbox.info()).rejects.toThrow(closed);
  await closing;
  await expect(understudy.list()).rejects.toThrow(closed);
  await expect(understudy.health()).rejects.toThrow(closed);
  await expect(sandbox.held.next()).rejects.toThrow(closed);
});

it("a stream that a program stops reading has no follower any more, as over a socket [interfaces 8]", async () => {
  const understudy = await createUnderstudy();
  const sandbox = await understudy.open("default");
  const { id, url } = await sandbox.receivers.add({ answers: ["forward"] });
  const webhook = await sandbox.state("webhooks").create({ url, events: ["user.created"] });
  for await (const { ready } of sandbox.receivers.follow(id)) if (ready) break;
  const { deliveries } = await sandbox.events.trigger("user.created", { for: "usr_dan" });
  const delivery = deliveries.find(({ webhook_id }) => webhook_id === webhook.webhook_id);
  expect(delivery).toMatchObject({ status: "failed", response_code: 503 });
  await understudy.close();
});
