import { once } from "node:events";
import { createWriteStream, rmSync, type WriteStream } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type busboyType from "busboy";
import type { Busboy } from "busboy";
import type { ApiError } from "../../engine/contract/errors.ts";
import { toPartType } from "../../engine/contract/media-types.ts";
import type { ReceivedFile } from "../../engine/contract/operation.ts";
import type { FormSpace } from "../../engine/contract/services.ts";
import type { Settings } from "../../engine/contract/settings.ts";
import type { ReadForm } from "../../engine/pipeline/engine-parts.ts";
import {
  createFormError,
  createPartTooLargeError,
  createTooManyPartsError,
  FormParts,
  type FormSpec,
  MAX_PARTS,
  MAX_TEXT_BYTES,
  toFormType,
} from "../../engine/pipeline/form-parts.ts";
import type { PlainRequest } from "../../engine/pipeline/plain-http.ts";
import { cutAfterHeads, findContentType, readFileName } from "./part-heads.ts";
import { throwWithFolder } from "./storage/folders.ts";
import { digestFiles } from "./storage/segment.ts";

type Received = Pick<PlainRequest, "headers" | "body">;

const START_BYTES = 4096;
/** Allowance for boundaries, part headers and text fields. */
const FORM_OVERHEAD = 2 * MAX_TEXT_BYTES;

/** Receives a multipart body with busboy, which streams: files of any size are written to disk, under generated names. */
export const readForm: ReadForm = async (request, spec, storage) => {
  checkLength(request, spec, storage.settings);
  const { default: busboy } = await import("busboy");
  const parent = storage.space.folder;
  const folder = await mkdtemp(join(parent, "form-")).catch((error) => throwWithFolder(error, parent));
  const form = new FormReader(request, spec, { ...storage, folder });
  const cleanUp = () => {
    rmSync(folder, { recursive: true, force: true });
    form.releaseSpace();
  };
  try {
    await form.read(busboy);
    const { sentTexts, files } = form.parts;
    return { fields: form.parts.toFields(), sentTexts, files, cleanUp };
  } catch (error) {
    // A folder in which a file is just being created cannot be removed.
    await form.closeFiles();
    cleanUp();
    throw error;
  }
};

/** Refuses a form whose announced length is too large. @throws ApiError PAYLOAD_TOO_LARGE */
function checkLength(request: Received, spec: FormSpec, settings: Settings): void {
  const files = Object.values(spec.files);
  const maxBytes = files.reduce((sum, { limit, maxCount = 1 }) => sum + limit(settings) * maxCount, 0);
  if (Number(request.headers["content-length"] ?? 0) <= maxBytes + FORM_OVERHEAD) return;
  throw createPartTooLargeError(Object.keys(spec.files)[0] ?? "body", maxBytes);
}

/** A form that is being received. */
class FormReader {
  readonly parts: FormParts;
  private readonly request: Received;
  private readonly storage: { space: FormSpace; settings: Settings; folder: string };
  private readonly pendingParts: (Promise<void> | undefined)[] = [];
  private readonly outputs: WriteStream[] = [];
  private readonly keysWithoutFilename: string[] = [];
  private readonly stop = new AbortController();
  /** The headers of the part that busboy reads. */
  private head = "";
  /** The beginning of the form, for an error's explanation. */
  private start = "";
  /** Parts whose headers were received, minus those that busboy has reported: above 0 at the end, it could not read one. */
  private unreadParts = 0;
  private reservedBytes = 0;
  private isClosed = false;

  constructor(request: Received, spec: FormSpec, storage: FormReader["storage"]) {
    this.request = request;
    this.parts = new FormParts(spec);
    this.storage = storage;
  }

  releaseSpace(): void {
    this.storage.space.release(this.reservedBytes);
  }

