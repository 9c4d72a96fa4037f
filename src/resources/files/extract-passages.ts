import { open } from "node:fs/promises";
import type { ReceivedFile } from "../../contract/operation.ts";
import type { ByteStore } from "../../contract/services.ts";
import { cutIntoPassages, LONGEST_TEXT, textOfJson } from "./passages.ts";
import type { Upload } from "./schema.ts";

/** So much of a text is read; a PDF can only be read whole, and is not when it is larger than this. */
const MOST_BYTES = { text: 4 * 1024 * 1024, json: 4 * 1024 * 1024, pdf: 32 * 1024 * 1024 };
type Kind = keyof typeof MOST_BYTES;

interface Source {
  filename: string;
  mime_type: string;
  size: number;
  read: (most: number) => Promise<Buffer>;
}

/** The passages of an upload that is whole (G20); none for a file that holds no text. */
export function passagesOfUpload(upload: Upload, bytes: ByteStore): Promise<string[]> {
  const { filename, mime_type, file_size } = upload;
  return passagesOf({ filename, mime_type, size: file_size, read: (most) => bytes.read(upload.id, most) });
}

export function passagesOfFile({ path, filename, mime_type, size }: ReceivedFile): Promise<string[]> {
  return passagesOf({ filename, mime_type, size, read: (most) => firstBytes(path, Math.min(most, size)) });
}

async function passagesOf({ filename, mime_type, size, read }: Source): Promise<string[]> {
  const kind = kindOf(mime_type, filename);
  if (kind === undefined || (kind === "pdf" && size > MOST_BYTES.pdf)) return [];
  const bytes = await read(MOST_BYTES[kind]);
  if (kind === "pdf") {
    // Loaded for the first PDF only: the library is large.
    const { textOfPdf } = await import("./extract-pdf.ts");
    return cutIntoPassages(await textOfPdf(bytes, LONGEST_TEXT));
  }
  const text = decode(bytes);
  return cutIntoPassages(kind === "json" ? textOfJson(text) : text);
}

const EXTENSIONS: Record<string, Kind> = {
  txt: "text",
  md: "text",
  markdown: "text",
  csv: "text",
  json: "json",
  pdf: "pdf",
};

/** By the announced type, and by the name where the type says nothing. */
function kindOf(mime_type: string, filename: string): Kind | undefined {
  const type = mime_type.split(";")[0]!.trim().toLowerCase();
  if (type === "application/pdf") return "pdf";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type.startsWith("text/") || type === "application/csv") return "text";
  if (type !== "application/octet-stream") return undefined;
  const extension = /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

function decode(bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

async function firstBytes(path: string, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
