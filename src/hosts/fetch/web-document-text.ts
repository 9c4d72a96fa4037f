import { getDocument } from "unpdf/pdfjs";
import type { DocumentTools } from "../../engine/platform.ts";

const MAX_EXTRACTION_MS = 15_000;

/** Implements `DocumentTools` for browsers, in the page's own thread. */
export const readPdf: DocumentTools["readPdf"] = async (bytes, { maxLength, signal }) => {
  signal.throwIfAborted();
  const stop = AbortSignal.any([signal, AbortSignal.timeout(MAX_EXTRACTION_MS)]);
  let text = "";
  try {
    const pdf = await getDocument({ data: bytes.slice(), disableFontFace: true, verbosity: 0 }).promise;
    for (let n = 1; n <= pdf.numPages && text.length < maxLength && !stop.aborted; n++) {
      const { items } = await (await pdf.getPage(n)).getTextContent();
      for (const item of items) if ("str" in item) text += item.str + (item.hasEOL ? " " : "");
      text += "\n";
    }
  } catch (error) {
    const isLocked = (error as Error).name === "PasswordException";
    const problem = isLocked ? "the PDF is protected by a password" : "the PDF cannot be read";
    if (text === "") return { text, problem };
  }
  signal.throwIfAborted();
  if (stop.aborted && text === "") return { text, problem: "the PDF takes too much time or memory to read" };
  return { text: text.slice(0, maxLength) };
};
