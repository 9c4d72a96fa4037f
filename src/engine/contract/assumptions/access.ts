import type { Assumption } from "../provenance.ts";

/** Credentials, permissions, the order of checks, envelopes, headers. */
export const ACCESS: readonly Assumption[] = [
  {
    id: "G01",
    topic: "Token exchange",
    chosen:
      "POST /v1/auth/token trades any API-key credential for an HS256 access token and a refresh token that lives 30 days and can be spent once at POST /v1/auth/refresh; a reset ends every token.",
    details: [
      "The credential may come in a header or as `api_key` in the body; the answer is `{access_token, token_type, expires_in, refresh_token}`. Refreshing answers the same, and the access token from before lives on until it expires.",
      "Claims are `sub` (user), `org`, `key` (the API key's id), `iat` and `exp`, on the sandbox's clock. A token that is unsigned, signed by another, of another algorithm, expired, or from before a reset is 401; so is a credential that is missing or unknown. One that is no text is 422.",
    ],
  },
  {
    id: "G02",
    topic: "Permissions",
    chosen:
      "A role per organization (owner, admin, member) and capabilities; owners and admins hold all of them. Where several credentials are sent, api-key comes before X-API-Key before Authorization.",
    details: [
      "4.3, 4.10, 4.15 and 4.16 ask for an owner or admin, 4.10 in the current organization; deleting a thread for its owner or an owner or admin of its organization; everything else for membership of the organization in the path or of the resource's.",
      "Accounts are `active`, `suspended` or `disabled`; a key can be revoked or expire.",
      "Without credentials: upload URLs (G13), shared links (G19), and the two calls of G01 that bring theirs in the body.",
    ],
  },
  {
    id: "G03",
    topic: "403 or 404",
    chosen:
      "An unknown organization is 404, a foreign one 403 ORGANIZATION_ACCESS_DENIED, a missing role or capability 403 INSUFFICIENT_PERMISSIONS; what the reference states for an operation wins.",
    details: [
      "4.1 answers a foreign session with 403 `SESSION_ACCESS_DENIED`; 4.4 answers 404 with `collection_id` whatever was foreign or unknown; 4.5 answers 403 for an unknown organization as for a foreign one, so that nothing can be found out by trying.",
      "4.12 answers a user from outside with 404 `DASHBOARD_NOT_FOUND`, a member without `report-create` with 403, and then an unknown link with 404 and `link_id`.",
      "4.8 writes its codes in upper case in envelope B, as its 404 does: `AUTHENTICATION_REQUIRED`, `INSUFFICIENT_PERMISSIONS`.",
    ],
  },
  {
    id: "G04",
    topic: "Order of checks",
    chosen:
      "Route, armed faults, credentials, rate limit, readable body, shape, existence and access, spending, the operation's own rules.",
    details: [
      "An unknown path is 404 `RESOURCE_NOT_FOUND`, an unknown method 405 `METHOD_NOT_ALLOWED` with `Allow`; neither counts against a rate.",
      "Then 401, 429, 413 or 415 or 400, 422 for the shape, 404 or 403, 429 for spending (4.19 alone is billable), and 422 for the operation's own rules.",
    ],
  },
  {
    id: "G05",
    topic: "Body of a 429",
    chosen:
      "The operation's own envelope with RATE_LIMIT_EXCEEDED (and Retry-After) or SPENDING_LIMIT_EXCEEDED, with the figures in the details.",
    details: [
      "Rate: `{limit, window_seconds, retry_after_seconds}`. Spending: `{scope, monthly_limit, current_usage}` with the scope `organization`, `api_total` or `api_key`, refused once usage had reached the limit before the request.",
      "In envelope B the type is `rate_limit_error` and the code `rate_limit_exceeded`.",
    ],
  },
  {
    id: "G06",
    topic: "Where envelope C is used",
    chosen: "By the token endpoints, and by setting for every 401 and 403.",
    details: [
      "In C the other statuses of those endpoints are called `ValidationError` (422) and `RateLimitError` (429).",
    ],
  },
  {
    id: "G07",
    topic: "Rate headers",
    chosen:
      "Both families on every counted response; a fixed minute of the sandbox's clock per API key; a token budget that is shown and never refuses.",
    details: [
      "A session token counts on its key, against the plan of the key's current organization.",
      "The plain family's reset is a Unix time in seconds, the other's a duration such as `41s` or `1m0s`. The token budget is 1,000 times the request limit, is spent by the total tokens of 4.19 and stops at 0.",
    ],
  },
  {
    id: "G08",
    topic: "Malformed values",
    chosen:
      "422 INVALID_INPUT naming the field and the value as it was sent, for ids, enumerations, page sizes, offsets and dates alike. Integers of 2^53 and beyond are refused wherever they stand.",
    details: [
      "A field is written as in `inputs[0].role`; the value of a query or a form is the text that was sent, a number of JSON as it was written (`1e309`, `1.50`), a missing one null.",
      "Closed enumerations, bounds of pages and offsets (the smallest page is 1) and years outside 1 to 9999 are refused alike; `action_type` of 4.15 is open, and an unknown one finds nothing. A user's id may begin with `usr_` or `uid_`.",
      "In envelope B the type is `invalid_request_error`, and `param` names the field.",
    ],
  },
  {
    id: "G09",
    topic: "Transport errors",
    chosen:
      "400 INVALID_JSON, 413 PAYLOAD_TOO_LARGE, 415 UNSUPPORTED_MEDIA_TYPE, always in envelope A; unknown body fields and query parameters are ignored with a warning in the journal.",
    details: [
      "404 and 405 of G04 are in A as well, with the type `client_error`. JSON is UTF-8; a Content-Type that names another charset is 415.",
      "With `unknown_fields` at `reject` the first of them is 422, named in every envelope: in C, which has no field for it, in `detail`.",
    ],
  },
  {
    id: "G29",
    topic: "Developer messages",
    chosen:
      "system_message is always present and says how to correct the request; trace_id equals x-request-id.",
  },
  {
    id: "G30",
    topic: "Browsers",
    chosen: "CORS is answered for loopback origins and those configured.",
    details: [
      "Request headers of section 5 and of Understudy are allowed; those of sections 8 and 9, `Retry-After`, `WWW-Authenticate`, `ETag`, `Last-Modified`, `Range`, `Content-Disposition`, the `X-Provider…` and `X-PII-…` headers and `X-Sandbox-Decision` are exposed.",
    ],
  },
  {
    id: "G32",
    topic: "Organization of a request",
    chosen:
      "The path's, else the key's current one; changing the current organization changes the calling key only.",
    details: ["An access token counts as its key."],
  },
  {
    id: "G41",
    topic: "Challenge of a 401",
    chosen:
      'Every 401 carries `WWW-Authenticate: Bearer realm="service"`, since HTTP asks for one and clients of some platforms fail without.',
  },
];
