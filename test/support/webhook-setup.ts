import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Api, type ApiResponse, type Caller, startReference } from "./harness.ts";

/** A server with functions that tests of webhooks often need. */
export interface WebhookApi extends Api {
  /** Calls the control API of the default sandbox; the path begins below the sandbox. */
  control(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  /** Creates a receiver inside the server. */
  receiver(answers?: unknown[]): Promise<{ id: string; url: string; requests(): Promise<Received[]> }>;
  /** Registers a webhook as its organization's owner. Resolves with the fields of section 2.12. */
  webhook(
    url: string,
    events?: string[],
    who?: Caller,
  ): Promise<{ webhook_id: string; secret: string; url: string }>;
  deliveries(webhook_id: string, who?: Caller): Promise<Delivery[]>;
  trigger(body?: object): Promise<Delivery[]>;
  advanceBy(by: string): Promise<{ at: string; kind: string; subject: string }[]>;
  pending(): Promise<{ due_at: string; kind: string; subject: string }[]>;
}

export interface Received {
  at: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  verdict: string;
  reason: string;
}

export interface Delivery {
  delivery_id: string;
  webhook_id?: string;
  event: string;
  status: string;
  response_code: number;
  attempts: number;
  delivered_at?: string;
  last_attempt?: string;
  next_retry?: string | null;
}

export async function startWebhooks(options: Parameters<typeof startReference>[0] = {}): Promise<WebhookApi> {
  const api = await startReference(options);
  const control: WebhookApi["control"] = (method, path, body) =>
    api.call(undefined, method, `/_control/sandboxes/default${path}`, body);
  return {
    ...api,
    control,
    async receiver(answers) {
      const { body } = await control("POST", "/receivers", answers === undefined ? {} : { answers });
      return {
        ...body,
        requests: async () => (await control("GET", `/receivers/${body.id}/requests`)).body.items,
      };
    },
    async webhook(url, events = ["user.created"], who = "ada") {
      const { body, status, text } = await api.call(who, "POST", "/webhooks", { url, events });
      if (status !== 201) throw new Error(text);
      return body.data;
    },
    deliveries: async (webhook_id, who = "ada") =>
      (await api.call(who, "GET", `/webhooks/${webhook_id}/deliveries`)).body.data,
    async trigger(body = { event: "user.created", for: "usr_dan" }) {
      const answer = await control("POST", "/events", body);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.deliveries;
    },
    async advanceBy(by) {
      const answer = await control("POST", "/clock/advance", { by });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.ran;
    },
    pending: async () => (await control("GET", "/clock/pending")).body,
  };
}

/** Starts a partner's endpoint with its own HTTP server. */
export async function startReceiver(
  handle: (request: IncomingMessage, body: Buffer, respond: (status: number) => void) => void,
): Promise<{ url: string; server: Server; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    handle(request, Buffer.concat(chunks), (status) => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
