import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { createUnderstudy } from "../../../src/client/index.ts";
import { expect, test } from "../../../src/client/vitest.ts";

/** Writes a form as bytes, since Node's fetch does not accept a DOM environment's FormData. */
function makeForm(file: Buffer, name: string, fields: Readonly<Record<string, string>> = {}) {
  const makePart = (said: string) => Buffer.from(`--part\r\ncontent-disposition: form-data; ${said}\r\n`);
  return {
    headers: { "content-type": "multipart/form-data; boundary=part" },
    body: Buffer.concat([
      ...Object.entries(fields).map(([field, value]) =>
        Buffer.concat([makePart(`name="${field}"`), Buffer.from(`\r\n${value}\r\n`)]),
      ),
      makePart(name),
      Buffer.from("content-type: image/png\r\n\r\n"),
      file,
      Buffer.from("\r\n--part--\r\n"),
    ]),
  };
}

/** Tests the server's work with bytes in the test's process, since environments replace global classes. */
export function testBytes(environment: string): void {
  test(`signs in and grows an image in ${environment}`, async ({ sandbox }) => {
    const key = { "api-key": sandbox.credentials["usr_dan"]! };
    const json = { "content-type": "application/json" };
    const asked = { method: "POST", headers: { ...key, ...json }, body: "{}" };
    // As a Request, which clients pass to the `fetch` that they are given.
    const made = await sandbox.fetch(new Request("https://api.example.com/v1/auth/token", asked));
    const { access_token } = (await made.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await fetch(`${sandbox.url}/v1/models`, { headers })).status).toBe(200);

    const source = await sharp({ create: { width: 64, height: 40, channels: 3, background: "#1030d0" } })
      .png()
      .toBuffer();
    const sent = makeForm(source, 'name="image_file"; filename="sea.png"', {
      provider: "provider_a",
      organization_id: "org_acme",
      extend_left: "30",
    });
    const grown = await fetch(`${sandbox.url}/v1/images/uncrop`, {
      method: "POST",
      headers: { ...headers, ...sent.headers },
      body: sent.body,
    });
    const answered = Buffer.from(await grown.arrayBuffer());
    expect(grown.status, answered.toString("utf8", 0, 300)).toBe(200);
    const { width, height } = await sharp(answered).metadata();
    expect([width, height]).toEqual([94, 40]);
    expect((await sandbox.bundle()).format).toBe("understudy-bundle");
  });

  test(`keeps a world in ${environment}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "understudy-environment-"));
    try {
      for (const expected of [undefined, "Kept"]) {
        const understudy = await createUnderstudy({ persist: { folder: join(folder, "data") } });
        const threads = (await understudy.open("default")).state("threads");
        const { items } = await threads.list({ title: "Kept" });
        if (expected === undefined) await threads.create({ title: "Kept" });
        await understudy.close();
        expect(items[0]?.title).toBe(expected);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
