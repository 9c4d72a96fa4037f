import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import busboy from "busboy";
import type { TObject } from "typebox";
import { ApiError, invalidInput } from "../contract/errors.ts";
import type { BodySpec, FileSpec, ReceivedFile } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import { BODY_IDLE_MS, ClientGone } from "./read-body.ts";

export interface Multipart {
  fields: Record<string, unknown>;
  files: Record<string, ReceivedFile>;
  /** Removes what was stored and not adopted. */
  cleanUp: () => void;
}

const FIELD_BYTES = 1024 * 1024;
const MOST_PARTS = 100;

/**
 * Receives a multipart body: fields in memory within limits, files straight to disk under names of our
 * own. Whatever goes wrong, nothing is left behind.
 * @throws ApiError 415, 413, 422; ClientGone
 */
export async function readMultipart(
  request: IncomingMessage,
  spec: Extract<BodySpec, { kind: "multipart" }>,
  place: { folder: string; settings: Settings },
): Promise<Multipart> {
  if (!/^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { system_message: "Send the form as multipart/form-data." });
  }
  mkdirSync(place.folder, { recursive: true });
  const folder = await mkdtemp(join(place.folder, "form-"));
  const cleanUp = () => rmSync(folder, { recursive: true, force: true });
  try {
    const received = await receive(request, spec, { ...place, folder });
    return { ...received, fields: typedFields(spec.fields as TObject, received.fields), cleanUp };
  } catch (error) {
    cleanUp();
    request.resume();
    throw error;
  }
}

function receive(
  request: IncomingMessage,
  spec: Extract<BodySpec, { kind: "multipart" }>,
  place: { folder: string; settings: Settings },
): Promise<{ fields: Record<string, string>; files: Record<string, ReceivedFile> }> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = Object.create(null);
    const files: Record<string, ReceivedFile> = {};
    const writing: Promise<void>[] = [];
    const idle = setTimeout(() => request.destroy(), BODY_IDLE_MS);
    const fail = (error: unknown) => {
      clearTimeout(idle);
      request.unpipe();
      reject(error);
    };
    let form: ReturnType<typeof busboy>;
    try {
      form = busboy({
        headers: request.headers,
        defParamCharset: "utf8",
        limits: {
          fieldSize: FIELD_BYTES,
          fields: MOST_PARTS,
          files: MOST_PARTS,
          parts: MOST_PARTS,
          headerPairs: 50,
        },
      });
    } catch (error) {
      return fail(unreadableForm((error as Error).message));
    }
    form.on("field", (name, value, { valueTruncated }) => {
      if (valueTruncated)
        return fail(
          new ApiError("PAYLOAD_TOO_LARGE", { details: { field: name, limit_bytes: FIELD_BYTES } }),
        );
      if (Object.hasOwn(spec.files, name))
        return fail(invalidInput(name, value.slice(0, 100), "must be a file"));
      if (name in fields) return fail(invalidInput(name, value.slice(0, 100), "was sent twice"));
      fields[name] = value;
    });
    form.on("file", (name, stream, info) => {
      const file = Object.hasOwn(spec.files, name) ? spec.files[name] : undefined;
      if (file === undefined) return stream.resume();
      const refusal = files[name]
        ? invalidInput(name, info.filename ?? null, "was sent twice")
        : wrongType(name, info.mimeType, file);
      if (refusal) {
        stream.resume();
        return fail(refusal);
      }
      const kept = {
        path: join(place.folder, name),
        filename: info.filename ?? name,
        mime_type: info.mimeType,
        size: 0,
      };
      files[name] = kept;
      writing.push(store(stream, kept, { name, limit: file.limit(place.settings) }));
      writing.at(-1)!.catch(fail);
    });
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      form.on(limit, () => fail(new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_parts: MOST_PARTS } })));
    }
    form.on("error", (error) => fail(unreadableForm((error as Error).message)));
    form.on("close", () => {
      Promise.all(writing).then(() => {
        clearTimeout(idle);
        resolve({ fields, files });
      }, fail);
    });
    request.on("data", () => idle.refresh());
    request.on("close", () => {
      if (!request.complete) fail(new ClientGone());
    });
    request.pipe(form);
  });
}

function store(
  stream: NodeJS.ReadableStream,
  file: ReceivedFile,
  { name, limit }: { name: string; limit: number },
) {
  return new Promise<void>((resolve, reject) => {
    const out = createWriteStream(file.path);
    stream.on("data", (chunk: Buffer) => {
      file.size += chunk.length;
      if (file.size > limit) {
        out.destroy();
        stream.resume();
        reject(new ApiError("PAYLOAD_TOO_LARGE", { details: { field: name, limit_bytes: limit } }));
      }
    });
    stream.on("error", reject);
    out.on("error", reject);
    out.on("finish", resolve);
    stream.pipe(out);
  });
}

function wrongType(name: string, type: string, file: FileSpec): ApiError | undefined {
  if (file.types === undefined || file.types.includes(type)) return undefined;
  return new ApiError("UNSUPPORTED_MEDIA_TYPE", {
    details: { field: name, value: type },
    system_message: `${name} must be ${file.types.join(", ")}.`,
  });
}

function unreadableForm(reason: string): ApiError {
  return invalidInput("body", null, `the multipart form cannot be read: ${reason}`);
}

/** Form fields are text; whole numbers become numbers where the schema asks for them. */
function typedFields(schema: TObject, fields: Record<string, string>): Record<string, unknown> {
  const properties = schema.properties as Record<string, { type?: string }>;
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]!.type : undefined;
      return [name, type === "integer" && /^-?\d{1,15}$/.test(text) ? Number(text) : text];
    }),
  );
}
