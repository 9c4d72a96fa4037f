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

  it("has at most 100 parts [G09]", async () => {
    const fields = Array.from({ length: MAX_PARTS }, (_, index) => [`x${index}`, ""] as const);
    expect(Object.keys(await send(fields))).toHaveLength(MAX_PARTS);
    await expect(send([...fields, ["note", "a"]])).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      details: { limit_parts: MAX_PARTS },
    });
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
