import { tmpdir } from "node:os";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../engine/contract/settings.ts";
import { MAX_PARTS, MAX_TEXT_BYTES } from "../../engine/pipeline/form-parts.ts";
import { readForm } from "../node/read-form.ts";
import { readFormData } from "./read-form-data.ts";

const SPEC = { kind: "multipart" as const, fields: Type.Object({ note: Type.String() }), files: {} };

describe.each([
  ["a server", readForm],
  ["a page", readFormData],
])("a form that %s reads", (_, read) => {
  async function send(fields: readonly (readonly [name: string, text: string])[]) {
    const form = new FormData();
    for (const [name, text] of fields) form.append(name, text);
    const { headers, body } = new Response(form);
    const request = { headers: Object.fromEntries(headers), body: body as never };
    const space = { folder: tmpdir(), reserve() {}, release() {} };
    const received = await read(request, SPEC as never, {
      space: space as never,
      settings: DEFAULT_SETTINGS,
    });
    await received.cleanUp();
    return received.fields;
  }

  it("is refused for a file that is too large, and takes no space of the sandbox then [interfaces 7]", async () => {
    const form = new FormData();
    // Many, so that some are just being created when the form is refused, and its folder is removed.
    for (let count = 0; count < 60; count += 1) form.append("first", new Blob(["12345"]), "first");
    form.append("second", new Blob(["12345"]), "second");
    let takenBytes = 0;
    const space = {
      folder: tmpdir(),
      reserve: (bytes: number) => {
        takenBytes += bytes;
      },
      release: (bytes: number) => {
        takenBytes -= bytes;
      },
    };
    const files = { first: { limit: () => 5, maxCount: 60 }, second: { limit: () => 4 } };
    for (let times = 0; times < 20; times += 1) {
      const { headers, body } = new Response(form);
      const request = { headers: Object.fromEntries(headers), body: body as never };
      const reading = read(request, { ...SPEC, files } as never, { space, settings: DEFAULT_SETTINGS });
      await expect(reading).rejects.toMatchObject({ details: { field: "second", limit_bytes: 4 } });
    }
    expect(takenBytes).toBe(0);
  });

  it("has a list of files that are larger together than the limit of one [G09]", async () => {
    const size = 2 * 1024 * 1024;
    const form = new FormData();
    for (const name of ["a", "b", "c"]) form.append("file", new Blob(["x".repeat(size)]), name);
    const { headers, body } = new Response(form);
    const request = {
      headers: { ...Object.fromEntries(headers), "content-length": String(3 * size + 500) },
      body: body as never,
    };
    const space = { folder: tmpdir(), reserve() {}, release() {} };
    const spec = { ...SPEC, files: { file: { limit: () => size, maxCount: 3 } } };
    const { files, cleanUp } = await read(request, spec as never, { space, settings: DEFAULT_SETTINGS });
    expect(Object.values(files).map((file) => file!.size)).toEqual([size, size, size]);
    cleanUp();
  });

  it("has the name of a file without its folders, which browsers send for a chosen folder [G09]", async () => {
    const form = new FormData();
    form.append("file", new Blob(["12345"]), "folder/name.txt");
    const { headers, body } = new Response(form);
    const request = { headers: Object.fromEntries(headers), body: body as never };
    const space = { folder: tmpdir(), reserve() {}, release() {} };
    const spec = { ...SPEC, files: { file: { limit: () => 5 } } };
    const { files, cleanUp } = await read(request, spec as never, { space, settings: DEFAULT_SETTINGS });
    expect(files["file"]?.filename).toBe("name.txt");
    cleanUp();
  });

  it("has at most 100 parts [G09]", async () => {
    const fields = Array.from({ length: MAX_PARTS }, (_, index) => [`x${index}`, ""] as const);
    expect(Object.keys(await send(fields))).toHaveLength(MAX_PARTS);
    await expect(send([...fields, ["note", "a"]])).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      details: { limit_parts: MAX_PARTS },
    });
  });

  it("leaves no space reserved if it is refused after its first file [G09]", async () => {
    const form = new FormData();
    for (const name of ["a.txt", "b.txt"]) form.append("file", new Blob(["text"]), name);
    const { headers, body } = new Response(form);
    let reservedBytes = 0;
    const space = {
      folder: tmpdir(),
      reserve(bytes: number) {
        reservedBytes += bytes;
      },
      release(bytes: number) {
        reservedBytes -= bytes;
      },
    };
    const spec = { ...SPEC, files: { file: { required: true, limit: () => 100 } } };
    const request = { headers: Object.fromEntries(headers), body: body as never };
    const reading = read(request, spec as never, { space, settings: DEFAULT_SETTINGS });
    await expect(reading).rejects.toThrow("file was sent twice");
    expect(reservedBytes).toBe(0);
  });

  it("has at most 1 MiB of text [G09]", async () => {
    const half = "x".repeat(MAX_TEXT_BYTES / 2 - 4);
    expect(
      await send([
        ["note", half],
        ["more", half],
      ]),
    ).toEqual({ note: half, more: half });
    await expect(
      send([
        ["note", half],
        ["more", `${half}\u00e9`],
      ]),
    ).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      details: { field: "more", limit_bytes: MAX_TEXT_BYTES },
    });
  });
});
