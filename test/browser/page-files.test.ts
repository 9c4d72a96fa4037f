import type { Page } from "@playwright/test";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, useChromium } from "../support/browser/with-chromium.ts";
import { type Api, startReference } from "../support/harness.ts";
import { drawHalfMask, drawPicture, type Part, postUncrop } from "../support/image-setup.ts";
import { toPdf } from "../support/to-pdf.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const chromium = useChromium();
const application = new StaticApplication();
let page: Page;
let api: Api;
beforeAll(async () => {
  await application.listen();
  api = await startReference();
});
beforeAll(async () => {
  try {
    ({ page } = await openPage(chromium()));
  } catch {
    // Without Chromium, the tests are skipped.
    return;
  }
  await page.goto(application.origin);
  await startInPage(page, { clock: { mode: "frozen" } });
});
afterAll(async () => {
  await page?.context().close();
  application.close();
  await api.close();
});

// biome-ignore lint/suspicious/noExplicitAny: a part is a text or a file
type Any = any;
declare const asDan: { headers: { "api-key": string } };

/** Sends a form by the page's `fetch`. */
async function send(path: string, parts: Record<string, Part>) {
  const plain = Object.entries(parts).map(([name, part]) =>
    typeof part === "object"
      ? { name, bytes: [...part.bytes], type: part.type ?? "", file: part.name ?? "picture" }
      : { name, text: String(part) },
  );
  const { status, type, pieces } = await page.evaluate(
    async ({ path, plain }) => {
      const form = new FormData();
      for (const { name, text, bytes, type, file } of plain as Any[]) {
        if (text !== undefined) form.append(name, text);
        else form.append(name, new Blob([new Uint8Array(bytes)], { type }), file);
      }
      const answer = await fetch(path, { ...asDan, method: "POST", body: form });
      const pieces = [...new Uint8Array(await answer.arrayBuffer())];
      return { status: answer.status, type: answer.headers.get("content-type"), pieces };
    },
    { path, plain },
  );
  const bytes = Buffer.from(pieces);
  return { status, type, bytes, body: type?.includes("json") ? JSON.parse(bytes.toString()) : undefined };
}

const uncrop = (parts: Record<string, Part>) =>
  send("/v1/images/uncrop", { provider: "provider_a", organization_id: "org_acme", ...parts });

describe("images in a page", () => {
  it.each([
    ["png", drawPicture(60, 40).png()],
    ["webp", drawPicture(60, 40).webp({ lossless: true })],
    ["jpeg", drawPicture(60, 40).jpeg({ quality: 100 })],
    ["jpeg", drawPicture(40, 60).withMetadata({ orientation: 6 }).jpeg({ quality: 100 })],
  ])(
    "are extended for a %s as on a server, except for differences between encoders [4.20, interfaces 17]",
    async (format, image) => {
      const image_file = { bytes: await image.toBuffer(), type: `image/${format}` };
      const sides = { extend_left: 30, extend_down: 70, seed: 5 };
      const inPage = await uncrop({ image_file, ...sides });
      const onServer = await postUncrop(api, { image_file, ...sides });
      expect([inPage.status, inPage.type]).toEqual([200, "image/jpeg"]);
      const pixels = await Promise.all(
        [inPage, onServer].map(({ bytes }) => sharp(bytes).raw().toBuffer({ resolveWithObject: true })),
      );
      expect(pixels[0]!.info).toMatchObject({ width: 90, height: 110 });
      expect(pixels[1]!.info).toMatchObject({ width: 90, height: 110 });
      const differences = pixels[0]!.data.map((value, at) => Math.abs(value - pixels[1]!.data[at]!));
      expect(differences.reduce((sum, one) => sum + one, 0) / differences.length).toBeLessThan(3);
    },
  );

  it("are filled where they are transparent [4.20, interfaces 17]", async () => {
    const found = await uncrop({
      ...{ provider: "provider_b", size: "1024x1024", prompt: "a sea" },
      image_file: { bytes: await drawPicture(64, 64).png().toBuffer(), type: "image/png" },
      mask_file: { bytes: await drawHalfMask(64, 64), type: "image/png" },
    });
    expect([found.status, found.type]).toEqual([200, "image/png"]);
    const { width, height } = await sharp(found.bytes).metadata();
    expect({ width, height }).toEqual({ width: 1024, height: 1024 });
    expect((await sharp(found.bytes).stats()).isOpaque).toBe(true);
    const { data } = await sharp(found.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    // Left of the mask's edge the picture is unchanged, and right of it, it is not black.
    expect(data[(512 * 1024 + 256) * 3]).toBeCloseTo(64, -1);
    expect(data[(512 * 1024 + 900) * 3]! + data[(512 * 1024 + 900) * 3 + 1]!).toBeGreaterThan(40);
  });

  it("are refused with the server's message if of another type, cut or too large [4.20, interfaces 17]", async () => {
    const png = await drawPicture(300, 300).png().toBuffer();
    const jpeg = await drawPicture(300, 300).jpeg().toBuffer();
    const huge = Buffer.from(png);
    huge.writeUInt32BE(100_000, 16);
    const cases: Uint8Array[] = [
      Buffer.from("no image"),
      png.subarray(0, 20),
      png.subarray(0, png.length / 2),
      jpeg.subarray(0, 3),
      huge,
      await drawPicture(20, 20).gif().toBuffer(),
    ];
    for (const bytes of cases) {
      const image_file = { bytes, type: "image/png" };
      const inPage = await uncrop({ image_file });
      const onServer = await postUncrop(api, { image_file });
      const [mine, theirs] = [inPage, onServer].map(({ status, body }) => [status, body?.error?.message]);
      expect(mine).toEqual(theirs);
    }
  });
});

describe("documents in a page", () => {
  it.each([
    ["a.pdf", "application/pdf", Buffer.from(toPdf(["The pump runs at night.", "The valve opens at six."]))],
    ["a.txt", "text/plain", Buffer.from("The pump runs at night. The valve opens at six.")],
    ["a.html", "text/html", Buffer.from("<p>The pump runs.</p><p>The valve opens at six.")],
    ["a.csv", "text/csv", Buffer.from("note\nThe pump runs.\nThe valve opens at six.\n")],
  ])("of type %s are read and quoted [G20, interfaces 17]", async (name, type, bytes) => {
    const uploaded = await send("/v1/organizations/org_acme/files/upload", { file: { bytes, type, name } });
    expect(uploaded.status).toBe(201);
    const text = await page.evaluate(async (file_id) => {
      const content = "valve";
      const body = JSON.stringify({
        model: "atlas-large",
        inputs: [{ role: "user", content, files: [{ file_id }] }],
      });
      const headers = { ...asDan.headers, "content-type": "application/json" };
      const answer = await fetch("/v1/model/response", { method: "POST", headers, body });
      return answer.text();
    }, uploaded.body.id);
    expect(text).toContain("The valve opens at six.");
  });

  it("that are broken PDFs are registered, and no text is quoted [G20, interfaces 17]", async () => {
    const file = {
      bytes: new Uint8Array([0, 255, 254, 1, 2, 3]),
      type: "application/pdf",
      name: "broken.pdf",
    };
    expect(await send("/v1/organizations/org_acme/files/upload", { file })).toMatchObject({ status: 201 });
  });
});
