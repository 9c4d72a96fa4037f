import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const PDFJS = pathToFileURL(createRequire(import.meta.url).resolve("pdfjs-dist/legacy/build/pdf.mjs")).href;
const LONGEST_MS = 15_000;

/**
 * Runs in a thread of its own: parsing takes its time, and a hostile document must cost neither the
 * server's memory nor its turn. As text, because a bundle has no file to start a thread from.
 */
const READER = `
const { parentPort, workerData } = require("node:worker_threads");
const read = async () => {
  const { getDocument } = await import(workerData.pdfjs);
  const pdf = await getDocument({ data: workerData.bytes, disableFontFace: true, verbosity: 0 }).promise;
  let text = "";
  for (let n = 1; n <= pdf.numPages && text.length < workerData.most; n++) {
    const page = await pdf.getPage(n);
    const { items } = await page.getTextContent();
    text += items.map(({ str, hasEOL }) => str + (hasEOL ? " " : "")).join("") + "\\n";
    page.cleanup();
  }
  return text.slice(0, workerData.most);
};
read().then((text) => parentPort.postMessage(text), () => parentPort.postMessage(""));
`;

let turn: Promise<unknown> = Promise.resolve();

/** The text of a PDF, one document at a time; empty for one that cannot be read. */
export function textOfPdf(bytes: Buffer, most: number): Promise<string> {
  const mine = turn.then(() => readInThread(bytes, most));
  turn = mine;
  return mine;
}

function readInThread(bytes: Buffer, most: number): Promise<string> {
  return new Promise((resolve) => {
    const worker = new Worker(READER, {
      eval: true,
      workerData: { pdfjs: PDFJS, bytes: new Uint8Array(bytes), most },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
      stdout: true,
      stderr: true,
    });
    const settle = (text: string) => {
      clearTimeout(timer);
      resolve(text);
      void worker.terminate();
    };
    const timer = setTimeout(() => settle(""), LONGEST_MS);
    worker.once("message", (text: string) => settle(text));
    worker.once("error", () => settle(""));
    worker.once("exit", () => settle(""));
  });
}
