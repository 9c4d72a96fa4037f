import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPdf } from "./document-text.ts";

const MB = 1024 * 1024;
const MAX_TEXT_LENGTH = 200_000;

/** A document with one page for each of these contents. */
function pdf(contents: readonly { bytes: Buffer; filter: string }[]): Buffer {
  const pages = contents.map((_, n) => `${4 + n * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages}] /Count ${contents.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...contents.flatMap(({ bytes, filter }, n) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + n * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${bytes.length} ${filter} >>\nstream\n${bytes.toString("latin1")}\nendstream`,
    ]),
  ];
  let document = "%PDF-1.4\n";
  const offsets = objects.map((object, n) => {
    const offset = document.length;
    document += `${n + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = document.length;
  document += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  document += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(document, "latin1");
}

const read = (document: Buffer, most = MAX_TEXT_LENGTH) =>
  readPdf(document, { maxLength: most, signal: new AbortController().signal });

const saying = (text: string) => Buffer.from(`BT /F1 12 Tf 14 TL 72 720 Td (${text}) Tj ET`);
const plain = (bytes: Buffer) => ({ bytes, filter: "" });
const folded = (bytes: Buffer) => ({ bytes: deflateSync(bytes), filter: "/Filter /FlateDecode" });

describe("the text of a PDF [G20]", () => {
  it("is read page by page, compressed or not [G20]", async () => {
    const document = pdf([plain(saying("The pump runs.")), folded(saying("The valve opens."))]);
    expect(await read(document)).toEqual({
      text: "The pump runs.\nThe valve opens.\n",
    });
    expect(await read(document, 8)).toEqual({ text: "The pump" });
  });

  it("ends before a page that expands to a hundred megabytes, and keeps the text before it [G20]", async () => {
    const bomb = folded(Buffer.alloc(100 * MB, " "));
    const { text } = await read(
      pdf([plain(saying("The pump runs.")), bomb, plain(saying("Never reached."))]),
    );
    expect(text).toContain("The pump runs.");
    expect(text).not.toContain("Never reached.");
    const problem = "the PDF is too large when decompressed";
    expect(await read(pdf([bomb]))).toEqual({ text: "", problem });
  });

  it("is empty for a PDF without words, and invalid bytes are a problem [G20, G34]", async () => {
    const unreadable = { text: "", problem: "the PDF cannot be read" };
    expect(await read(Buffer.from("%PDF-1.4 garbage"))).toEqual(unreadable);
    expect(await read(Buffer.alloc(0))).toEqual(unreadable);
    const withoutItsPage = pdf([plain(saying("lost"))])
      .toString("latin1")
      .replace("[4 0 R]", "[9 0 R]");
    expect(await read(Buffer.from(withoutItsPage, "latin1"))).toEqual(unreadable);
    const scanned = await read(pdf([plain(Buffer.from("0 0 10 10 re f"))]));
    expect(scanned).toEqual({ text: "\n" });
  });

  it("is no longer read once its client has left [interfaces 7]", async () => {
    const client = new AbortController();
    const started = once(process, "worker") as Promise<[Worker]>;
    const reading = readPdf(pdf([plain(saying("never read"))]), {
      maxLength: MAX_TEXT_LENGTH,
      signal: client.signal,
    });
    const [thread] = await started;
    const ended = once(thread, "exit");
    client.abort(new Error("the client left"));
    await expect(reading).rejects.toThrow("the client left");
    await ended;
    await expect(readPdf(pdf([]), { maxLength: 1, signal: client.signal })).rejects.toThrow(
      "the client left",
    );
  });
});
