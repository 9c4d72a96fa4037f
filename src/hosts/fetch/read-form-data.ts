import { concatBytes, toBase64, toLatin1 } from "../../engine/bytes.ts";
import { toPartType } from "../../engine/contract/media-types.ts";
import type { ReceivedFile } from "../../engine/contract/operation.ts";
import { crc32c, formatCrc32c } from "../../engine/crc32c.ts";
import type { ReadForm } from "../../engine/pipeline/engine-parts.ts";
import {
  createFormError,
  createPartTooLargeError,
  createTooManyPartsError,
  FormParts,
  MAX_PARTS,
  toFileName,
  toFormType,
} from "../../engine/pipeline/form-parts.ts";
import { digest } from "../../engine/platform.ts";

/** Receives a multipart body by the platform's own parser, in memory. */
export const readFormData: ReadForm = async ({ headers, body }, spec, { space, settings }) => {
  const form = [...(await parse(body, String(headers["content-type"])))];
  if (form.length > MAX_PARTS) throw createTooManyPartsError();
  const parts = new FormParts(spec);
  const { sentTexts, files } = parts;
  let fileBytes = 0;
  for (const [sentName, value] of form) {
    const name = parts.toDeclaredName(sentName);
    const file = parts.findFileSpec(name);
    if (typeof value === "string") parts.addText(name, value);
    else if (parts.isJsonField(name, value.name)) parts.addText(name, await value.text());
    // Shown as an unknown field, by its name (G09).
    else if (file === undefined) sentTexts[name] = "";
    else if (value.size > 0 || value.name !== "") {
      const mime_type = toPartType(value.type);
      const filename = toFileName(value.name);
      const key = parts.createFileKey(name, { filename, type: mime_type });
      const limit_bytes = file.limit(settings);
      if (value.size > limit_bytes) throw createPartTooLargeError(name, limit_bytes);
      fileBytes += value.size;
      files[key] = toReceivedFile(value, { filename, mime_type });
    }
  }
  space.reserve(fileBytes);
  return { fields: parts.toFields(), sentTexts, files, cleanUp: () => space.release(fileBytes) };
};

async function parse(body: AsyncIterable<Uint8Array>, type: string): Promise<FormData> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const bytes = concatBytes(pieces) as Uint8Array<ArrayBuffer>;
  try {
    return await new Response(bytes, { headers: { "content-type": toFormType(type) } }).formData();
  } catch {
    // Browsers do not report the reason.
    const isComplete = /--\s*$/.test(toLatin1(bytes.subarray(-8)));
    const reason = isComplete ? "Malformed part header" : "Unexpected end of form";
    throw createFormError(type, toLatin1(bytes.subarray(0, 4096)), reason);
  }
}

function toReceivedFile(file: File, facts: Pick<ReceivedFile, "filename" | "mime_type">): ReceivedFile {
  const readAll = async () => new Uint8Array(await file.arrayBuffer());
  return {
    ...facts,
    size: file.size,
    read: async (maxBytes) => (await readAll()).subarray(0, maxBytes),
    digest: async (algorithm) =>
      algorithm === "crc32c"
        ? formatCrc32c(crc32c(await readAll()))
        : toBase64(digest("md5", await readAll())),
  };
}
