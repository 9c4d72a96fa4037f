import { Worker } from "node:worker_threads";
import type { DocumentTools, PdfText } from "../../engine/platform.ts";

/** The build of PDF.js that needs neither a canvas nor a worker file. */
const PDFJS = import.meta.resolve("unpdf/pdfjs");
const MAX_EXTRACTION_MS = 15_000;

/** Room for decoding, on top of twice the document's size; a page of text is some kilobytes. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024;
/** Smaller buffers are not counted, since freed ones are not subtracted. */
const MIN_COUNTED_BYTES = 64 * 1024;

/**
 * The program of the reading thread, as text, because a bundle has no file to start a thread from. A thread keeps a
 * hostile document away from the server's memory and event loop. The heap limit of a thread does not count the buffers
 * into which a compressed stream is decoded, so they are counted here, before the library loads. If reading fails, the
 * text read so far is returned.
 */
const READER_PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
let room = workerData.bytes.length * 2 + ${MAX_DECODED_BYTES};
const countBuffer = (bytes) => {
  if (bytes >= ${MIN_COUNTED_BYTES}) room -= bytes;
  if (room < 0) throw new RangeError();
};
const { Uint8Array: Bytes, DecompressionStream: Decompressor } = globalThis;
globalThis.Uint8Array = new Proxy(Bytes, {
  construct(target, args, newTarget) {
    if (typeof args[0] === "number") countBuffer(args[0]);
    return Reflect.construct(target, args, newTarget === globalThis.Uint8Array ? target : newTarget);
  },
});
globalThis.DecompressionStream = function (format) {
  const { readable, writable } = new Decompressor(format);
  let pending = 0;
  const counted = new TransformStream({
    transform(chunk, out) {
      pending += chunk.byteLength;
      if (pending >= ${MIN_COUNTED_BYTES}) {
        countBuffer(pending);
        pending = 0;
      }
      out.enqueue(chunk);
    },
  });
  return { readable: readable.pipeThrough(counted), writable };
};
let text = "";
const read = async () => {
  const { getDocument } = await import(workerData.pdfjs);
  const pdf = await getDocument({ data: workerData.bytes, disableFontFace: true, verbosity: 0 }).promise;
  for (let n = 1; n <= pdf.numPages && text.length < workerData.maxLength && room >= 0; n++) {
    const page = await pdf.getPage(n);
    const reader = page.streamTextContent().getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value.items.map(({ str, hasEOL }) => str + (hasEOL ? " " : "")).join("");
      if (text.length >= workerData.maxLength) break;
    }
    text += "\\n";
  }
};
const explain = ({ name }) => {
  if (name === "PasswordException") return "is protected by a password";
  return room < 0 ? "is too large when decompressed" : "cannot be read";
};
const answer = (error) => {
  let problem;
  if (error && text === "") problem = "the PDF " + explain(error);
  parentPort.postMessage({ text: text.slice(0, workerData.maxLength), problem });
};
read().then(answer, answer);
`;

const TOO_EXPENSIVE: PdfText = { text: "", problem: "the PDF takes too much time or memory to read" };

/** Implements `DocumentTools` for Node. The thread ends with the signal. */
export const readPdf: DocumentTools["readPdf"] = async (bytes, { maxLength, signal }) => {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const worker = new Worker(READER_PROGRAM, {
      eval: true,
      workerData: { pdfjs: PDFJS, bytes: new Uint8Array(bytes), maxLength },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
      stdout: true,
      stderr: true,
    });
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      void worker.terminate();
    };
    const settle = (result: PdfText) => {
      resolve(result);
      end();
    };
    const leave = () => {
      reject(signal.reason);
      end();
    };
    signal.addEventListener("abort", leave);
    const timer = setTimeout(() => settle(TOO_EXPENSIVE), MAX_EXTRACTION_MS);
    worker.once("message", settle);
    worker.once("error", () => settle(TOO_EXPENSIVE));
    worker.once("exit", () => settle(TOO_EXPENSIVE));
  });
};
