import { expect, it } from "vitest";
import { MemoryUploads } from "./memory-uploads.ts";

it("stores no parts of an imported upload without bytes, since such a part could not be restored [interfaces 17]", async () => {
  const uploads = new MemoryUploads(100);
  const captured = await uploads.decode({ uploads: { upload_a: "" }, left_out: [] });
  expect(uploads.listFiles(captured)).toEqual({ upload_a: { crc: 0, parts: [] } });
});
