/* The messages between a page and its service worker. */

/** The browser's MessagePort; Node's types have another. */
export interface Port {
  onmessage: ((event: { data: never; ports: readonly Port[] }) => void) | null;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
}

/** From the worker, with a port for the answer. */
export interface PassedRequest {
  type: "request";
  method: string;
  url: string;
  headers: [string, string][];
  body: ArrayBuffer;
}

/** From the page, over the port of a request. Each piece is sent once the worker has asked for it. */
export type AnswerPart =
  | { type: "head"; status: number; headers: [string, string][]; isEmpty: boolean }
  | { type: "piece"; bytes: Uint8Array }
  | { type: "end" }
  | { type: "broken" };

/** From the worker, over the port of a request. */
export type ReaderMessage = { type: "next" } | { type: "abort" };

/** From the worker to the page that has introduced itself. */
export interface WorkerVersion {
  type: "version";
  version: string;
}

export function createChannel(): [Port, Port] {
  const { port1, port2 } = new MessageChannel();
  return [port1 as never, port2 as never];
}
