/*
 * The static viewer (interfaces 19): `understudy viewer DIR` writes it. A file that is dropped onto the page is opened by
 * the engine in the page; the console, in a frame, talks to that engine through the service worker.
 */

import { toBase64 } from "../engine/bytes.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { openPageEngine } from "./page-engine.ts";
import { DEFAULT_PATHS, PageWorker } from "./page-worker.ts";

/* The parts of a page that are used here; the types of browsers are not among this project's. */
interface Element {
  hidden: boolean;
  src: string;
  textContent: string;
  title: string;
  files: Iterable<Blob> | null;
  addEventListener(type: string, listener: (event: DropEvent) => void): void;
}
interface DropEvent {
  preventDefault(): void;
  dataTransfer?: { files: Iterable<Blob> };
}
const page = globalThis as unknown as {
  document: { getElementById(id: string): Element; title: string };
  addEventListener: Element["addEventListener"];
};
const findElement = (id: string) => page.document.getElementById(id);

/** Started with the first file, so that the page is there at once. */
let engineStart: Promise<{ clientId: string; fetch: (request: Request) => Promise<Response> }> | undefined;

async function startEngine() {
  const engine = await openPageEngine({});
  const worker = await PageWorker.connect(engine, { paths: DEFAULT_PATHS, worker: "understudy-worker.js" });
  return { clientId: worker.clientId, fetch: engine.fetch };
}

async function openFirstFile(files: Iterable<Blob> = []): Promise<void> {
  const [file] = files;
  if (file === undefined) return;
  findElement("problem").textContent = "Opening…";
  try {
    engineStart ??= startEngine().catch((error) => {
      engineStart = undefined;
      throw error;
    });
    const { clientId, fetch } = await engineStart;
    const request = new Request(`${IN_PROCESS_ORIGIN}/_control/open`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file: toBase64(new Uint8Array(await file.arrayBuffer())) }),
    });
    const response = await fetch(request);
    const { name, detail } = (await response.json()) as { name: string; detail: string };
    if (!response.ok) throw new Error(detail);
    findElement("console").src = `_console/s/${name}/timeline?page=${clientId}`;
    findElement("console").hidden = false;
    findElement("start").hidden = true;
    page.document.title = `${name} · Understudy viewer`;
  } catch (error) {
    findElement("problem").textContent = (error as Error).message;
  }
}

page.addEventListener("dragover", (event) => event.preventDefault());
page.addEventListener("drop", (event) => {
  event.preventDefault();
  void openFirstFile(event.dataTransfer?.files);
});
findElement("file").addEventListener("change", () => void openFirstFile(findElement("file").files ?? []));
