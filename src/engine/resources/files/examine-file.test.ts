import { describe, expect, it } from "vitest";
import type { InTurn } from "../../contract/services.ts";
import { examineUpload } from "./examine-file.ts";
import type { Upload } from "./schema.ts";
import { bytesOfText } from "./text-bytes.ts";

const { signal } = new AbortController();
const upload = (mime_type: string, file_size = 8) =>
  ({ id: "upload_1", filename: "a", mime_type, file_size }) as Upload;

/** Services that tell what was asked of them, in its order. */
function stand(content: string) {
  const told: string[] = [];
  const inTurn: InTurn = async (kind, _signal, work) => {
    told.push(`turn for ${kind}`);
    const found = await work();
    told.push("turn ended");
    return found;
  };
  const bytes = {
    read: async () => {
      told.push("read");
      return Buffer.from(content);
    },
    requireRoom: (count: number) => void told.push(`room for ${count}`),
  };
  return { told, io: { services: { inTurn, bytes: bytes as never }, signal } };
}

describe("what a file holds", () => {
  it.each([
    ["application/pdf", "document"],
    ["image/png", "image"],
  ])("interfaces 7 %s waits its turn as %s, without its bytes", async (type, kind) => {
    const { told, io } = stand("no such thing");
    await examineUpload(upload(type), io);
    expect(told).toEqual([`turn for ${kind}`, "read", "turn ended", "room for 0"]);
  });

  it.each([
    ["text/plain", "One sentence. Another sentence."],
    ["text/html", "<p>One sentence.<p>Another sentence."],
    ["text/xml", "<a><b>One sentence.</b><b>Another sentence.</b></a>"],
    ["text/csv", "One,sentence.\nAnother,sentence."],
    ["application/json", '{"one": "sentence", "another": "sentence"}'],
  ])("interfaces 7 %s waits its turn as text, and counts against the sandbox's bytes", async (type, text) => {
    const { told, io } = stand(text);
    const found = await examineUpload(upload(type, text.length), io);
    expect(found.passages).toHaveLength(2);
    expect(told).toEqual(["turn for text", "read", "turn ended", `room for ${bytesOfText(found)}`]);
    expect(bytesOfText(found)).toBeGreaterThan(30);
  });
});
