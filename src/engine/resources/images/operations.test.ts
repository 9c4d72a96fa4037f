import { expect, it } from "vitest";
import { drawPicture } from "../../../../test/support/image-setup.ts";
import type { ReceivedFile } from "../../contract/operation.ts";
import { uncropImage } from "./operations.ts";

const PROVIDERS = ["provider_a", "provider_b"] as const;

it.each(PROVIDERS)(
  "the work on an image for %s waits for its turn and ends when the client leaves [interfaces 7]",
  async (provider) => {
    const client = new AbortController();
    const turns: string[] = [];
    const bytes = await drawPicture(20, 20).ensureAlpha(0.5).png().toBuffer();
    const file: ReceivedFile = {
      filename: "image.png",
      mime_type: "image/png",
      size: bytes.length,
      async read() {
        expect(turns).toEqual(["image"]);
        client.abort(new Error("the client left"));
        return bytes;
      },
      digest: async () => "",
    };
    const services = {
      runQueued(kind: string, _signal: AbortSignal, work: () => Promise<unknown>) {
        turns.push(kind);
        return work();
      },
    };
    const files = provider === "provider_a" ? { image_file: file } : { image_file: file, mask_file: file };
    const call = { body: { provider, organization_id: "org_acme" }, files };
    const { signal } = client;
    // Without a seed provider_a draws one from the world.
    const world = { random: () => ({ uint32: () => 1 }) };
    const prepared = uncropImage.prepare!(
      { ...call, world } as never,
      {} as never,
      { services, signal } as never,
    );
    await expect(prepared).rejects.toThrow("the client left");
    expect(turns).toEqual(["image"]);
  },
);
