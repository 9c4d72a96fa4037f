/*
 * The static viewer (interfaces.md 19): `understudy viewer DIR` writes it. A file that is dropped onto the page is opened by
 * the engine in the page; the console, in a frame, talks to that engine through the service worker.
 */

import { connectToEngine, openPageEngine } from "./page-engine.ts";
import { DEFAULT_PATHS, PageWorker } from "./page-worker.ts";
import { startOnce } from "./start-once.ts";

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
const startEngine = startOnce(async () => {
  const engine = await openPageEngine({});
  const worker = await PageWorker.connect(engine, { paths: DEFAULT_PATHS, worker: "understudy-worker.js" });
  return { clientId: worker.clientId, client: connectToEngine(engine) };
});

async function openFirstFile(files: Iterable<Blob> = []): Promise<void> {
  const [file] = files;
  if (file === undefined) return;
  findElement("problem").textContent = "Opening…";
  try {
    const { clientId, client } = await startEngine();
    const { name } = await client.openFile(new Uint8Array(await file.arrayBuffer()));
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
