import { toLatin1 } from "../../bytes.ts";
import type { HeavyWork, Services } from "../../contract/services.ts";
import { platform } from "../../platform.ts";
import type { Table } from "../../state/table.ts";
import type { Root } from "../../state/tables.ts";
import { decodeText, readJson, readMarkup, readRows } from "./document-text.ts";
import { findEffectiveType } from "./fixtures.ts";
import { MAX_TEXT_LENGTH, splitIntoPassages, splitRows } from "./passages.ts";
import { describePicture } from "./pictures.ts";
import { type FileText, type Findings, fileTexts, type ProcessingFailure, type Upload } from "./schema.ts";

const MB = 1024 * 1024;

/** A longer text is read up to this size; a larger PDF or picture is not read at all. */
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
  read: (maxBytes: number) => Promise<Uint8Array>;
}

interface ExamineIo {
  services: Pick<Services, "bytes" | "runQueued">;
  signal: AbortSignal;
}

/** Finds the passages or the picture of a complete upload, or the reason why processing will fail (G34). */
export function examineUpload(upload: Upload, io: ExamineIo): Promise<Findings> {
  const { filename, mime_type, file_size } = upload;
  const { bytes } = io.services;
  return examineFile(
    { filename, mime_type, size: file_size, read: (maxBytes) => bytes.read(upload.id, maxBytes) },
    io,
  );
}

/** @throws ApiError PAYLOAD_TOO_LARGE if the sandbox has no room for the text */
export async function examineFile(source: Source, { services, signal }: ExamineIo): Promise<Findings> {
  const findings = await readFindings(source, signal, (kind, work) => services.runQueued(kind, signal, work));
  services.bytes.requireRoom(estimateTextBytes(findings));
  return findings;
}

type RunQueuedReader = (kind: HeavyWork, work: () => Promise<Findings>) => Promise<Findings>;

async function readFindings(
  source: Source,
  signal: AbortSignal,
  runQueued: RunQueuedReader,
): Promise<Findings> {
  if (source.size === 0) return toFailure("parsing", "the file is empty");
  const type = findEffectiveType(source);
  const kind = detectKind(type);
  if (kind === undefined) return { passages: [] };
  const work = async () =>
    READERS[kind](await source.read(MAX_READ_BYTES[kind]), { ...source, type, signal });
  const heavyWork = HEAVY_WORK[kind];
  return heavyWork === undefined ? work() : runQueued(heavyWork, work);
}

const HEAVY_WORK: Record<Kind, HeavyWork | undefined> = {
  text: "text",
  markup: "text",
  xml: "text",
  json: "text",
  rows: "text",
  pdf: "document",
  picture: "image",
  container: undefined,
};

type Reader = (
  bytes: Uint8Array,
  source: Source & { type: string; signal: AbortSignal },
) => Findings | Promise<Findings>;

const READERS: Record<Kind, Reader> = {
  text: createTextReader((text) => text),
  markup: createTextReader((text, { signal }) => readMarkup(text, { signal })),
  xml: createTextReader((text, { signal }) => readMarkup(text, { signal, xml: true })),
  json: createTextReader((text, { isWhole }) => readJson(text, isWhole)),
  rows: createTextReader((text, { signal }) => readRows(text, signal)),
  async pdf(bytes, { size, signal }) {
    // A PDF is read as a whole or not at all.
    if (size > MAX_READ_BYTES.pdf) return { passages: [] };
    const { readPdf } = await platform().loadDocumentTools();
    const { text, problem } = await readPdf(bytes, { maxLength: MAX_TEXT_LENGTH, signal });
    return problem === undefined ? toFindings(text) : toFailure("parsing", problem);
  },
  async picture(bytes, { size }) {
    if (size > MAX_READ_BYTES.picture) return { passages: [] };
    return { passages: [], picture: await describePicture(bytes) };
  },
  container(bytes, { type }) {
    const signature = toLatin1(bytes);
    if (CONTAINERS.some((start) => signature.startsWith(start))) return { passages: [] };
    return toFailure("parsing", `the file cannot be read as ${type}`);
  },
};

