import type { AssumptionsById } from "../provenance.ts";

/** Bodies, states and endpoints of single resources. */
export const RESOURCES: AssumptionsById = {
  G10: {
    topic: "Department tree",
    chosen:
      "A top-level department has depth 0 and its own id as path; colors are #rrggbb; an unknown or foreign parent is 404.",
    details: [
      "A child's path is its parent's path and its own id: `dept_acme/dept_eng`. A move does not change `member_count`. A 404 for a parent names `new_parent_id`.",
    ],
  },
  G11: {
    topic: "File processing",
    chosen:
      "Progress is linear on the sandbox's clock through parsing, chunking and embedding. A failure (G34) keeps the progress reached; completion emits file.processed. Pictures, archives and unknown bytes fail when parsing ends, as an unsupported file type.",
    details: [
      "`parsing` lasts until 15 percent, `chunking` until 40, `embedding` until the end. A failure sets `error_message` and `completed_at`, and `current_step` to null.",
    ],
  },
  G12: {
    topic: "Putting a file into a store",
    chosen:
      "POST of a file_id to the store's files is 202 with the processing status, or 200 for a file that is already there, whose processing does not restart.",
    details: ["An unknown store or file is 404 `RESOURCE_NOT_FOUND` with `store_id` or `file_id`."],
  },
  G13: {
    topic: "Uploads",
    chosen:
      "Upload URLs point to this server and use the Google Cloud Storage resumable protocol, with a token in place of credentials. Registering needs a complete upload, and repeats the fields of the request for its URL. A multipart endpoint takes files under 100 MiB. Chunks may have any size; a Content-Range that contradicts the announced size is 422; an empty file is complete from the start.",
    details: [
      "A chunk is answered with 308 and `Range`. An expired URL is 410.",
      "Registering is 201, or 200 if repeated. A difference is 422 with its field, an incomplete upload 422 with `gcs_path`. Every new file emits `file.uploaded`.",
    ],
  },
  G14: {
    topic: "Connector jobs",
    chosen:
      "Jobs run on the sandbox's clock; their end is fixed when they start (G34: which ones fail). A connection has at most one running job of each type. Cancelling is a POST.",
    details: [
      "A cancelled job's duration is the time it ran. Cancelling a job that is not running is 422 with `status`, a second running job 422 with `connection_id`, an unknown connection or job 404.",
      "`duration` is in whole seconds, and null while running; bytes and rows grow with time. The default of `order_by` is `-start_time`.",
    ],
  },
  G15: {
    topic: "Connector notifications",
    chosen:
      "Rules name events of 6.1 or outcomes of connector jobs. Each notification is sent once, unsigned; e-mail goes to the sandbox's outbox.",
    details: [
      "The config is empty at first. Outcomes are `connector.job.succeeded` and `connector.job.failed`.",
      "The call that tests a notification answers `success: false` if the receiver's answer is not 2xx, and 422 if the call has no `url` and there is no webhook rule.",
    ],
  },
  G16: {
    topic: "Meeting sessions",
    chosen:
      "A session is running or completed; stop is idempotent. Transcripts, status and logs are server-sent events in order of arrival, resumed with Last-Event-ID.",
    details: [
      "Members may read and export; the session's owner and the organization's owners and admins may stop and delete it.",
    ],
  },
  G17: {
    topic: "Transcriptions",
    chosen:
      "A transcription completes on the sandbox's clock; until then a read of it is 422. The `actions` of its answer link to operations that exist (paragraphs, SRT, VTT). X-PII-Policies names the policies of redaction.",
    details: [
      "It completes `transcription_seconds` after it began (in a fixture: after the fixture's `epoch`), and then has as many sentences as fit into its audio, unless it had some.",
      'The 422 has the details `{field: "status", value}`. The durations in `metadata` come from the seed. A foreign transcription is 404 with `transcription_id`.',
    ],
  },
  G18: {
    topic: "Creating what has no public endpoint",
    chosen: "The control API's state calls do it, and emit the events and audit entries of a real change.",
    details: [
      "An assistant's history outlives it, and begins with `created`. A foreign or unknown assistant is 404.",
    ],
  },
  G19: {
    topic: "Shared dashboards",
    chosen:
      "GET /v1/dashboards/shared/{slug} resolves a link without credentials; revoked and unknown links are 404.",
  },
  G20: {
    topic: "Model responses",
    chosen:
      "The fixture's reply rules decide; otherwise a text from the seed quotes the best passage of each attached file and repeats a line of the conversation. Tokens are bytes divided by four, rounded up.",
    details: [
      "[Fixtures](../fixtures.md#every-key) shows a reply rule; its `delay` is on the wall clock. Inputs come back with ids `msg_…`. The tokens of all input texts and of the output are counted; the cost is tokens / 1000 x `cost_per_1k_tokens` in CHF, to six decimals.",
      "Rare words count more when a passage is chosen; at most the last ten files are quoted. From the second turn on the text repeats the user's previous message. System messages do not change it.",
      "An unknown or inactive model is 422 with `model`, an unknown file 404. Both forms of a message may be mixed.",
    ],
  },
  G21: {
    topic: "Model listing",
    chosen: "Active models in display order, the same under /v1 and /v2.",
    details: ["The answer is that of 2.8, without `organization_id`. All organizations have all models."],
  },
  G22: {
    topic: "The announced model endpoint",
    chosen: "404, as in production, until the setting `preview` is on.",
    details: [
      "Credentials are checked first. With `preview`, a user who is not a member gets 403 `INSUFFICIENT_PERMISSIONS`.",
    ],
  },
  G26: {
    topic: "Outpainting",
    chosen:
      "The same seed and input give the same bytes. An octet-stream, a range such as `image/*` or an undeclared type is recognized by its bytes, `image/jpg` is a JPEG, and animated images are refused.",
    details: [
      "422 names a field of the other provider, `image_file` if it cannot be decoded, and the largest extension if the result has more than 40 megapixels; another type is 415.",
      "`provider_a` mirrors the picture beyond its borders, with a tint from the seed. `provider_b` scales image and mask to `size` (default `1024x1024`) and fills the mask's transparent part with the colours around it and a tint from the input. `X-Provider` has the name of the provider.",
    ],
  },
  G27: {
    topic: "Organization types, other 404s",
    chosen:
      "Types are company and personal. A missing resource without a code of its own is RESOURCE_NOT_FOUND with the path parameter in the details.",
  },
  G28: {
    topic: "Orders, dates, search",
    chosen:
      "Logs are newest first, ties by id. A date without time is the whole UTC day. CSV values stay as they are, also formulas, unless the setting escapes these.",
    details: [
      "Transcripts are ordered by `start_time`. A range includes its start and end; a start after the end is 422 with the start's field. `search_term` ignores case. The exported file is named by the sandbox's day. TXT exports round times down and have no heading; SRT texts are `speaker: text`.",
    ],
  },
  G31: {
    topic: "Audit",
    chosen:
      "Reparenting and state calls on departments, users, roles and stores write organization entries; assistants write their history and a change log.",
    details: [
      "A reparent writes `department` / `reparented`: the entity is the moved department, the target the new parent (empty at the top), the values both parents' ids, the actor the caller. A move to the present parent changes and writes nothing.",
      "State calls write `created`, `updated` and `deleted`, or the word of 4.15: `reparented`, `deactivated` and `reactivated` (an account or a department), `assigned` and `unassigned` (a role; a change of role writes both). A change of a capability writes `permission` / `updated`, with the values `granted` and `denied`. Entries keep names as they were.",
    ],
  },
  G33: {
    topic: "Usage figures",
    chosen:
      "A missing limit is null. Figures are shown with two decimals; statuses are decided before rounding.",
    details: [
      "Without a limit `monthly_limit`, `utilization_percentage` and `remaining_budget` are null; beyond the limit the budget is 0. `overall_status` is the worst of organization, total and keys.",
      "The list has the keys with a limit or any spending in the organization, in the order of their ids, and `total_keys` counts these; a key may have another limit in each organization. The spending of a deleted key still counts in its months, under its last name and without a limit; a new key with its id starts at zero.",
    ],
  },
  G34: {
    topic: "Failures of processing; work in progress",
    chosen:
      "A file that is empty, or whose content is not of its type, fails when parsing ends, one without text when chunking ends, one without words when embedding ends; error_message says why.",
    details: [
      "For `application/octet-stream`, a form's file without a Content-Type, and types that systems confuse (`video/mp2t` for TypeScript, `application/vnd.ms-excel` for CSV), the file name decides the type. `image/jpg`, `text/x-markdown` and the like are other names of a type. A PDF must open without a password, JSON must parse, an Office document must be a container of its kind (its text is not read), and text must be UTF-8, or what its byte order mark or `charset` says. The first 4 MiB of a text and PDFs of up to 32 MiB are read. A file without uploaded bytes is processed by its type.",
      "One connector job in twenty fails after a tenth to nine tenths of its time and keeps what it has synced; seed, connection and the number of its jobs decide which. A connection may have its own `failure_rate`; those of the reference world have 0. A `reset` job syncs everything since the last successful reset again.",
      "With `live_meetings` on, every running meeting gets a line each 9 to 16 seconds of the sandbox's clock; every 500 lines double these pauses.",
    ],
  },
  G35: {
    topic: "Context window, vision",
    chosen:
      "More input tokens than the model's max_tokens are 422 with the field inputs and the number of tokens. A picture is described by format, size and dominant colours. A model may have `vision: false` in the fixture (no answer shows this field); a picture is then 422 with the field of its file_id.",
    details: [
      "PNG, JPEG, WebP and GIF files of up to 25 MiB are decoded. Any other image is described as unreadable; one without bytes is described from the seed.",
    ],
  },
  G36: {
    topic: "Invoices over time",
    chosen:
      "With `invoicing` on, every organization that spent anything in a month gets an invoice when the month ends on the sandbox's clock. Three days later it is paid, or fails if the organization's monthly limit was reached in that month, with the events of 6.1.",
    details: [
      "The amount is the month's spending, to the centime and at least one; the status is `draft` until the payment. An invoice that a state call settles or deletes does not change again. While the setting is off, invoices and payments wait.",
    ],
  },
  G37: {
    topic: "Former members; deletion",
    chosen:
      "A key works only while its user is a member of the organization it acts in. Afterwards each operation refuses it like a non-member's, until `users.set_current_organization` gives it another organization. Operations without such a refusal of their own (sections 4.10 and 4.19, lists of models and webhooks) answer 403 ORGANIZATION_ACCESS_DENIED.",
    details: [
      "Authors (`created_by`, owners, actors of logs) stay named when the person is deleted. An access token of the key can do what the key can.",
      "Deleting a record deletes everything that belongs to it, timers included: an organization's departments, files, threads with messages, webhooks with pending deliveries, uploads, links, logs and figures; a user's keys with access tokens and rate windows. A new record with the same id starts empty. A key that acted in a deleted organization acts in another one of its user's, or is deleted if there is none.",
    ],
  },
  G38: {
    topic: "Bounds",
    chosen:
      "Ids have at most 120 characters after their prefix, slugs 120, URLs 2,048, descriptions 10,000, file names 1,024, types 255, files 5 TiB, and an organization 100 notification rules; beyond it is 422 with the field.",
    details: ["Characters are code points. A path parameter may have 32 KiB."],
  },
  G39: {
    topic: "Caching, numbers, order",
    chosen:
      "If-None-Match decides before If-Modified-Since. Amounts below a hundredth have six decimals in the details of errors. Titles of models are ordered by code point. The arrow `-->` inside a subtitle's text becomes `-- >`.",
    details: [
      "A date in none of HTTP's three formats is ignored, as are `If-Match`, `If-Unmodified-Since` and `Range`.",
      "A track may be in several collections. Its record in a collection has the ids of collection and track as its key: `mcoll_ada:mtrack_1`.",
    ],
  },
  G40: {
    topic: "Seeded histories",
    chosen:
      "The generated audit logs, change logs and assistants' histories of a fixture are a possible past: applied to an invented beginning, they lead to the fixture's state.",
    details: [
      "The log creates each user, department or store of the fixture that is younger than its oldest entry. It deletes again all that the fixture does not have, and reverts what the fixture does not show.",
      "A change log also has the history of each assistant of the fixture. Entries that a fixture writes out stay as they are.",
    ],
  },
  G42: {
    topic: "End of an event stream",
    chosen:
      "A stream closes when its meeting has ended. If a client then returns with the id of its last event, or the stream never had one, the answer is 204, which ends its retries.",
  },
  G43: {
    topic: "Digests of an upload",
    chosen:
      "`X-Goog-Hash` (`crc32c`, `md5`) and `Content-MD5` on the last request of an upload are compared with all its bytes: another digest, or a text that is not the base64 of one, is 400 `INVALID_DIGEST` with the header; nothing is stored, and the upload begins again.",
    details: [
      "If there are several values, each must be right; other algorithms and the headers of earlier requests are ignored.",
    ],
  },
  G44: {
    topic: "Generated data",
    chosen:
      "Names, e-mail addresses, titles and file names that a fixture, `fixture generate` or a state call leaves out come from @faker-js/faker with the sandbox's seed: valid, plausible in the locale, and distinct where they must be.",
    details: [
      "The same seed and record give the same values. E-mail addresses are in the domain `example.test`, and valid for a name in any script. English replaces what a locale lacks.",
    ],
  },
};
