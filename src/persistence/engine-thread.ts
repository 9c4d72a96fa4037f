import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { FORMAT_ID, FORMAT_VERSION } from "./sqlite-files.ts";

/** Beside this file in the sources; the bundle keeps its chunks in a folder next to it. */
const THREAD = ["./sqlite-thread.js", "../persistence/sqlite-thread.js"]
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((path) => existsSync(path));

interface Asked {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** The engine's thread, as promises; it answers in the order in which it was asked. */
export class EngineThread {
  private readonly worker: Worker;
  private readonly asked = new Map<number, Asked>();
  private number = 0;

  constructor(file: string) {
    this.worker = new Worker(THREAD!, {
      workerData: { file, formatId: FORMAT_ID, formatVersion: FORMAT_VERSION },
    });
    this.worker.on("message", (reply: { number: number; value?: unknown; error?: object }) => {
      const { resolve, reject } = this.asked.get(reply.number)!;
      this.asked.delete(reply.number);
      if (this.asked.size === 0) this.worker.unref();
      if (reply.error === undefined) resolve(reply.value as never);
      else reject(Object.assign(new Error(), reply.error));
    });
    this.worker.on("error", (error) => this.failAll(error as Error));
    this.worker.on("exit", () => this.failAll(new Error("the engine's thread has ended")));
    this.worker.unref();
  }

  /** @throws Error with the engine's `code`, such as SQLITE_FULL */
  ask<T>(work: string, input: object = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const number = ++this.number;
      this.asked.set(number, { resolve, reject });
      // While somebody waits for the disk, the process has something to do.
      this.worker.ref();
      this.worker.postMessage({ number, work, input });
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  private failAll(error: Error): void {
    for (const { reject } of this.asked.values()) reject(error);
    this.asked.clear();
  }
}
