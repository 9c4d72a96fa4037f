import { fromUtf8 } from "../bytes.ts";
import type { ApiError } from "../contract/errors.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import { tryParseJson } from "../contract/text.ts";
import type { FaultFacts } from "../sandbox/fault-types.ts";
import { countSecondsUntil } from "../sandbox/rate-windows.ts";
import type { Transaction } from "../state/transaction.ts";
import type { Exchange } from "./exchange.ts";
import { ClientGoneError } from "./plain-http.ts";

/** A request as fault rules see it; costly parts are computed when a rule needs them. */
export class RequestFacts implements FaultFacts {
  readonly operation: AnyOperation;
  readonly method: string;
  readonly path: string;
  readonly params: Record<string, string>;
  readonly headers: FaultFacts["headers"];
  readonly principal: Principal | undefined;
  readonly organization: string | undefined;
  body: unknown = undefined;
  hasReadBody = false;
  private readonly exchange: Exchange;
  private parsedQuery: URLSearchParams | undefined;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    this.operation = exchange.operation ?? exchange.sandbox.faults.undeclaredOperation;
    this.method = exchange.method;
    this.path = exchange.path;
    this.params = exchange.params;
    this.headers = exchange.request.headers;
    this.principal = exchange.identity?.principal;
    this.organization = exchange.organization;
  }

  get query(): URLSearchParams {
    this.parsedQuery ??= new URLSearchParams(this.exchange.query);
    return this.parsedQuery;
  }

  get callerRefusal(): ApiError | undefined {
    return this.exchange.callerRefusal;
  }

  get world(): Transaction {
    return this.exchange.sandbox.world.read();
  }

  get settings(): Settings {
    return this.exchange.sandbox.settings;
  }

  get rate(): FaultFacts["rate"] {
    const { identity, at, sandbox } = this.exchange;
    if (identity === undefined) return undefined;
    const { principal, requests_per_minute } = identity;
    const { limit, reset } = sandbox.windows.getState(principal.key_id, requests_per_minute, at);
    return { limit, seconds_left: countSecondsUntil(reset, at) };
  }

  /** Reads the body for matches and details. Ignores a body that cannot be read, which validation refuses later. */
  async readBody(): Promise<void> {
    const { operation, bodySpec } = this.exchange;
    const spec = operation === undefined ? this.operation.body : bodySpec;
    if (spec?.kind === "json") {
      try {
        this.exchange.body = await this.exchange.readBody();
        this.body = tryParseJson(fromUtf8(this.exchange.body));
      } catch (error) {
        if (error instanceof ClientGoneError) throw error;
      }
    }
    this.hasReadBody = true;
  }
}
