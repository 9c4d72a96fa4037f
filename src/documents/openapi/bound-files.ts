import { concatBytes, fromBase64, toBase64 } from "../../engine/bytes.ts";
import { ApiError } from "../../engine/contract/errors.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { RawBody, Reply } from "../../engine/contract/reply.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { getJsonLimit } from "../../engine/contract/settings.ts";
import type { Action } from "./binding-schema.ts";
import { chooseMedia } from "./declare-body.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { CONTENT_FIELD } from "./own-collection.ts";
import { listFileParts } from "./read-form.ts";
import type { Schemas } from "./schemas.ts";

/** A file in a request's body. */
export interface SentFile {
  bytes: Uint8Array;
  filename: string | undefined;
  mime_type: string;
}

/** Whether an action stores files of the body, or the body itself as a file. */
export function takesFiles({ body }: DescribedOperation, action: Action, schemas: Schemas): boolean {
  const media = body && chooseMedia(body.media);
  if (media === undefined || !["create", "update", "replace"].includes(action)) return false;
  return listFileParts(body, schemas).size > 0 || isStream(media.type);
}

const isStream = (type: string) => !/json|multipart|x-www-form-urlencoded|^text\//.test(type);

/** @throws ApiError PAYLOAD_TOO_LARGE */
export async function receiveFiles(
  call: Call,
  stream: AsyncIterable<Uint8Array>,
  { body }: DescribedOperation,
): Promise<SentFile[]> {
  const maxBytes = getJsonLimit(call.settings);
  const files = Object.values(call.files);
  if (files.length > 0)
    return Promise.all(
      files.map(async (file) => ({
        bytes: await file.read(maxBytes),
        filename: file.filename,
        mime_type: file.mime_type,
      })),
    );
  const media = chooseMedia(body!.media)!;
  if (!isStream(media.type)) return [];
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > maxBytes) throw new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_bytes: maxBytes } });
    pieces.push(piece);
  }
  const describedType = media.type.includes("*") ? "application/octet-stream" : media.type;
  const mime_type = String(call.headers["content-type"] ?? describedType);
  return [{ bytes: concatBytes(pieces), filename: undefined, mime_type }];
}

/** Adds a file's bytes, and its name, type and size where the record has such fields; the first file wins. */
export function addFile(
  values: JsonObject,
  names: ReadonlySet<string>,
  { bytes, filename, mime_type }: SentFile,
): void {
  const setFirst = (pattern: RegExp, value: unknown) => {
    const field = [...names].find((one) => pattern.test(one));
    if (field !== undefined && value !== undefined && values[field] === undefined) values[field] = value;
  };
  setFirst([...names].some((one) => FILE_NAME.test(one)) ? FILE_NAME : NAME, filename);
  setFirst(TYPE_NAME, mime_type);
  setFirst(SIZE_NAME, bytes.length);
  values[CONTENT_FIELD] ??= toBase64(bytes);
}

/** Answers with a record's file, as the type that the document describes, else as the type in the record. */
export function toDownload(record: JsonObject, status: number, describedType = "*/*"): unknown {
  const field = Object.keys(record).find((name) => TYPE_NAME.test(name));
  const type = describedType.includes("*")
    ? ((field && record[field]) ?? "application/octet-stream")
    : describedType;
  const content = record[CONTENT_FIELD];
  const bytes = typeof content === "string" ? fromBase64(content) : new Uint8Array(0);
  return new Reply(status, new RawBody(String(type), bytes));
}

const FILE_NAME = /^file_?name$/i;
const NAME = /^(name|title)$/i;
const TYPE_NAME = /^(mime_?type|content_?type|media_?type)$/i;
const SIZE_NAME = /^(size|bytes|size_?(in_)?bytes|content_length)$/i;
