import type { Assumption } from "../provenance.ts";

/** Bodies, states and endpoints of single resources. */
export const RESOURCES: readonly Assumption[] = [
  {
    id: "G10",
    topic: "Department tree",
    chosen:
      "A top-level department has depth 0 and its own id as path; colors are #rrggbb; a parent that is unknown or of another organization is 404.",
    details: [
      "A child's path is its parent's and its own id, `dept_acme/dept_eng`. The number of members does not change with a move. A new parent that is not there is named as `new_parent_id`.",
    ],
  },
  {
    id: "G11",
    topic: "File processing",
    chosen:
      "Progress is linear on the sandbox's clock through parsing, chunking and embedding; it can fail, keeping the progress reached; completion emits file.processed. Files that are no documents (pictures, archives, unknown bytes) fail as an unsupported file type when parsing ends; what else fails follows from the bytes (G34).",
    details: [
      "`parsing` lasts until 15 percent, `chunking` until 40, `embedding` until the end. A failure sets `error_message` and `completed_at`, and `current_step` to null.",
    ],
  },
  {
    id: "G12",
    topic: "Putting a file into a store",
    chosen:
      "POST to the store's files with a file_id: 202 and the processing status; a file that is already there answers 200 and restarts nothing. Asking for the status of a file in a store that does not exist is FILE_NOT_IN_STORE as well.",
    details: [
      "`POST /v1/organizations/{organization_id}/stores/{store_id}/files` with `{file_id}`. An unknown store or file is 404 `RESOURCE_NOT_FOUND` with `store_id` or `file_id`.",
    ],
  },
  {
    id: "G13",
    topic: "Uploads",
    chosen:
      "Upload URLs point back at this server and speak the Google Cloud Storage resumable protocol; registering compares what was announced with what arrived; a multipart endpoint takes files under 100 MiB. Chunks may have any size; a Content-Range that contradicts the announcement is 422; an upload that does not fit the sandbox's share of the disk is 413; an empty file is complete from the start.",
    details: [
      "A file has `id`, `object`, `filename`, `mime_type`, `file_size`, `organization_id`, `status` (`uploaded`), `gcs_path`, `created_at`, `created_by`. The upload URL comes with `gcs_path`, `expires_at` and `method` (`PUT`) and holds a token in place of credentials.",
      "Whole PUT, or chunks with `Content-Range`, answered 308 and `Range`; `bytes */N` asks how much has arrived; a chunk that leaves a gap stores nothing. DELETE cancels with 499, later PUTs are 404; an expired URL is 410.",
      "Registering is 201, and 200 with the same file when it is done again; what differs from the announcement is 422 with its field, an upload that is not whole names `gcs_path`. `POST …/files/upload` takes a form's `file`; 100 x 2^20 bytes or more are 413. `file.uploaded` is emitted when a file comes to be.",
    ],
  },
  {
    id: "G14",
    topic: "Connector jobs",
    chosen:
      "Jobs run on the sandbox's clock to an end that is fixed when they start (G34 says which fail); one running job per connection and type; cancelling is a POST and gives the status cancelled.",
    details: [
      "`GET base/{job_id}`, `POST base` (201), `POST base/{job_id}/cancel` (204, and the duration is what it ran). Cancelling what does not run is 422 with `status`; a second job of connection and type 422 with `connection_id`; unknown ones are 404 with `connection_id` or `job_id`.",
      "`duration` is in whole seconds and null while running; bytes and rows grow with time. `start_date` and `end_date` filter `start_time`; `order_by` is `-start_time` (default), `start_time`, `-duration` or `duration`, null last. A list is `{jobs, total, limit, offset}`, 1 to 100, 50 unless given.",
    ],
  },
  {
    id: "G15",
    topic: "Connector notifications",
    chosen:
      "Rules of type webhook or email name connector outcomes or events of 6.1, each sent once, unsigned; a test really calls the webhook, and e-mail goes to the sandbox's outbox.",
    details: [
      "A rule is `{type, url or email, events}`; the config `{organization_id, notifications, updated_at}`, empty at first; another type is 422. Outcomes of jobs are `connector.job.succeeded` and `connector.job.failed`.",
      "A test answers `{success, notification_type, status_code, delivered_at}`, `success` false where no 2xx came; without `url` the first webhook rule's is called, and without one it is 422. An e-mail is `{to, subject, body, at}`.",
    ],
  },
  {
    id: "G16",
    topic: "Meeting sessions",
    chosen:
      "Running or completed; stop is idempotent; transcripts, status and logs stream in order of arrival as server-sent events that resume by Last-Event-ID.",
    details: [
      "A session has `session_id`, `title`, `status`, `language_code`, `owner_id`, `organization_id`, `started_at`, `ended_at`, `has_recording`. Members may read and export; stopping and deleting is for its owner or an owner or admin of its organization.",
      "`POST …/stop` answers the session. Streams are `…/transcripts/stream` (entries of 2.4), `…/status/stream` (`{status, at}`) and `…/logs/stream` (`{at, level, message}`); they end when the session has.",
    ],
  },
  {
    id: "G17",
    topic: "Transcriptions",
    chosen:
      "Not completed is 422, and completes on the sandbox's clock; paragraphs, SRT and VTT siblings exist and are what the actions link to; redaction headers name the policies.",
    details: [
      "A transcription that is processing is completed `transcription_seconds` after it began, one of a fixture after the fixture's epoch; it then has as many sentences as fit into its audio, unless it has some already.",
      '422 has the details `{field: "status", value}`, also for the siblings `…/paragraphs`, `…/subtitles/srt` and `…/subtitles/vtt`. The envelope is `{success, data, metadata, actions}`, an action `{href, method}`; times in bodies come from the seed. A transcription of another organization is 404 with `transcription_id`.',
    ],
  },
  {
    id: "G18",
    topic: "Creating what has no public endpoint",
    chosen:
      "Through the control API's state calls, which emit the events and audit entries of a real change.",
    details: [
      "No public endpoint is invented for users, messages, threads, assistants and invoices. An assistant's history outlives it, and begins with `created`. A foreign or unknown assistant is 404.",
    ],
  },
  {
    id: "G19",
    topic: "Shared dashboards",
    chosen:
      "GET /v1/dashboards/shared/{slug} resolves a link without credentials; revoked and unknown are 404.",
    details: ["200 `{dashboard_id, title, link_id}`; 404 `RESOURCE_NOT_FOUND`."],
  },
  {
    id: "G20",
    topic: "Model responses",
    chosen:
      "Scripted by reply rules, else a deterministic text that quotes the best passage of each attached file and repeats a line of the conversation so far; tokens are bytes divided by four, rounded up.",
    details: [
      '200 `{id: "resp_…", object: "model.response", created_at, model, output, usage, inputs}`; `usage` is `{input_tokens, output_tokens, total_tokens, cost, currency: "CHF"}`, and the inputs come back with ids `msg_…`.',
      "A reply rule is `{match: {model, text, file_id}, reply}`; `text` is part of the last user text, case ignored; the first that matches replies. In place of `reply` it has a `sequence` (texts, one a call, the last repeats) or an `error` (a code that the operation answers); `delay` holds the answer back on the wall clock. Tokens are counted over all input texts together and over the output; the cost is tokens / 1000 x `cost_per_1k_tokens`, to six decimals.",
      "Passages are chosen by weighted words, rare ones counting more; at most the last ten files are quoted, word for word. From the second turn on the text repeats the last earlier message of the user. System messages do not change the text; reply rules do.",
      "An unknown or inactive model is 422 with `model`, an unknown file 404, more than 10 files in a message 422. Both forms of a message may be mixed.",
    ],
  },
  {
    id: "G21",
    topic: "Model listing",
    chosen: "Active models in display order, the same under /v1 and /v2.",
    details: [
      "The envelope of 2.8 without `organization_id`, in the order of 4.18. All models are there for all organizations.",
    ],
  },
  {
    id: "G22",
    topic: "The announced model endpoint",
    chosen: "404 as in production, until the preview is switched on.",
    details: [
      "The 404 comes after the credentials and its message says that the endpoint is announced; with the preview, a user from outside gets 403 `INSUFFICIENT_PERMISSIONS`.",
    ],
  },
  {
    id: "G26",
    topic: "Outpainting",
    chosen:
      "provider_a grows the image by exactly the requested pixels as JPEG, provider_b fills the mask as PNG; the same seed and input give the same bytes. A mask is a field of provider_b alone; what is declared as octet-stream, or not at all, is judged by its bytes, and `image/jpg` is a JPEG; animated images cannot be decoded.",
    details: [
      "422 `INVALID_INPUT` with the field, also for a field of the other provider and a picture that cannot be decoded (`image_file`); another type is 415, a file over the limit 413. More than 40 megapixels after growing are 422 with the field of the largest side.",
      "`provider_a` mirrors the picture beyond its borders, with a tint that follows from the seed. `provider_b` fills with the colours around the area and a tint that follows from the picture, the mask and the prompt.",
      "`provider_b` scales image and mask to `size` (`1024x1024` unless given) and fills what is transparent in the mask. The providers are called `provider_a` and `provider_b` in `X-Provider` too. It is not billable.",
    ],
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
    details: [
      "Transcripts go by `start_time`. Start and end are included; a start after the end is 422 with the start's field. `search_term` is a part, case ignored. Of more than 10,000 rows the newest are exported, in a file named by the sandbox's day. TXT exports round times down and have no heading; SRT texts are `speaker: text`.",
    ],
  },
  {
    id: "G31",
    topic: "Audit",
    chosen:
      "Reparenting and state calls on departments, users, roles and stores write organization entries; assistants write their history and a change log.",
    details: [
      "A reparent writes `department` / `reparented` with the moved department as entity, the new parent as target (empty at the top), both parents' ids as values and the caller as actor; a move to the parent that it has changes and writes nothing. State calls write `created`, `updated` and `deleted`, and where 4.15 has a word for what happened, that word: `reparented`, `deactivated` and `reactivated` for an account, `assigned` and `unassigned` for a role that a user gains or loses. Their actor is `?actor=usr_…`, else the organization's owner.",
      "Entries keep names as they were: a later change of name does not change them.",
    ],
  },
  {
    id: "G33",
    topic: "Usage figures",
    chosen:
      "No limit is null; two decimals are shown and statuses decided before rounding; past months use today's limits.",
    details: [
      "Without a limit `monthly_limit`, `utilization_percentage` and `remaining_budget` are null; beyond it the budget is 0. `overall_status` is the worst of organization, total and keys.",
      "Keys are listed by id where they have a limit or any spending in the organization, and `total_keys` counts those; a key's limit belongs to organization and key together.",
      "What a deleted key has spent remains spent: it counts in its months, under the key's last name and without a limit. A key created again under its id begins with nothing.",
    ],
  },
  {
    id: "G34",
    topic: "What makes processing fail; running work",
    chosen:
      "A file is judged by what it holds: one that is empty or not what its type says fails when parsing ends, one without text when chunking does, one without words when embedding does, with an error_message that says so.",
    details: [
      "`application/octet-stream` takes the type that the file name says, and so does a form's file without a Content-Type. `image/jpg`, `text/x-markdown` and the like are other names of a type. A PDF must open without a password, JSON must parse, an Office document must be a container of its kind, and text must be UTF-8, or what its byte order mark or the type's `charset` says. HTML and XML are read without their markup, CSV by rows, languages without spaces by sentence. The first 4 MiB of a text and PDFs of up to 32 MiB are read. A file without bytes (of a fixture or a state call) is judged by its type.",
      "One connector job in twenty fails between a tenth and nine tenths of its time and keeps what it has synced: which of a connection's jobs do follows from the seed, the connection and how many it has had. A connection may have a `failure_rate` of its own; those of the reference world have 0. A `reset` begins from nothing and brings again what the connection's jobs have brought since the last one.",
      "With `live_meetings` on, a speaker talks in every running meeting each 9 to 16 seconds of the sandbox's clock until it is stopped; every 500 lines it slows down by half, so that a meeting of years stays small.",
    ],
  },
  {
    id: "G35",
    topic: "Context window, vision",
    chosen:
      "More input tokens than the model's max_tokens are 422 with the field inputs and their number. A model sees unless the world says vision: false, which no answer shows; a picture is described by format, size and dominant colours, and for a model that does not see it is 422 with the field of its file_id.",
    details: [
      "PNG, JPEG, WebP and GIF files of up to 25 MiB are looked at; any other file that claims to be an image is described as unreadable. The seed describes a picture that was never uploaded.",
    ],
  },
  {
    id: "G36",
    topic: "Invoices over time",
    chosen:
      "With `invoicing` on, at the turn of each month of the sandbox's clock every organization that has spent anything gets an invoice for the month that ended; three days later it is paid, or fails where the organization's monthly limit was reached in that month, with the events of 6.1.",
    details: [
      "The amount is the spending of the month, to the centime and at least one; the status is `draft` in between. The limits at the turn decide. An invoice that a state call settles or deletes is left alone. Switching the setting off calls off what is to come, payments included, until it is on again.",
    ],
  },
  {
    id: "G37",
    topic: "What members left behind",
    chosen:
      "A key acts only while its user is a member of the organization it acts in; afterwards every operation refuses it as it refuses a non-member, where nothing is said with 403 ORGANIZATION_ACCESS_DENIED (4.10, 4.19, lists of models and webhooks among them). 4.5 is how to go on.",
    details: [
      "What names a person as the author of something (`created_by`, owners, actors of logs) stays when the person goes. A key still trades for a session token, which can do what the key can.",
      "Deleting a record, by a state call or by the API, takes everything that belongs to it, level by level: an organization's departments, files, threads and their messages, webhooks with deliveries that are still to be made, uploads, links, logs and figures; a user's keys with their sessions and rate windows; and every timer of what goes. A record created again under such an id has nothing of the old. A key that acted in a deleted organization acts in another one of its user's, and goes where there is none.",
    ],
  },
  {
    id: "G38",
    topic: "Bounds",
    chosen:
      "Ids take 120 characters after their prefix, slugs 120, URLs 2,048, descriptions 10,000, file names 1,024, types 255, files 5 TiB, and an organization 100 notification rules; beyond it is 422 with the field.",
    details: [
      "Characters are code points. A path parameter of any length is judged by its operation, as long as the head of the request stays within 32 KiB.",
    ],
  },
  {
    id: "G39",
    topic: "Caching, numbers, order",
    chosen:
      "If-None-Match decides before If-Modified-Since; amounts below a hundredth stand with six decimals in the details of errors; titles are ordered by code point; an arrow inside a subtitle is pulled apart.",
    details: [
      "Both headers are honoured where `ETag` and `Last-Modified` are sent; a date that is none of HTTP's three spellings counts as not sent.",
      "`-->` becomes `-- >`, so that no reader takes text for a time. A track may be in several collections: its entry is keyed by both, as `mcoll_ada:mtrack_1`.",
    ],
  },
  {
    id: "G40",
    topic: "Seeded histories",
    chosen:
      "Audit logs, change logs and assistants' histories of a fixture are what legal operations would have left: replayed from an invented beginning, they end in the fixture's present.",
    details: [
      "Departments are created below parents that are there, moved without cycles and deleted as leaves; previous and new values chain; people act after they were created and while they are active. A user, department or store of today that began within the time of a log was created in it, at `created_at` and by `created_by`; what else it describes is gone today, and a change of something that is there was reverted.",
      "An assistant's history begins with `created`; a change log contains the entries of today's assistants' histories of the same time. A department of a fixture is no older than its parent and than who made it, where the fixture does not say otherwise. Entries that a fixture writes out are kept as they are.",
    ],
  },
  {
    id: "G42",
    topic: "End of an event stream",
    chosen:
      "A stream whose meeting has ended closes; a client that comes back with the id of its last event, or for a stream without any event, is answered 204, which ends its retries.",
  },
  {
    id: "G43",
    topic: "Digests of an upload",
    chosen:
      "`X-Goog-Hash` (`crc32c`, `md5`) and `Content-MD5` on the last request of an upload are compared with all its bytes: another digest, or one that is no base64 of its length, is 400 `INVALID_DIGEST` with the header; nothing is stored, and the upload begins again.",
    details: [
      "Each of several values must be right; other algorithms are ignored, and so are the headers of earlier requests. For a form they are those of its file.",
    ],
  },
  {
    id: "G44",
    topic: "Data that is made up",
    chosen:
      "Names, e-mail addresses, titles and file names that a fixture, `fixture generate` or a state call leaves out come from @faker-js/faker with the sandbox's seed: valid, distinct where they must be, plausible in the locale.",
    details: [
      "The same seed and the same record give the same values. Addresses are in the domain `example.test`, valid for a name in any script, and no two users are given the same one. English replaces missing data of a locale.",
    ],
  },
];
