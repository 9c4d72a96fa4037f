import { once } from "node:events";
import { createWriteStream, rmSync, type WriteStream } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { join } from "node:path";
import type busboyType from "busboy";
import type { Busboy } from "busboy";
import { ApiError, invalidInput } from "../../engine/contract/errors.ts";
import { UNKNOWN_TYPE } from "../../engine/contract/media-types.ts";
import type { ReceivedFile } from "../../engine/contract/operation.ts";
import type { FormSpace } from "../../engine/contract/services.ts";
import type { Settings } from "../../engine/contract/settings.ts";
import type { ReadForm } from "../../engine/pipeline/engine-parts.ts";
import { FormParts, type FormSpec } from "../../engine/pipeline/form-parts.ts";
import type { PlainRequest } from "../../engine/pipeline/plain-http.ts";
import { digestFiles } from "./storage/segment.ts";

type Received = Pick<PlainRequest, "headers" | "body">;

/** Maximum size of all text fields of a form together, since they are stored in memory. */
const FIELD_BYTES = 1024 * 1024;
const MAX_PARTS = 100;
/** Allowance for boundaries, part headers and text fields. */
const FORM_OVERHEAD = 2 * FIELD_BYTES;

/**
 * Receives a multipart body with busboy, which streams: files of any size are written to disk, under generated names.
 */
export const readForm: ReadForm = async (request, spec, place) => {
  if (!/^multipart\/form-data\b/i.test(String(request.headers["content-type"]))) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { system_message: "Send the form as multipart/form-data." });
  }
  requireSaneLength(request, spec, place.settings);
  const { default: busboy } = await import("busboy");
  const folder = await mkdtemp(join(place.space.folder, "form-"));
  const form = new FormReader(request, spec, { ...place, folder });
  const cleanUp = () => {
    rmSync(folder, { recursive: true, force: true });
    form.release();
  };
  try {
    await form.read(busboy);
    const { texts, files } = form.parts;
    return { fields: form.parts.toFields(), texts, files, cleanUp };
  } catch (error) {
    cleanUp();
    throw error;
  }
};

/** A form that cannot fit is refused before it is read. @throws ApiError PAYLOAD_TOO_LARGE */
function requireSaneLength(request: Received, spec: FormSpec, settings: Settings): void {
  const files = Object.entries(spec.files).map(([name, file]) => ({ name, limit: file.limit(settings) }));
  const most = files.reduce((sum, { limit }) => sum + limit, 0);
  if (Number(request.headers["content-length"] ?? 0) <= most + FORM_OVERHEAD) return;
  throw tooLarge(files[0]?.name ?? "body", most);
}

/** A form that is being received. */
class FormReader {
  readonly parts: FormParts;
  private readonly request: Received;
  private readonly place: { space: FormSpace; settings: Settings; folder: string };
  private readonly writing: Promise<void>[] = [];
  private readonly outs: WriteStream[] = [];
  private readonly nameless: string[] = [];
  private readonly stop = new AbortController();
  /** The headers of the part that busboy reads. */
  private head = "";
  private fieldBytes = 0;
  private taken = 0;
  private released = false;

  constructor(request: Received, spec: FormSpec, place: FormReader["place"]) {
    this.request = request;
    this.parts = new FormParts(spec);
    this.place = place;
  }

  /** Releases the space on disk; a file that is still being received is closed. */
  release(): void {
    this.released = true;
    for (const out of this.outs) out.destroy();
    this.place.space.give(this.taken);
    this.taken = 0;
  }

