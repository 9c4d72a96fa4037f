import { describe, expect, it } from "vitest";
import type { RunQueued } from "../../contract/services.ts";
import { estimateTextBytes, examineUpload } from "./examine-file.ts";
import type { Upload } from "./schema.ts";

const { signal } = new AbortController();
const upload = (mime_type: string, file_size = 8) =>
  ({ id: "upload_1", filename: "a", mime_type, file_size }) as Upload;

/** Services that record their calls in order. */
function recordServices(content: string) {
  const calls: string[] = [];
  const runQueued: RunQueued = async (kind, _signal, work) => {
    calls.push(`turn for ${kind}`);
    const found = await work();
    calls.push("turn ended");
    return found;
  };
  const bytes = {
    read: async () => {
      calls.push("read");
      return Buffer.from(content);
    },
    requireRoom: (count: number) => void calls.push(`room for ${count}`),
  };
  return { calls, io: { services: { runQueued, bytes: bytes as never }, signal } };
}

describe("the examination of a file", () => {
  it.each([
    ["application/pdf", "document"],
    ["image/png", "image"],
  ])("of %s waits for its turn as %s before the bytes are read [interfaces 7]", async (type, kind) => {
    const { calls, io } = recordServices("no such thing");
    await examineUpload(upload(type), io);
    expect(calls).toEqual([`turn for ${kind}`, "read", "turn ended", "room for 0"]);
  });

  it.each([
    ["text/plain", "One sentence. Another sentence."],
    ["text/html", "<p>One sentence.<p>Another sentence."],
    ["text/xml", "<a><b>One sentence.</b><b>Another sentence.</b></a>"],
    ["text/csv", "One,sentence.\nAnother,sentence."],
    ["application/json", '{"one": "sentence", "another": "sentence"}'],
  ])(
    "of %s waits for its turn as text and counts against the sandbox's bytes [interfaces 7]",
    async (type, text) => {
      const { calls, io } = recordServices(text);
      const found = await examineUpload(upload(type, text.length), io);
      expect(found.passages).toHaveLength(2);
      expect(calls).toEqual(["turn for text", "read", "turn ended", `room for ${estimateTextBytes(found)}`]);
      expect(estimateTextBytes(found)).toBeGreaterThan(30);
    },
  );
});