  /** Ends the reception of files that are still being received. */
  async closeFiles(): Promise<void> {
    this.isClosed = true;
    for (const out of this.outputs)
      if (!out.closed) await new Promise<void>((resolve) => out.destroy().once("close", () => resolve()));
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
      const parser = this.createParser(busboy);
      parser.on("field", (sentName, value, { valueTruncated }) =>
        attempt(() => this.addField(this.startPart(sentName), value, valueTruncated)),
      );
      parser.on("file", (sentName, stream, { filename }) =>
        attempt(() => {
          // The bytes of a file that is not stored must be read too, so that the form continues.
          stream.on("error", () => {});
          stream.resume();
          const readName = readFileName(filename, this.head);
          const adding = this.addFile(this.startPart(sentName), stream, readName);
          this.pendingParts.push(adding);
          adding?.catch(reject);
        }),
      );
      for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
        parser.on(limit, () => reject(createTooManyPartsError()));
      parser.on("error", (error) => reject(this.createError((error as Error).message)));
      parser.on("close", () => {
        if (this.unreadParts > 0) return reject(this.createError("Malformed part header"));
        Promise.all(this.pendingParts)
          .then(() => this.dropEmptyFiles())
          .then(resolve, reject);
      });
      this.feed(parser).catch(reject);
    }).finally(() => this.stop.abort());
  }

  /** Gives the body to the parser, until the form is refused. */
  private async feed(parser: Busboy): Promise<void> {
    const { signal } = this.stop;
    for await (const { bytes, head } of cutAfterHeads(this.request)) {
      if (signal.aborted) return;
      if (head !== undefined) {
        this.head = head;
        this.unreadParts += 1;
      }
      if (this.start.length < START_BYTES) this.start += Buffer.from(bytes).toString("latin1");
      if (!parser.write(bytes)) await once(parser, "drain", { signal });
    }
    parser.end();
  }

  private createParser(busboy: typeof busboyType) {
    // busboy counts the closing boundary as a part.
    const limits = { fieldSize: MAX_TEXT_BYTES, fields: MAX_PARTS, files: MAX_PARTS, parts: MAX_PARTS + 1 };
    try {
      return busboy({
        headers: { "content-type": toFormType(String(this.request.headers["content-type"])) },
        defParamCharset: "utf8",
        limits: { ...limits, headerPairs: 50 },
      });
    } catch (error) {
      throw this.createError((error as Error).message);
    }
  }

  private createError(reason: string): ApiError {
    return createFormError(String(this.request.headers["content-type"]), this.start, reason);
  }

  /** Counts a part that busboy reports, and returns its name. @throws ApiError if it has none */
  private startPart(sentName: string | undefined): string {
    this.unreadParts -= 1;
    if (sentName === undefined) throw this.createError("a part has no name");
    return sentName;
  }

  private addField(sentName: string, value: string, isTruncated: boolean): void {
    if (isTruncated) throw createPartTooLargeError(sentName, MAX_TEXT_BYTES);
    this.parts.addText(this.parts.toDeclaredName(sentName), value);
  }

  private async readField(name: string, stream: NodeJS.ReadableStream): Promise<void> {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of stream) {
      size += piece.length;
      if (size <= MAX_TEXT_BYTES) pieces.push(piece as Buffer);
    }
    this.addField(name, Buffer.concat(pieces).toString(), size > MAX_TEXT_BYTES);
  }

  /** Stores a file, or reads a JSON field sent as a file. Undefined for a file that is undeclared or has an empty name. */
  private addFile(
    sentName: string,
    stream: NodeJS.ReadableStream,
    filename: string | undefined,
  ): Promise<void> | undefined {
    const name = this.parts.toDeclaredName(sentName);
    if (this.parts.isJsonField(name, filename)) return this.readField(name, stream);
    const file = this.parts.findFileSpec(name);
    if (file === undefined) {
      // Reported as an unknown field, by its name (G09).
      this.parts.sentTexts[name] = "";
      return undefined;
    }
    // busboy shortens names such as `..` and `dir/` to an empty one, and reports an empty or missing one as undefined.
    if (filename === "") return undefined;
    // The type is read from the part's head, since busboy assumes text/plain for a part without one.
    const mime_type = toPartType(findContentType(this.head));
    const key = this.parts.createFileKey(name, { filename, type: mime_type });
    const path = join(this.storage.folder, `file-${this.pendingParts.length}`);
    const receivedFile: ReceivedFile = {
      filename: filename ?? name,
      mime_type,
      size: 0,
      read: (maxBytes) => readStart(path, Math.min(maxBytes, receivedFile.size)),
      digest: (algorithm) => digestFiles([{ path, length: receivedFile.size }], algorithm),
    };
    this.parts.files[key] = receivedFile;
    if (filename === undefined) this.keysWithoutFilename.push(key);
    return this.store(stream, receivedFile, { path, name, limit: file.limit(this.storage.settings) });
  }

  /** Drops empty files without a name, which browsers send for an input without a chosen file. */
  private dropEmptyFiles(): void {
    const { files } = this.parts;
    for (const key of this.keysWithoutFilename) if (files[key]?.size === 0) delete files[key];
  }

  private store(
    stream: NodeJS.ReadableStream,
    file: ReceivedFile,
    { path, name, limit }: { path: string; name: string; limit: number },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const out = createWriteStream(path, { mode: 0o600 });
      this.outputs.push(out);
      const stop = (error: unknown) => {
        stream.unpipe(out);
        stream.resume();
        out.destroy();
        reject(error);
      };
      stream.on("data", (chunk: Buffer) => {
        file.size += chunk.length;
        if (file.size > limit) return stop(createPartTooLargeError(name, limit));
        try {
          this.reserve(chunk.length);
        } catch (error) {
          stop(error);
        }
      });
      stream.on("error", stop);
      out.on("error", (error) => stop(Object.assign(error, { folder: dirname(this.storage.folder) })));
      out.on("finish", resolve);
      stream.pipe(out);
    });
  }

  /** Reserves space of the sandbox, which it shares with uploads. */
  private reserve(bytes: number): void {
    if (this.isClosed) return;
    this.storage.space.reserve(bytes);
    this.reservedBytes += bytes;
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