  read(busboy: typeof busboyType): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const attempt = (work: () => void) => {
        try {
          work();
        } catch (error) {
          reject(error);
        }
      };
      attempt(() => {
        const form = this.open(busboy);
        form.on("field", (sent, value, info) => attempt(() => this.addField(sent, value, info)));
        form.on("file", (sent, stream, { filename }) =>
          attempt(() => {
            // The bytes of a file that is not stored must be read too, so that the form continues.
            stream.on("error", () => {});
            stream.resume();
            this.addFile(this.parts.readName(sent), stream, filename)?.catch(reject);
          }),
        );
        for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
          form.on(limit, () =>
            reject(new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_parts: MAX_PARTS } })),
          );
        form.on("error", (error) => reject(unreadableForm((error as Error).message)));
        form.on("close", () => {
          Promise.all(this.writing).then(() => {
            this.dropUnchosen();
            resolve();
          }, reject);
        });
        this.feed(form).catch(reject);
      });
    }).finally(() => this.stop.abort());
  }

  /** Ends early once the form is refused. */
  private async feed(form: Busboy): Promise<void> {
    const { signal } = this.stop;
    for await (const { bytes, head } of cutAfterHeads(this.request)) {
      if (signal.aborted) return;
      if (head !== undefined) this.head = head;
      if (!form.write(bytes)) await once(form, "drain", { signal });
    }
    form.end();
  }

  private open(busboy: typeof busboyType) {
    const limits = { fieldSize: FIELD_BYTES, fields: MAX_PARTS, files: MAX_PARTS, parts: MAX_PARTS };
    try {
      return busboy({
        headers: this.request.headers,
        defParamCharset: "utf8",
        limits: { ...limits, headerPairs: 50 },
      });
    } catch (error) {
      throw unreadableForm((error as Error).message);
    }
  }

  private addField(sent: string, value: string, { valueTruncated }: { valueTruncated: boolean }): void {
    this.fieldBytes += Buffer.byteLength(value) + sent.length;
    if (valueTruncated || this.fieldBytes > FIELD_BYTES) throw tooLarge(sent, FIELD_BYTES);
    this.parts.addText(this.parts.readName(sent), value);
  }

  private async readField(name: string, stream: NodeJS.ReadableStream): Promise<void> {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of stream) {
      size += piece.length;
      if (size <= FIELD_BYTES) pieces.push(piece as Buffer);
    }
    const text = Buffer.concat(pieces).toString();
    this.addField(name, text, { valueTruncated: size > FIELD_BYTES });
  }

  /** Undefined for a part that is not stored: a file that the operation does not take, or one without a name. */
  private addFile(
    name: string,
    stream: NodeJS.ReadableStream,
    filename: string | undefined,
  ): Promise<void> | undefined {
    if (this.parts.isField(name, filename)) {
      const reading = this.readField(name, stream);
      this.writing.push(reading);
      return reading;
    }
    const file = this.parts.findFileSpec(name);
    if (file === undefined) {
      // Reported as an unknown field, by its name (G09).
      this.parts.texts[name] = "";
      return undefined;
    }
    // `..` and `dir/` name no file.
    if (filename === "") return undefined;
    // A part without a type is treated as one of an unknown type; busboy assumes text/plain.
    const mime_type = CONTENT_TYPE.exec(this.head)?.[1] ?? UNKNOWN_TYPE;
    const key = this.parts.nameFile(name, { filename, type: mime_type });
    const path = join(this.place.folder, `file-${this.writing.length}`);
    const received: ReceivedFile = {
      filename: filename ?? name,
      mime_type,
      size: 0,
      read: (most) => readStart(path, Math.min(most, received.size)),
      digest: (algorithm) => digestFiles([{ path, length: received.size }], algorithm),
    };
    this.parts.files[key] = received;
    if (filename === undefined) this.nameless.push(key);
    const storing = this.store(stream, received, { path, name, limit: file.limit(this.place.settings) });
    this.writing.push(storing);
    return storing;
  }

  /** A browser sends a nameless, empty file for an input without a chosen file. */
  private dropUnchosen(): void {
    const { files } = this.parts;
    for (const name of this.nameless) if (files[name]?.size === 0) delete files[name];
  }

  private store(
    stream: NodeJS.ReadableStream,
    file: ReceivedFile,
    { path, name, limit }: { path: string; name: string; limit: number },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const out = createWriteStream(path, { mode: 0o600 });
      this.outs.push(out);
      const stop = (error: unknown) => {
        stream.unpipe(out);
        stream.resume();
        out.destroy();
        reject(error);
      };
      stream.on("data", (chunk: Buffer) => {
        file.size += chunk.length;
        if (file.size > limit) return stop(tooLarge(name, limit));
        try {
          this.take(chunk.length);
        } catch (error) {
          stop(error);
        }
      });
      stream.on("error", stop);
      out.on("error", stop);
      out.on("finish", resolve);
      stream.pipe(out);
    });
  }

  private take(bytes: number): void {
    if (this.released) return;
    this.place.space.take(bytes);
    this.taken += bytes;
  }
}

const CONTENT_TYPE = /^content-type:[ \t]*(\S.*?)[ \t]*$/im;
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Splits a multipart body after the headers of each part, whose text is `head`: busboy, which gets the pieces one by
 * one, does not report all headers.
 */
async function* cutAfterHeads({
  headers,
  body,
}: Received): AsyncGenerator<{ bytes: Uint8Array; head?: string }> {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(String(headers["content-type"])) ?? [];
  const delimiter = Buffer.from(`\r\n--${quoted ?? plain}`);
  const lineEnd = Buffer.from("\r\n");
  // The first delimiter has no line end before it.
  let before: Buffer = lineEnd;
  let isInHead = false;
  for await (const chunk of body) {
    for (let rest = chunk; rest.length > 0; ) {
      const seen = Buffer.concat([before, rest]);
      const mark = isInHead ? "\r\n\r\n" : delimiter;
      const at = seen.indexOf(mark);
      const end = at < 0 ? rest.length : at + mark.length - before.length;
      const bytes = rest.subarray(0, end);
      yield isInHead && at >= 0 ? { bytes, head: seen.toString("latin1", 0, at) } : { bytes };
      rest = rest.subarray(end);
      if (at < 0) before = seen.subarray(isInHead ? -MAX_HEAD_BYTES : 1 - delimiter.length);
      else {
        isInHead = !isInHead;
        before = isInHead ? Buffer.alloc(0) : lineEnd;
      }
    }
  }
}

async function readStart(path: string, length: number): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function tooLarge(field: string, limit_bytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { field, limit_bytes } });
}

function unreadableForm(reason: string): ApiError {
  return invalidInput("body", null, `the multipart form cannot be read: ${reason}`);
}
