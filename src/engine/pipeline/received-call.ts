import type { Call, RequestFacts } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import type { Transaction } from "../state/transaction.ts";
import { baseUrl } from "./base-url.ts";
import type { Exchange } from "./exchange.ts";

/**
 * A validated request as its handler sees it. A class and not a literal: a literal with an accessor gets a hidden
 * class for each request, which lives until the next major collection and holds everything the accessor reaches.
 */
export class ReceivedCall implements Call {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly files: Call["files"];
  readonly headers: Call["headers"];
  readonly settings: Settings;
  readonly request: RequestFacts;
  /** Absent only where the operation declares `credentials: false`. */
  principal: Call["principal"];
  /** Of the step that is under way; the pipeline sets it before anybody reads it. */
  world: Transaction = undefined as unknown as Transaction;

  constructor(
    exchange: Exchange,
    { query, body, files }: { query: unknown; body: unknown; files: Call["files"] },
  ) {
    this.params = exchange.params;
    this.query = query;
    this.body = body;
    this.files = files;
    this.headers = exchange.request.headers as Call["headers"];
    this.settings = exchange.sandbox.settings;
    this.request = new ExchangeFacts(exchange);
    this.principal = exchange.identity?.principal as Call["principal"];
  }

  /** The same object each time, since a request makes one call. */
  in(world: Transaction): Call {
    this.world = world;
    return this;
  }
}

class ExchangeFacts implements RequestFacts {
  readonly id: string;
  readonly sandbox: string;
  private readonly exchange: Exchange;

  constructor(exchange: Exchange) {
    this.id = exchange.id;
    this.sandbox = exchange.sandbox.name;
    this.exchange = exchange;
  }

  /** Few operations hand out URLs. */
  get base_url(): string {
    return baseUrl(this.exchange);
  }
}
