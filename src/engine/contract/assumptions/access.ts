import type { AssumptionsById } from "../provenance.ts";

/** Credentials, permissions, the order of checks, envelopes, headers. */
export const ACCESS: AssumptionsById = {
  G01: {
    topic: "Token exchange",
    chosen:
      "POST /v1/auth/token exchanges an API key for an access token (a JWT, signed with HS256) and a refresh token. A refresh token lives 30 days and works once, at POST /v1/auth/refresh. A reset of the sandbox ends every token.",
    details: [
      "The claims of an access token are `sub` (user), `org`, `key` (the API key's id), `iat` and `exp`. Both times are on the sandbox's clock.",
      "A missing or invalid API key or refresh token is a 401. A value in the body that is not text is a 422.",
    ],
  },
  G02: {
    topic: "Permissions",
    chosen:
      "In each organization a user has a role (owner, admin or member) and capabilities (single rights). Owners and admins have every capability. If a request has several credentials, api-key counts before X-API-Key, and X-API-Key before Authorization.",
    details: [
      "Owners and admins only: moving a department (4.3), auth configs of the key's current organization (4.10), the audit log's export (4.15), the change log (4.16).",
      "A thread is deleted by its owner, or by an owner or admin of its organization.",
      "Every other call needs a member of the organization in the path, or of the resource's organization.",
      "Upload URLs (G13), shared links (G19) and the token endpoints (G01) need no credentials.",
    ],
  },
  G03: {
    topic: "403 or 404",
    chosen:
      "An unknown organization is a 404. An organization that the caller is not a member of is a 403 ORGANIZATION_ACCESS_DENIED. A missing role or capability is a 403 INSUFFICIENT_PERMISSIONS. The reference has exceptions.",
    details: [
      "Meeting sessions (4.1): the session of another organization is a 403 `SESSION_ACCESS_DENIED`.",
      "Music collections (4.4): an organization or collection that is unknown, or not the caller's, is a 404 with `collection_id`.",
      "Current organization (4.5): an unknown organization is a 403, like one that the caller is not a member of.",
      "Share links (4.12): a user from outside gets 404 `DASHBOARD_NOT_FOUND`. A member without the capability `report-create` gets 403. A member with it gets 404 with `link_id` if the link is unknown.",
      "History of an assistant (4.8): errors have envelope B, with codes in upper case.",
    ],
  },
  G04: {
    topic: "Order of checks",
    chosen:
      "The checks of a request, in order: route, faults, credentials, rate limit, readable body, shape of the values, existence and access, spending (only `model_responses.create` is billable), the operation's own rules.",
    details: [
      "[Errors and limits](../errors-and-limits.md#why-was-this-answered) has the answer of each check.",
      "No path has the method HEAD, so it is a 405.",
    ],
  },
  G05: {
    topic: "Body of a 429",
    chosen:
      "A 429 has the operation's own envelope, and the figures in its details. The code is RATE_LIMIT_EXCEEDED (with the header Retry-After) or SPENDING_LIMIT_EXCEEDED.",
    details: [
      "A request is refused for spending if the usage had reached the limit before the request.",
      "In envelope B the type is `rate_limit_error`, and the code is `rate_limit_exceeded`.",
    ],
  },
  G06: {
    topic: "Where envelope C is used",
    chosen:
      "Errors of the token endpoints have envelope C. If the setting says so, every 401 and 403 has it too.",
    details: [
      "Envelope C has two more values of `error_type`: `ValidationError` (422) and `RateLimitError` (429).",
    ],
  },
  G07: {
    topic: "Rate headers",
    chosen:
      "Responses have both families of headers: plain (`X-RateLimit-*`) and alternative (`x-ratelimit-*-requests`, `x-ratelimit-*-tokens`). They are on each response to a request that counts against the rate. Requests are counted per API key, in fixed minutes of the sandbox's clock. The budget of tokens is only shown: no request is refused for it.",
    details: [
      "A request with an access token counts for the token's API key. The limit is that of the key's current organization.",
      "The plain reset is a Unix time in seconds. The alternative reset is a duration, such as `41s` or `1m0s`.",
      "The token budget of a minute is 1,000 times the request limit. The total tokens of model responses (4.19) are subtracted from it; it stops at 0.",
    ],
  },
  G08: {
    topic: "Malformed values",
    chosen:
      "A malformed id, enumeration value, page size, offset or date is a 422 INVALID_INPUT, with the field and the value as sent. Integers of 2^53 and beyond are refused everywhere.",
    details: [
      "In the details, `field` is written like `inputs[0].role`.",
      "In the details, `value` of a query or form is the text sent. A JSON number is shown as it was written (`1e309`, `1.50`). A missing value is null.",
      "The smallest page size is 1. Years are 1 to 9999.",
      "The parameter `action_type` of the audit log's export (4.15) takes any value. An unknown one finds nothing.",
      "In envelope B the type is `invalid_request_error`, and `param` names the field.",
    ],
  },
  G09: {
    topic: "Transport errors",
    chosen:
      "400 INVALID_JSON, 413 PAYLOAD_TOO_LARGE and 415 UNSUPPORTED_MEDIA_TYPE always have envelope A. Unknown body fields and query parameters are ignored, with a warning in the journal.",
    details: [
      "An unknown path or method also has envelope A, with the type `client_error`.",
      "JSON is UTF-8. Another charset is a 415.",
      "If the setting `unknown_fields` is `reject`, a 422 names the first unknown field (in envelope C, in `detail`).",
    ],
  },
  G29: {
    topic: "Developer messages",
    chosen:
      "In envelope A, system_message is always present and says how to correct the request. trace_id equals the header x-request-id.",
  },
  G30: {
    topic: "Browsers",
    chosen: "CORS headers are sent to loopback origins, and to the origins that are configured.",
    details: [
      "Allowed request headers: those of [section 5](service-api.md#5), and Understudy's own.",
      "Exposed response headers: those of sections [8](service-api.md#8) and [9](service-api.md#9), `Retry-After`, `WWW-Authenticate`, `ETag`, `Last-Modified`, `Range`, `Content-Disposition`, `X-Provider…`, `X-PII-…` and `X-Sandbox-Decision`.",
    ],
  },
  G32: {
    topic: "Organization of a request",
    chosen:
      "A request's organization is the one in its path. If the path has none, it is the current one of the API key. `users.set_current_organization` changes the current organization of the calling key only.",
  },
  G41: {
    topic: "Challenge of a 401",
    chosen:
      'Every 401 has the header `WWW-Authenticate: Bearer realm="service"`, as HTTP requires. Some clients fail without it.',
  },
};
