import { toLatin1 } from "../../bytes.ts";
import type { ReceivedFile } from "../../contract/operation.ts";
import type { HeavyWork, Services } from "../../contract/services.ts";
import { decodeText } from "./decode-text.ts";
import { effectiveType } from "./file-type.ts";
import { cutIntoPassages, MAX_TEXT_LENGTH, passagesOfRows, textOfJson } from "./passages.ts";
import type { Findings, Trouble, Upload } from "./schema.ts";
import { bytesOfText } from "./text-bytes.ts";

const MB = 1024 * 1024;

/** So much of a file is read. A text is read in part; a PDF and a picture only whole, or not at all. */
const MAX_READ_BYTES = {
  text: 4 * MB,
  markup: 4 * MB,
  xml: 4 * MB,
  rows: 4 * MB,
  json: 4 * MB,
  pdf: 32 * MB,
  picture: 25 * MB,
  container: 8,
};
type Kind = keyof typeof MAX_READ_BYTES;

interface Source {
  filename: string;
  mime_type: string;
  size: number;
  read: (most: number) => Promise<Uint8Array>;
}

/** What an upload that is whole holds (G34): its passages, its picture, or why processing will fail. */
export function examineUpload(upload: Upload, io: ExamineIo): Promise<Findings> {
  const { filename, mime_type, file_size } = upload;
  const { bytes } = io.services;
  return examine({ filename, mime_type, size: file_size, read: (most) => bytes.read(upload.id, most) }, io);
}

export function examineFile(file: ReceivedFile, io: ExamineIo): Promise<Findings> {
  return examine(file, io);
}

interface ExamineIo {
  services: Pick<Services, "bytes" | "inTurn">;
  signal: AbortSignal;
}

/** @throws ApiError PAYLOAD_TOO_LARGE where the sandbox has no room left for the text */
async function examine(source: Source, { services, signal }: ExamineIo): Promise<Findings> {
  const found = await findingsOf(source, signal, (kind, work) => services.inTurn(kind, signal, work));
  services.bytes.requireRoom(bytesOfText(found));
  return found;
}

type WithTurn = (kind: HeavyWork, work: () => Promise<Findings>) => Promise<Findings>;

async function findingsOf(source: Source, signal: AbortSignal, withTurn: WithTurn): Promise<Findings> {
  if (source.size === 0) return troubled("parsing", "the file is empty");
  const kind = kindOf(effectiveType(source));
  if (kind === undefined) return { passages: [] };
  const work = async () => READERS[kind](await source.read(MAX_READ_BYTES[kind]), { ...source, signal });
  const heavy = HEAVY[kind];
  return heavy === undefined ? work() : withTurn(heavy, work);
}

const HEAVY: Record<Kind, HeavyWork | undefined> = {
  text: "text",
  markup: "text",
  xml: "text",
  json: "text",
  rows: "text",
  pdf: "document",
  picture: "image",
  container: undefined,
};

type ReadSource = Source & { signal: AbortSignal };
type Reader = (bytes: Uint8Array, source: ReadSource) => Findings | Promise<Findings>;

const READERS: Record<Kind, Reader> = {
  text: textual((text) => text),
  // Loaded for the first file of their kind only: a server that gets none should not start slower for it.
  markup: textual(async (text, { signal }) =>
    (await import("./extract-markup.ts")).textOfMarkup(text, { signal }),
  ),
  xml: textual(async (text, { signal }) =>
    (await import("./extract-markup.ts")).textOfMarkup(text, { signal, xml: true }),
  ),
  json: textual((text, { isWhole }) => textOfJson(text, isWhole)),
  rows: textual(async (text, { signal }) => (await import("./extract-rows.ts")).rowsOf(text, signal)),
  async pdf(bytes, { size, signal }) {
    // More than is read cannot be judged.
    if (size > MAX_READ_BYTES.pdf) return { passages: [] };
    const { textOfPdf } = await import("./extract-pdf.ts");
    const { text, problem } = await textOfPdf(bytes, { most: MAX_TEXT_LENGTH, signal });
    return problem === undefined ? foundIn(text) : troubled("parsing", problem);
  },
  async picture(bytes, { size }) {
    if (size > MAX_READ_BYTES.picture) return { passages: [] };
    const { describePicture } = await import("./describe-picture.ts");
    return { passages: [], picture: await describePicture(bytes) };
  },
  container(bytes, { mime_type }) {
    const signature = toLatin1(bytes);
    if (CONTAINERS.some((known) => signature.startsWith(known))) return { passages: [] };
    return troubled("parsing", `the file cannot be read as ${mime_type}`);
  },
};

/** ZIP (Office since 2007, OpenDocument), the older Office, RTF: their text is not read, their first bytes are. */
const CONTAINERS = ["PK\x03\x04", "\xd0\xcf\x11\xe0", "{\\rtf"];

function textual(
  read: (
    text: string,
    how: { isWhole: boolean; signal: AbortSignal },
  ) => Promise<string | readonly string[] | undefined> | string | readonly string[] | undefined,
): Reader {
  return async (bytes, { size, mime_type, signal }) => {
    const isWhole = bytes.length >= size;
    const text = decodeText(bytes, { mime_type, isWhole });
    if (text === undefined) return troubled("parsing", "the text is not valid UTF-8");
    const found = await read(text, { isWhole, signal });
    return found === undefined
      ? troubled("parsing", `the file cannot be read as ${mime_type}`)
      : foundIn(found);
  };
}

/** A text without a visible character leaves nothing to chunk, one without a word nothing to embed. */
function foundIn(text: string | readonly string[]): Findings {
  const passages = typeof text === "string" ? cutIntoPassages(text) : passagesOfRows(text);
  if (passages.length > 0) return { passages };
  const isBlank = !/[^\s\p{C}]/u.test(typeof text === "string" ? text : text.join(" "));
  return isBlank
    ? troubled("chunking", "the file holds no text")
    : troubled("embedding", "the text holds no words");
}

function troubled(step: Trouble["step"], message: string): Findings {
  return { passages: [], trouble: { step, message } };
}

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^application\/pdf$/, "pdf"],
  [/^(application\/json|.+\+json)$/, "json"],
  [/^(text|application)\/csv$/, "rows"],
  [/^(text\/html|application\/xhtml\+xml)$/, "markup"],
  [/^(text\/xml|application\/(xml|.+\+xml))$/, "xml"],
  [/^(text\/.+|application\/(x-ndjson|yaml|x-yaml))$/, "text"],
  [/^image\/.+$/, "picture"],
  [/^application\/(rtf|msword|vnd\.(ms-|oasis\.opendocument|openxmlformats-officedocument).+)$/, "container"],
];

function kindOf(type: string): Kind | undefined {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1];
}
