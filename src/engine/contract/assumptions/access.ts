import type { AssumptionsById } from "../provenance.ts";

/** Credentials, permissions, the order of checks, envelopes, headers. */
export const ACCESS: AssumptionsById = {
  G01: {
    topic: "Token exchange",
    chosen:
      "POST /v1/auth/token exchanges an API key for an HS256 access token and a refresh token, which lives 30 days and works once at POST /v1/auth/refresh. A reset ends every token.",
    details: [
      "Claims are `sub` (user), `org`, `key` (the API key's id), `iat` and `exp`, on the sandbox's clock. A missing or invalid key or token is 401; one in the body that is not text is 422.",
    ],
  },
  G02: {
    topic: "Permissions",
    chosen:
      "A user has a role per organization (owner, admin, member) and capabilities; owners and admins have all of them. Of several credentials, api-key counts before X-API-Key, and that before Authorization.",
    details: [
      "4.3, 4.10 (of the key's current organization), 4.15 and 4.16 need an owner or admin. Deleting a thread needs its owner, or an owner or admin of the organization. Everything else needs a member of the path's or the resource's organization.",
      "Without credentials: upload URLs (G13), shared links (G19), and the token endpoints (G01).",
    ],
  },
  G03: {
    topic: "403 or 404",
    chosen:
      "An unknown organization is 404, a foreign one 403 ORGANIZATION_ACCESS_DENIED, a missing role or capability 403 INSUFFICIENT_PERMISSIONS, unless the reference says otherwise.",
    details: [
      "4.1: a foreign session is 403 `SESSION_ACCESS_DENIED`. 4.4: anything foreign or unknown is 404 with `collection_id`. 4.5: an unknown organization is 403 like a foreign one.",
      "4.12: a user from outside gets 404 `DASHBOARD_NOT_FOUND`, a member without `report-create` 403, and a member with it 404 with `link_id` for an unknown link.",
      "4.8 has envelope B, with codes in upper case.",
    ],
  },
  G04: {
    topic: "Order of checks",
    chosen:
      "Route, faults, credentials, rate limit, readable body, shape, existence and access, spending (only `model_responses.create` is billable), the operation's own rules.",
    details: ["[What each step answers](../errors-and-limits.md#why-was-this-answered)."],
  },
  G05: {
    topic: "Body of a 429",
    chosen:
      "The operation's own envelope with RATE_LIMIT_EXCEEDED (and Retry-After) or SPENDING_LIMIT_EXCEEDED, and the figures in the details.",
    details: [
      "Spending is refused if usage had reached the limit before the request.",
      "In envelope B the type is `rate_limit_error` and the code `rate_limit_exceeded`.",
    ],
  },
  G06: {
    topic: "Where envelope C is used",
    chosen: "In errors of the token endpoints, and, if the setting says so, in every 401 and 403.",
    details: ["Envelope C also has the `error_type`s `ValidationError` (422) and `RateLimitError` (429)."],
  },
  G07: {
    topic: "Rate headers",
    chosen:
      "Every response to a request that counts against the rate has both families of headers: plain (`X-RateLimit-*`) and alternative (`x-ratelimit-*-requests`, `x-ratelimit-*-tokens`). The window is a fixed minute of the sandbox's clock per API key. A token budget is shown and never refuses.",
    details: [
      "An access token counts against its key; the limit is that of the key's current organization.",
      "The plain reset is a Unix time in seconds, the alternative one a duration such as `41s` or `1m0s`. The token budget is 1,000 times the request limit, is spent by the total tokens of 4.19 and stops at 0.",
    ],
  },
  G08: {
    topic: "Malformed values",
    chosen:
      "422 INVALID_INPUT with the field and the value as sent, for ids, enumerations, page sizes, offsets and dates. Integers of 2^53 and beyond are refused everywhere.",
    details: [
      "A field is written like `inputs[0].role`. The details' value is the text sent in a query or form, a JSON number as it was written (`1e309`, `1.50`), or null if it is missing.",
      "The smallest page is 1; years are 1 to 9999. `action_type` of 4.15 is open: an unknown one finds nothing. A user's id may begin with `usr_` or `uid_`.",
      "In envelope B the type is `invalid_request_error`, and `param` names the field.",
    ],
  },
  G09: {
    topic: "Transport errors",
    chosen:
      "400 INVALID_JSON, 413 PAYLOAD_TOO_LARGE, 415 UNSUPPORTED_MEDIA_TYPE, always in envelope A. Unknown body fields and query parameters are ignored, with a warning in the journal.",
    details: [
      "An unknown path or method is answered in A as well, with the type `client_error`. JSON is UTF-8; another charset is 415.",
      "With `unknown_fields` at `reject` a 422 names the first unknown field (envelope C: in `detail`).",
    ],
  },
  G29: {
    topic: "Developer messages",
    chosen:
      "system_message is always present and says how to correct the request; trace_id equals x-request-id.",
  },
  G30: {
    topic: "Browsers",
    chosen: "CORS is answered for loopback origins and those configured.",
    details: [
      "Allowed are the request headers of section 5 of the reference, and Understudy's. Exposed are those of sections 8 and 9, `Retry-After`, `WWW-Authenticate`, `ETag`, `Last-Modified`, `Range`, `Content-Disposition`, `X-Provider…`, `X-PII-…` and `X-Sandbox-Decision`.",
    ],
  },
  G32: {
    topic: "Organization of a request",
    chosen:
      "The path's, else the key's current one, which `users.set_current_organization` changes for the calling key only.",
  },
  G41: {
    topic: "Challenge of a 401",
    chosen:
      'Every 401 has `WWW-Authenticate: Bearer realm="service"`, as HTTP requires; some clients fail without it.',
  },
};
