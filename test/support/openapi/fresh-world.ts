import type { Settings } from "../../../src/engine/contract/settings.ts";
import { type Api, type ApiResponse, type Caller, EPOCH } from "../harness.ts";

/** One request as data, so that a test can spoil one part of a valid request. */
export interface Sent {
  who?: Caller;
  method?: string;
  params?: Record<string, string>;
  /** Query without the question mark. */
  query?: string;
  /** A plain object or array is sent as JSON; text, bytes and forms as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

let made = 0;

/** A new sandbox on a shared server, used over HTTP only. */
export class FreshWorld {
  readonly name = `world-${++made}`;
  readonly api: Api;

  private constructor(api: Api) {
    this.api = api;
  }

  static async create(api: Api, settings: Partial<Settings> = {}): Promise<FreshWorld> {
    const world = new FreshWorld(api);
    const { name } = world;
    const clock = { mode: "frozen", now: EPOCH };
    const made = await api.call(undefined, "POST", "/_control/sandboxes", { name, clock, settings });
    if (made.status !== 201) throw new Error(`no sandbox: ${made.text}`);
    return world;
  }

  get prefix(): string {
    return `/_s/${this.name}`;
  }

  call(path: string, method: string, { who, params = {}, query, body, headers }: Sent): Promise<ApiResponse> {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? `missing-${name}`);
    return this.api.call(who, method, this.prefix + filled + (query ? `?${query}` : ""), body, headers);
  }

  async control(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    const answer = await this.api.call(
      undefined,
      method,
      `/_control/sandboxes/${this.name}${path}`,
      body,
      // A call that changes something needs a content type that a page cannot send without permission (preflight).
      method === "GET" ? {} : { "content-type": "application/json" },
    );
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Announces an upload. Returns its URL as path and query. */
  async upload(bytes: number, announced: { filename?: string; mime_type?: string } = {}): Promise<Upload> {
    const about = { filename: "notes.txt", mime_type: "text/plain", ...announced, file_size: bytes };
    const path = "/v1/organizations/org_acme/files/upload-url";
    const { body } = await this.call(path, "POST", { who: "dan", body: about });
    const url = new URL(body.upload_url);
    return { ...about, gcs_path: body.gcs_path, path: url.pathname, query: url.search.slice(1) };
  }

  delete(): Promise<ApiResponse> {
    return this.api.call(undefined, "DELETE", `/_control/sandboxes/${this.name}`);
  }
}

export interface Upload {
  filename: string;
  mime_type: string;
  file_size: number;
  gcs_path: string;
  /** Path with the sandbox's prefix. */
  path: string;
  query: string;
}
