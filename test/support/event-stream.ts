import { type ClientRequest, get, type IncomingHttpHeaders } from "node:http";
import { type Api, type Caller, KEYS } from "./harness.ts";

export interface ReceivedEvent {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
}

/** A client of server-sent events with its own connection. */
export class EventStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: ReceivedEvent[] = [];
  /** Resolves with all received events when the server has ended the stream. */
  readonly ended: Promise<ReceivedEvent[]>;
  private readonly request: ClientRequest;
  private waiting: (() => void)[] = [];

  private constructor(request: ClientRequest, response: import("node:http").IncomingMessage) {
    this.request = request;
    this.status = response.statusCode!;
    this.headers = response.headers;
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) this.read(block);
      for (const wake of this.waiting.splice(0)) wake();
    });
    this.ended = new Promise((resolve, reject) => {
      response.on("end", () => resolve(this.events));
      response.on("error", reject);
    });
    this.ended.catch(() => {});
  }

  /** Resolves when the response's head has arrived; the server must not wait for a first event. */
  static open(api: Api, who: Caller, path: string, lastEventId?: string): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      const headers = { "api-key": KEYS[who], ...(lastEventId ? { "last-event-id": lastEventId } : {}) };
      const request = get(api.url + path, { agent: false, headers }, (response) =>
        resolve(new EventStream(request, response)),
      );
      request.on("error", reject);
    });
  }

  /** Resolves when at least this many events have arrived. */
  async waitForCount(count: number): Promise<ReceivedEvent[]> {
    while (this.events.length < count) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.events;
  }

  close(): void {
    this.request.destroy();
  }

  private read(block: string): void {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    if (lines.length === 0) return;
    const [id, data, ...more] = lines;
    if (!id?.startsWith("id: ") || !data?.startsWith("data: ") || more.length > 0)
      throw new Error(`not one id and one line of data: ${JSON.stringify(block)}`);
    this.events.push({ id: id.slice(4), data: JSON.parse(data.slice(6)) });
  }
}
