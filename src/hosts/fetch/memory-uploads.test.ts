import { expect, it } from "vitest";
import { toUtf8 } from "../../engine/bytes.ts";
import { MemoryUploads } from "./memory-uploads.ts";

it("stores no parts of an imported upload without bytes, since such a part could not be restored [interfaces 17]", async () => {
  const uploads = new MemoryUploads(100);
  const captured = await uploads.decode({ uploads: { upload_a: "" }, left_out: [] });
  expect(uploads.toStored(captured)).toEqual({ upload_a: { crc: 0, parts: [] } });
});

it("ends a write whose upload a restore replaces, since its next bytes do not follow those restored [interfaces 17]", async () => {
  const uploads = new MemoryUploads(100);
  const sandbox = {};
  const bytes = uploads.forSandbox(sandbox);
  async function* send(...texts: (string | (() => void))[]) {
    for (const text of texts)
      if (typeof text === "string") yield toUtf8(text);
      else text();
  }
  await bytes.write("upload_a", send("ab"), { start: 0, end: 2 });
  const captured = uploads.capture(sandbox);
  const restore = () => uploads.restore(sandbox, captured);
  expect(await bytes.write("upload_a", send("cd", restore, "ef"), { start: 2, end: 6 })).toBe("gone");
  expect(bytes.size("upload_a")).toBe(2);
});

it("does not bring back an upload that is removed while its next write waits [interfaces 17]", async () => {
  const bytes = new MemoryUploads(100).forSandbox({});
  async function* send(act = () => {}) {
    act();
    yield toUtf8("ab");
  }
  const first = bytes.write(
    "upload_a",
    send(() => bytes.remove("upload_a")),
    { start: 0, end: 2 },
  );
  const second = bytes.write("upload_a", send(), { start: 0, end: 2 });
  expect(await Promise.all([first, second])).toEqual(["gone", "gone"]);
  expect(bytes.blobs.size).toBe(0);
});
