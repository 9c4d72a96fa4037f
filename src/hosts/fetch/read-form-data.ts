import type { TObject } from "typebox";
import { concatBytes, toBase64, toLatin1 } from "../../engine/bytes.ts";
import { ApiError, invalidInput } from "../../engine/contract/errors.ts";
import { toMediaType, UNKNOWN_TYPE } from "../../engine/contract/media-types.ts";
import type { ReceivedFile } from "../../engine/contract/operation.ts";
import { crc32c, crc32cText } from "../../engine/crc32c.ts";
import type { ReadForm } from "../../engine/pipeline/engine-parts.ts";
import { parseInteger } from "../../engine/pipeline/read-query.ts";
import { digest } from "../../engine/platform.ts";

/** Receives a multipart body by the platform's own parser, in memory. */
export const readFormData: ReadForm = async ({ headers, body }, spec, { space, settings }) => {
  const type = String(headers["content-type"]);
  if (!/^multipart\/form-data\b/i.test(type))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { system_message: "Send the form as multipart/form-data." });
  const form = await parse(body, type);
  const { properties } = spec.fields as TObject;
  const texts: Record<string, string> = Object.create(null);
  const files: Record<string, ReceivedFile> = {};
  let taken = 0;
  for (const [name, value] of form) {
    if (name in texts || Object.hasOwn(files, name)) throw invalidInput(name, null, `${name} was sent twice`);
    const file = Object.hasOwn(spec.files, name) ? spec.files[name] : undefined;
    if (typeof value === "string") {
      if (file !== undefined) throw invalidInput(name, value.slice(0, 100), `${name} must be a file`);
      texts[name] = value;
    } else if (Object.hasOwn(properties, name)) {
      throw invalidInput(name, value.name, `${name} must be a text field, not a file`);
    } else if (file === undefined) {
      // Shown as an unknown field, by its name (G09).
      texts[name] = "";
    } else if (value.size > 0 || value.name !== "") {
      const mime_type = value.type || UNKNOWN_TYPE;
      if (file.types !== undefined && !file.types.includes(toMediaType(mime_type))) {
        throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
          details: { field: name, value: mime_type },
          system_message: `${name} must be ${file.types.join(", ")}.`,
        });
      }
      const limit_bytes = file.limit(settings);
      if (value.size > limit_bytes)
        throw new ApiError("PAYLOAD_TOO_LARGE", { details: { field: name, limit_bytes } });
      space.take(value.size);
      taken += value.size;
      files[name] = toReceivedFile(value, mime_type);
    }
  }
  const fields = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const isInteger = (property as { type?: string } | undefined)?.type === "integer";
      return [name, (isInteger ? parseInteger(text) : undefined) ?? text];
    }),
  );
  return { fields, texts, files, cleanUp: () => space.give(taken) };
};

async function parse(body: AsyncIterable<Uint8Array>, type: string): Promise<FormData> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const bytes = concatBytes(pieces) as Uint8Array<ArrayBuffer>;
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    // Browsers do not report the reason.
    const isWhole = /--\s*$/.test(toLatin1(bytes.subarray(-8)));
    const reason = isWhole ? "Malformed part header" : "Unexpected end of form";
    throw invalidInput("body", null, `the multipart form cannot be read: ${reason}`);
  }
}

function toReceivedFile(file: File, mime_type: string): ReceivedFile {
  const all = async () => new Uint8Array(await file.arrayBuffer());
  return {
    filename: file.name,
    mime_type,
    size: file.size,
    read: async (most) => (await all()).subarray(0, most),
    digest: async (algorithm) =>
      algorithm === "crc32c" ? crc32cText(crc32c(await all())) : toBase64(digest("md5", await all())),
  };
}
