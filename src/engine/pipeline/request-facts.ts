import { fromUtf8 } from "../bytes.ts";
import { ApiError } from "../contract/errors.ts";
import { normalizePath } from "../contract/http-url.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import type { FaultFacts } from "../sandbox/fault-injector.ts";
import type { Transaction } from "../state/transaction.ts";
import type { Exchange } from "./exchange.ts";
import { ClientGone } from "./plain-http.ts";
import { countSecondsUntil } from "./response-headers.ts";

const MINUTE_MS = 60_000;

export const ORGANIZATION = /^org_[A-Za-z0-9_-]{1,120}$/;

/** Outside the contract, any segment of the path may be the organization's id. */
export function findInPath(path: string): string | undefined {
  return normalizePath(path)
    .split("/")
    .find((segment) => ORGANIZATION.test(segment));
}

/** Why the caller may not call a path that a rule serves: no valid credentials, or a foreign organization. */
export function refuseCaller({ engine, sandbox, identity, path }: Exchange): ApiError | undefined {
  if (identity === undefined || identity.refused) return new ApiError("AUTHENTICATION_REQUIRED");
  const organization = findInPath(path);
  if (organization === undefined) return undefined;
  const { principal } = identity;
  try {
    engine.requireMember({ principal, world: sandbox.world.read() }, organization);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** A request as fault rules see it; costly parts are computed when a rule needs them. */
export class RequestFacts implements FaultFacts {
  body: unknown = undefined;
  bodyRead = false;
  private readonly exchange: Exchange;
  private readonly outside: AnyOperation | undefined;
  private parsed: URLSearchParams | undefined;

  /** @param outside replaces the operation if no operation has the path */
  constructor(exchange: Exchange, outside?: AnyOperation) {
    this.exchange = exchange;
    this.outside = outside;
  }

  get operation(): AnyOperation {
    return this.exchange.operation ?? this.outside!;
  }

  get method(): string {
    return this.exchange.method;
  }

  get path(): string {
    return this.exchange.path;
  }

  get params(): Record<string, string> {
    return this.exchange.params;
  }

  get query(): URLSearchParams {
    this.parsed ??= new URLSearchParams(this.exchange.query);
    return this.parsed;
  }

  get headers(): FaultFacts["headers"] {
    return this.exchange.request.headers;
  }

  get principal(): Principal | undefined {
    return this.exchange.identity?.principal;
  }

  get refusal(): ApiError | undefined {
    return refuseCaller(this.exchange);
  }

  get organization(): string | undefined {
    return this.exchange.organization;
  }

  get world(): Transaction {
    return this.exchange.sandbox.world.read();
  }

  get rate(): FaultFacts["rate"] {
    const { identity, at } = this.exchange;
    if (identity === undefined) return undefined;
    const end = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS;
    return { limit: identity.requests_per_minute, seconds_left: countSecondsUntil(end, at) };
  }

  /** For matching and plausible details only: a body that cannot be read is refused later, by validation. */
  async readBody(): Promise<void> {
    if (this.operation.body?.kind === "json") {
      const { exchange } = this;
      try {
        exchange.body = await exchange.readBody();
        this.body = JSON.parse(fromUtf8(exchange.body));
      } catch (error) {
        if (error instanceof ClientGone) throw error;
      }
    }
    this.bodyRead = true;
  }
}
