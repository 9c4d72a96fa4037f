import { toLatin1 } from "../../bytes.ts";
import type { HeavyWork, Services } from "../../contract/services.ts";
import { platform } from "../../platform.ts";
import type { Table } from "../../state/table.ts";
import type { Root } from "../../state/tables.ts";
import { decodeText, explainUnreadableText, readJson, readMarkup, readRows } from "./document-text.ts";
import { findEffectiveType } from "./fixtures.ts";
import { MAX_TEXT_LENGTH, splitIntoPassages, splitRows } from "./passages.ts";
import { readPicture } from "./pictures.ts";
import { type FileText, type Findings, fileTexts, type ProcessingFailure, type Upload } from "./schema.ts";

const MB = 1024 * 1024;

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
  const findings = await readFindings(source, { services, signal });
  services.bytes.requireRoom(estimateTextBytes(findings));
  return findings;
}

async function readFindings(source: Source, { services, signal }: ExamineIo): Promise<Findings> {
  if (source.size === 0) return toFailure("parsing", "the file is empty");
  const type = findEffectiveType(source);
  const reader = findReader(type);
  if (reader === undefined || (reader.needsWhole && source.size > reader.maxBytes)) return { passages: [] };
  const work = async () => reader.read(await source.read(reader.maxBytes), { ...source, type, signal });
  return reader.queue === undefined ? work() : services.runQueued(reader.queue, signal, work);
}

/** How files of one kind are read. */
interface Reader {
  /** At most this number of bytes is read. */
  maxBytes: number;
  /** Whether a larger file is not read at all. */
  needsWhole?: true;
  /** Undefined for work that takes no time. */
  queue?: HeavyWork;
  read: (
    bytes: Uint8Array,
    source: Source & { type: string; signal: AbortSignal },
  ) => Findings | Promise<Findings>;
}

const TEXT = createTextReader((text) => text);
const JSON_VALUES = createTextReader(readJson);
const ROWS = createTextReader((text, { signal }) => readRows(text, signal));
const MARKUP = createTextReader((text, { signal }) => readMarkup(text, { signal }));
const XML = createTextReader((text, { signal }) => readMarkup(text, { signal, xml: true }));

const PDF: Reader = {
  maxBytes: 32 * MB,
  needsWhole: true,
  queue: "document",
  async read(bytes, { signal }) {
    const { readPdf } = await platform().loadDocumentTools();
    const { text, problem } = await readPdf(bytes, { maxLength: MAX_TEXT_LENGTH, signal });
    return problem === undefined ? toFindings(text) : toFailure("parsing", problem);
  },
};

const PICTURE: Reader = {
  maxBytes: 25 * MB,
  needsWhole: true,
  queue: "image",
  read: async (bytes) => ({ passages: [], picture: await readPicture(bytes) }),
};

/** First bytes of ZIP (Office since 2007, OpenDocument), older Office files and RTF, whose text is not read. */
const CONTAINER_STARTS = ["PK\x03\x04", "\xd0\xcf\x11\xe0", "{\\rtf"];

const CONTAINER: Reader = {
  maxBytes: 8,
  read(bytes, { type }) {
    const signature = toLatin1(bytes);
    if (CONTAINER_STARTS.some((start) => signature.startsWith(start))) return { passages: [] };
    return toFailure("parsing", `the file cannot be read as ${type}`);
  },
};

function createTextReader(
  read: (
    text: string,
    options: { isWhole: boolean; signal: AbortSignal },
  ) => Promise<string | readonly string[] | undefined> | string | readonly string[] | undefined,
): Reader {
  return {
    maxBytes: 4 * MB,
    queue: "text",
    async read(bytes, { size, mime_type, type, signal }) {
      const isWhole = bytes.length >= size;
      const text = decodeText(bytes, { mime_type, isWhole });
      if (text === undefined) return toFailure("parsing", explainUnreadableText(bytes, mime_type));
      const content = await read(text, { isWhole, signal });
      return content === undefined
        ? toFailure("parsing", `the file cannot be read as ${type}`)
        : toFindings(content);
    },
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

/** The first reader whose pattern matches the type of a file reads the file. */
const READERS: readonly (readonly [types: RegExp, Reader])[] = [
  [/^application\/pdf$/, PDF],
  [/^(application\/json|.+\+json)$/, JSON_VALUES],
  [/^text\/(csv|tab-separated-values)$/, ROWS],
  [/^(text\/html|application\/xhtml\+xml)$/, MARKUP],
  [/^application\/(xml|.+\+xml)$/, XML],
  [/^(text\/.+|message\/rfc822|application\/(x-ndjson|yaml|toml|mbox))$/, TEXT],
  // Programs, scripts and other markup.
  [/^application\/(x-)?(sql|ecmascript|typescript|graphql|sh|shellscript|csh|perl|php|httpd-php)$/, TEXT],
  [/^application\/(x-)?(ruby|python|python-code|tex|latex|texinfo|troff|subrip|diff|patch)$/, TEXT],
  [/^image\/.+$/, PICTURE],
  [/^application\/(rtf|msword|vnd\.(ms-|oasis\.opendocument|openxmlformats-officedocument).+)$/, CONTAINER],
];

function findReader(type: string): Reader | undefined {
  return READERS.find(([types]) => types.test(type))?.[1];
}

/** Whether a store can process a file of this type: a document, but no picture, archive or unknown bytes. */
export function isProcessable(file: { mime_type: string; filename: string }): boolean {
  const reader = findReader(findEffectiveType(file));
  return reader !== undefined && reader !== PICTURE;
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

/** Estimates the memory of the text of all files of a sandbox (interfaces.md 7). Later calls count only changes. */
export function countTextBytes(sandbox: { world: { root: Root } }): number {
  const table = sandbox.world.root.tables.get(fileTexts.name) as Table<FileText> | undefined;
  if (table === undefined) return 0;
  const last = lastCounts.get(sandbox);
  let bytes = last?.bytes ?? 0;
  if (last === undefined) {
    for (const text of table.all()) bytes += estimateTextBytes(text);
  } else {
    for (const { before, after } of last.table.listChangesTo(table)) {
      if (before !== undefined) bytes -= estimateTextBytes(before);
      if (after !== undefined) bytes += estimateTextBytes(after);
    }
  }
  lastCounts.set(sandbox, { table, bytes });
  return bytes;
}
