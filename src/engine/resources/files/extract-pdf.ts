import { Worker } from "node:worker_threads";

/** The one build of PDF.js that needs neither canvas nor worker file. */
const PDFJS = import.meta.resolve("unpdf/pdfjs");
const MAX_EXTRACTION_MS = 15_000;

/** What decoding may take beside the document itself; a page of text is some kilobytes. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024;

/**
 * Runs in a thread of its own: parsing takes its time, and a hostile document must cost neither the
 * server's memory nor its turn. As text, because a bundle has no file to start a thread from. A thread's
 * heap has a limit, but the buffers that a compressed stream unfolds into lie outside of it: they are
 * counted here, before the library is loaded that makes them. What was read until then is kept.
 */
const READER = `
const { parentPort, workerData } = require("node:worker_threads");
let room = workerData.bytes.length * 2 + ${MAX_DECODED_BYTES};
const take = (bytes) => {
  if (bytes >= 65536) room -= bytes;
  if (room < 0) throw new RangeError("the PDF unfolds into too much");
};
const { Uint8Array: Bytes, DecompressionStream: Unfold } = globalThis;
globalThis.Uint8Array = new Proxy(Bytes, {
  construct(target, args, made) {
    if (typeof args[0] === "number") take(args[0]);
    return Reflect.construct(target, args, made === globalThis.Uint8Array ? target : made);
  },
});
globalThis.DecompressionStream = function (format) {
  const { readable, writable } = new Unfold(format);
  let pending = 0;
  const counted = new TransformStream({
    transform(chunk, out) {
      pending += chunk.byteLength;
      if (pending >= 65536) {
        take(pending);
        pending = 0;
      }
      out.enqueue(chunk);
    },
  });
  return { readable: readable.pipeThrough(counted), writable };
};
let text = "";
let problem = "the PDF cannot be read";
const read = async () => {
  const { getDocument } = await import(workerData.pdfjs);
  const pdf = await getDocument({ data: workerData.bytes, disableFontFace: true, verbosity: 0 }).promise;
  problem = undefined;
  for (let n = 1; n <= pdf.numPages && text.length < workerData.most && room >= 0; n++) {
    const page = await pdf.getPage(n);
    const reader = page.streamTextContent().getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value.items.map(({ str, hasEOL }) => str + (hasEOL ? " " : "")).join("");
      if (text.length >= workerData.most) break;
    }
    text += "\\n";
  }
};
const answer = (error) => {
  if (error?.name === "PasswordException") problem = "the PDF is protected by a password";
  if (error instanceof RangeError && text === "") problem = error.message;
  parentPort.postMessage({ text: text.slice(0, workerData.most), problem });
};
read().then(answer, answer);
`;

export interface PdfText {
  text: string;
  /** Why it cannot be read; one that can is told by its text, which may be empty. */
  problem?: string | undefined;
}

const TOO_MUCH: PdfText = { text: "", problem: "the PDF takes too much to be read" };

/**
 * The text of a PDF; takes a thread and its memory, so that whoever calls it should wait for a turn. The thread ends with
 * the signal: a client that has left should keep nobody else waiting. @throws the signal's reason
 */
export async function textOfPdf(
  bytes: Uint8Array,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<PdfText> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const worker = new Worker(READER, {
      eval: true,
      workerData: { pdfjs: PDFJS, bytes: new Uint8Array(bytes), most },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
      stdout: true,
      stderr: true,
    });
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      void worker.terminate();
    };
    const settle = (found: PdfText) => {
      resolve(found);
      end();
    };
    const leave = () => {
      reject(signal.reason);
      end();
    };
    signal.addEventListener("abort", leave);
    const timer = setTimeout(() => settle(TOO_MUCH), MAX_EXTRACTION_MS);
    worker.once("message", settle);
    worker.once("error", () => settle(TOO_MUCH));
    worker.once("exit", () => settle(TOO_MUCH));
  });
}