/** First bytes of ZIP (Office since 2007, OpenDocument), older Office files and RTF, whose text is not read. */
const CONTAINERS = ["PK\x03\x04", "\xd0\xcf\x11\xe0", "{\\rtf"];

function createTextReader(
  read: (
    text: string,
    options: { isWhole: boolean; signal: AbortSignal },
  ) => Promise<string | readonly string[] | undefined> | string | readonly string[] | undefined,
): Reader {
  return async (bytes, { size, mime_type, type, signal }) => {
    const isWhole = bytes.length >= size;
    const text = decodeText(bytes, { mime_type, isWhole });
    if (text === undefined) return toFailure("parsing", "the text is not valid UTF-8");
    const content = await read(text, { isWhole, signal });
    return content === undefined
      ? toFailure("parsing", `the file cannot be read as ${type}`)
      : toFindings(content);
  };
}

/** A text without a visible character cannot be chunked, one without a word cannot be embedded. */
function toFindings(text: string | readonly string[]): Findings {
  const passages = typeof text === "string" ? splitIntoPassages(text) : splitRows(text);
  if (passages.length > 0) return { passages };
  const isBlank = !/[^\s\p{C}]/u.test(typeof text === "string" ? text : text.join(" "));
  return isBlank
    ? toFailure("chunking", "the file holds no text")
    : toFailure("embedding", "the text holds no words");
}

function toFailure(step: ProcessingFailure["step"], message: string): Findings {
  return { passages: [], failure: { step, message } };
}

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^application\/pdf$/, "pdf"],
  [/^(application\/json|.+\+json)$/, "json"],
  [/^text\/(csv|tab-separated-values)$/, "rows"],
  [/^(text\/html|application\/xhtml\+xml)$/, "markup"],
  [/^application\/(xml|.+\+xml)$/, "xml"],
  [/^(text\/.+|message\/rfc822|application\/(x-ndjson|yaml|toml|mbox))$/, "text"],
  // Programs, scripts and other markup.
  [/^application\/(x-)?(sql|ecmascript|typescript|graphql|sh|shellscript|csh|perl|php|httpd-php)$/, "text"],
  [/^application\/(x-)?(ruby|python|python-code|tex|latex|texinfo|troff|subrip|diff|patch)$/, "text"],
  [/^image\/.+$/, "picture"],
  [/^application\/(rtf|msword|vnd\.(ms-|oasis\.opendocument|openxmlformats-officedocument).+)$/, "container"],
];

function detectKind(type: string): Kind | undefined {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1];
}

/** Whether a store can process the file by its type: a document, but no picture, archive or unknown bytes. */
export function isReadable(file: { mime_type: string; filename: string }): boolean {
  const kind = detectKind(findEffectiveType(file));
  return kind !== undefined && kind !== "picture";
}

/** The overhead of a passage beyond its characters. */
const PASSAGE_OVERHEAD_BYTES = 64;

/** Estimates the memory that the text of a file takes. */
export function estimateTextBytes({ passages }: Findings): number {
  let bytes = passages.length * PASSAGE_OVERHEAD_BYTES;
  for (const passage of passages) bytes += passage.length;
  return bytes;
}

/** The last counted table and its sum, by sandbox. */
const lastCounts = new WeakMap<object, { table: Table<FileText>; bytes: number }>();

/** Bytes of extracted text in all files of a sandbox (interfaces 7). Counts the changes since the last call for it. */
export function countTextBytes(sandbox: { world: { root: Root } }): number {
  const table = sandbox.world.root.tables.get(fileTexts.name) as Table<FileText> | undefined;
  if (table === undefined) return 0;
  const last = lastCounts.get(sandbox);
  let bytes = 0;
  if (last === undefined) for (const text of table.all()) bytes += estimateTextBytes(text);
  else {
    bytes = last.bytes;
    for (const { before, after } of last.table.listChangesTo(table)) {
      if (before !== undefined) bytes -= estimateTextBytes(before);
      if (after !== undefined) bytes += estimateTextBytes(after);
    }
  }
  lastCounts.set(sandbox, { table, bytes });
  return bytes;
}
