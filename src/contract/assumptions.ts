/**
 * The fidelity ledger: everything the published reference leaves open, and what this emulator does
 * there. A behaviour that is neither specified nor listed here is a defect.
 */
export interface Assumption {
  id: string;
  topic: string;
  chosen: string;
  /** Settings of a sandbox that change it. */
  settings?: readonly string[];
}

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: "G01",
    topic: "Token exchange",
    chosen:
      "POST /v1/auth/token trades any API-key credential for an HS256 access token and a refresh token that lives 30 days and can be spent once at POST /v1/auth/refresh; a reset ends every token.",
    settings: ["token_lifetime_seconds"],
  },
  {
    id: "G02",
    topic: "Permissions",
    chosen:
      "A role per organization (owner, admin, member) and capabilities; owners and admins hold all of them. Where several credentials are sent, api-key comes before X-API-Key before Authorization.",
  },
  {
    id: "G03",
    topic: "403 or 404",
    chosen:
      "An unknown organization is 404, a foreign one 403 ORGANIZATION_ACCESS_DENIED, a missing role or capability 403 INSUFFICIENT_PERMISSIONS; what the reference states for an operation wins.",
  },
  {
    id: "G04",
    topic: "Order of checks",
    chosen:
      "Route, armed faults, credentials, rate limit, readable body, shape, existence and access, spending, the operation's own rules.",
  },
  {
    id: "G05",
    topic: "Body of a 429",
    chosen:
      "The operation's own envelope with RATE_LIMIT_EXCEEDED (and Retry-After) or SPENDING_LIMIT_EXCEEDED, with the figures in the details.",
  },
  {
    id: "G06",
    topic: "Where envelope C is used",
    chosen: "By the token endpoints, and by setting for every 401 and 403.",
    settings: ["auth_errors"],
  },
  {
    id: "G07",
    topic: "Rate headers",
    chosen:
      "Both families on every counted response; a fixed minute of the sandbox's clock per API key; a token budget that is shown and never refuses.",
    settings: ["rate_headers"],
  },
  {
    id: "G08",
    topic: "Malformed values",
    chosen:
      "422 INVALID_INPUT naming the field and the value as it was sent, for ids, enumerations, page sizes, offsets and dates alike.",
    settings: ["out_of_range_limits"],
  },
  {
    id: "G09",
    topic: "Transport errors",
    chosen:
      "400 INVALID_JSON, 413 PAYLOAD_TOO_LARGE, 415 UNSUPPORTED_MEDIA_TYPE, always in envelope A; unknown body fields are ignored with a warning in the journal.",
    settings: ["unknown_fields", "json_limit_mb"],
  },
  {
    id: "G10",
    topic: "Department tree",
    chosen:
      "A top-level department has depth 0 and its own id as path; colors are #rrggbb; a parent that is unknown or of another organization is 404.",
  },
  {
    id: "G11",
    topic: "File processing",
    chosen:
      "Progress is linear on the sandbox's clock through parsing, chunking and embedding; it can fail, keeping the progress reached; completion emits file.processed. Files that are no documents (pictures, archives, octet-stream) fail as an unsupported file type when parsing ends.",
    settings: ["processing_seconds"],
  },
  {
    id: "G12",
    topic: "Putting a file into a store",
    chosen:
      "POST to the store's files with a file_id: 202 and the processing status; a file that is already there answers 200 and restarts nothing. Asking for the status of a file in a store that does not exist is FILE_NOT_IN_STORE as well.",
  },
  {
    id: "G13",
    topic: "Uploads",
    chosen:
      "Upload URLs point back at this server and speak the Google Cloud Storage resumable protocol; registering compares what was announced with what arrived; a multipart endpoint takes files under 100 MiB. Chunks may have any size; a Content-Range that contradicts the announcement is 422; an upload that does not fit the sandbox's share of the disk is 413; an empty file is complete from the start.",
    settings: ["upload_url_lifetime_seconds"],
  },
  {
    id: "G14",
    topic: "Connector jobs",
    chosen:
      "Jobs run on the sandbox's clock and succeed at an end that is fixed when they start; one running job per connection and type; cancelling is a POST and gives the status cancelled.",
    settings: ["connector_job_seconds"],
  },
  {
    id: "G15",
    topic: "Connector notifications",
    chosen:
      "Rules of type webhook or email name connector outcomes or events of 6.1, each told once, unsigned; a test really calls the webhook, and e-mail goes to the sandbox's outbox.",
  },
  {
    id: "G16",
    topic: "Meeting sessions",
    chosen:
      "Running or completed; stop is idempotent; transcripts, status and logs stream in order of arrival as server-sent events that resume by Last-Event-ID.",
  },
  {
    id: "G17",
    topic: "Transcriptions",
    chosen:
      "Not completed is 422; paragraphs, SRT and VTT siblings exist and are what the actions link to; redaction headers name the policies.",
  },
  {
    id: "G18",
    topic: "Creating what has no public endpoint",
    chosen:
      "Through the control API's state calls, which emit the events and audit entries of a real change.",
  },
  {
    id: "G19",
    topic: "Shared dashboards",
    chosen:
      "GET /v1/dashboards/shared/{slug} resolves a link without credentials; revoked and unknown are 404.",
  },
  {
    id: "G20",
    topic: "Model responses",
    chosen:
      "Scripted by reply rules, else a deterministic sentence that quotes the best passage of an attached file; tokens are bytes divided by four, rounded up.",
  },
  {
    id: "G21",
    topic: "Model listing",
    chosen: "Active models in display order, the same under /v1 and /v2.",
    settings: ["v2_models"],
  },
  {
    id: "G22",
    topic: "The announced model endpoint",
    chosen: "404 as in production, until the preview is switched on.",
    settings: ["preview"],
  },
  {
    id: "G23",
    topic: "Webhook management",
    chosen:
      "Webhooks belong to the key's current organization; creation is 201, everything else 200; the secret is shown once.",
    settings: ["service_name"],
  },
  {
    id: "G24",
    topic: "Delivery lifecycle",
    chosen:
      "Each retry is due after the end of the attempt before; redirects and silence are failures; 410 disables the webhook and cancels what was pending. Attempts of one delivery follow each other: of redeliveries sent at once, those behind the one that succeeds are refused. The newest 10,000 finished deliveries of a webhook are kept.",
    settings: ["webhook_timeout_seconds", "retry_schedule"],
  },
  {
    id: "G25",
    topic: "Event data",
    chosen:
      "The object's public fields with its id as <resource>_id; usage events once per crossing, scope and month.",
  },
  {
    id: "G26",
    topic: "Outpainting",
    chosen:
      "provider_a grows the image by exactly the requested pixels as JPEG, provider_b fills the mask as PNG; the same seed and input give the same bytes. A mask is a field of provider_b alone; what is declared as octet-stream is judged by its bytes; animated images cannot be decoded.",
    settings: ["upload_limit_mb"],
  },
  {
    id: "G27",
    topic: "Organization types, other 404s",
    chosen:
      "company and personal; a missing resource without a code of its own is RESOURCE_NOT_FOUND with the path parameter in the details.",
  },
  {
    id: "G28",
    topic: "Orders, dates, search",
    chosen:
      "Logs newest first, ties by id; a date without time is the whole UTC day; CSV values stay as they are unless formulas are disarmed.",
    settings: ["csv_formulas"],
  },
  {
    id: "G29",
    topic: "Developer messages",
    chosen:
      "system_message is always present and says how to mend the request; trace_id equals x-request-id.",
  },
  {
    id: "G30",
    topic: "Browsers",
    chosen: "CORS is answered for loopback origins and those configured.",
    settings: ["cors_origins"],
  },
  {
    id: "G31",
    topic: "Audit",
    chosen:
      "Reparenting and state calls on departments, users, roles and stores write organization entries; assistants write their history and a change log.",
  },
  {
    id: "G32",
    topic: "Organization of a request",
    chosen:
      "The path's, else the key's current one; changing the current organization changes the calling key only.",
  },
  {
    id: "G33",
    topic: "Usage figures",
    chosen:
      "No limit is null; two decimals are shown and statuses decided before rounding; past months use today's limits.",
  },
];
