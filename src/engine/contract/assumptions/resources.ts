import type { AssumptionsById } from "../provenance.ts";

/** Bodies, states and endpoints of single resources. */
export const RESOURCES: AssumptionsById = {
  G10: {
    topic: "Department tree",
    chosen:
      "A top-level department has depth 0, and its own id as its path. Colors are written #rrggbb. A new parent that is unknown, or in another organization, is a 404 with `new_parent_id`.",
    details: [
      "A child's path is its parent's path, a slash and its own id: `dept_acme/dept_eng`.",
      "A move does not change `member_count`.",
    ],
  },
  G11: {
    topic: "File processing",
    chosen:
      "Progress is linear on the sandbox's clock, through parsing, chunking and embedding. A file that fails (G34) keeps the progress it has reached. A completed file emits file.processed. Pictures, archives and unknown bytes fail when parsing ends, as an unsupported file type.",
    details: [
      "`parsing` lasts until 15 percent, `chunking` until 40, `embedding` until the end.",
      "A failure sets `error_message` and `completed_at`. It sets `current_step` to null.",
    ],
  },
  G12: {
    topic: "Putting a file into a store",
    chosen:
      "POST of a file_id to the store's files is a 202 with the processing status. If the file is in the store already, it is a 200, and the processing does not restart.",
    details: [
      "An unknown store is a 404 `RESOURCE_NOT_FOUND` with `store_id`. An unknown file is one with `file_id`.",
    ],
  },
  G13: {
    topic: "Uploads",
    chosen:
      "Upload URLs point to this server. They use the Google Cloud Storage resumable protocol, with a token in place of credentials. Registering needs a complete upload, and the same fields as the request for the upload URL. Another endpoint takes a file under 100 MiB in one multipart request. Chunks may have any size. A Content-Range that contradicts the announced size is a 422. An empty file is complete from the start.",
    details: [
      "A chunk that does not complete the file is answered with 308 and `Range`. An expired URL is a 410.",
      "Registering is a 201 the first time, and a 200 if it is repeated.",
      "A registered field that differs from the request for the URL is a 422 with this field. An incomplete upload is a 422 with `gcs_path`.",
      "Every new file emits `file.uploaded`.",
    ],
  },
  G14: {
    topic: "Connector jobs",
    chosen:
      "Jobs run on the sandbox's clock. When and how a job ends is fixed when it starts (G34: which jobs fail). A connection has at most one running job of each type. Cancelling is a POST.",
    details: [
      "`duration` is in whole seconds. It is null while the job runs. A cancelled job's duration is the time that the job ran.",
      "`bytes_synced` and `rows_synced` grow with time.",
      "Cancelling a job that is not running is a 422 with `status`. A second running job is a 422 with `connection_id`. An unknown connection or job is a 404.",
    ],
  },
  G15: {
    topic: "Connector notifications",
    chosen:
      "A notification rule names events of 6.1, or outcomes of connector jobs. Each notification is sent once, without a signature. E-mail goes to the sandbox's outbox.",
    details: [
      "At first, the config has no rules.",
      "Outcomes are `connector.job.succeeded` and `connector.job.failed`.",
      "The call that tests a notification answers `success: false` if the receiver's answer is not 2xx. Without a `url` in the call, and without a webhook rule, it answers 422.",
    ],
  },
  G16: {
    topic: "Meeting sessions",
    chosen:
      "A session is running or completed. Stopping it again changes nothing. Transcripts, status and logs are streams of server-sent events, in order of arrival. The existing events come first, then new ones. A client resumes a stream with Last-Event-ID.",
    details: [
      "Every member of the organization may read and export. Only the session's owner, and the organization's owners and admins, may stop and delete it.",
    ],
  },
  G17: {
    topic: "Transcriptions",
    chosen:
      "A transcription completes on the sandbox's clock. Until then, reading it is a 422. The `actions` of an answer link to operations that exist (paragraphs, SRT, VTT). X-PII-Policies names the policies of redaction.",
    details: [
      "A transcription completes `transcription_seconds` after it began. One of a fixture begins at the fixture's `epoch`.",
      "A completed transcription has as many sentences as fit into its audio. If it had sentences before, it keeps these.",
      'The 422 has the details `{field: "status", value}`.',
      "The durations in `metadata` are generated from the seed.",
      "A transcription of another organization is a 404 with `transcription_id`.",
    ],
  },
  G18: {
    topic: "Creating what has no public endpoint",
    chosen:
      "The control API's state calls create and delete such records. They emit the events and audit entries of a real change.",
    details: [
      "An assistant's history begins with `created`. It remains when the assistant is deleted.",
      "An assistant that is unknown, or of another organization, is a 404.",
    ],
  },
  G19: {
    topic: "Shared dashboards",
    chosen:
      "GET /v1/dashboards/shared/{slug} resolves a link without credentials. A revoked or unknown link is a 404.",
  },
  G20: {
    topic: "Model responses",
    chosen:
      "The fixture's reply rules give the text. If none matches, a text is generated from the seed. It quotes the best passage of each attached file, and repeats a line of the conversation. The number of tokens is the number of bytes divided by four, rounded up.",
    details: [
      "[Fixtures](../fixtures.md#every-key) shows a reply rule. Its `delay` is on the wall clock.",
      "The answer repeats the inputs, with ids `msg_…`. A request may mix both forms of a message (2.13).",
      "The tokens of all input texts and of the output count. The cost is tokens / 1000 x `cost_per_1k_tokens` in CHF, to six decimals.",
      "Rare words count more when a passage is chosen. At most the last ten files are quoted.",
      "From the second turn on, a generated text repeats the user's previous message. System messages do not change it.",
      "An unknown or inactive model is a 422 with `model`. An unknown file is a 404.",
    ],
  },
  G21: {
    topic: "Model listing",
    chosen: "The answer lists the active models in display order, under /v1 and /v2 alike.",
    details: ["It is the answer of 2.8 without `organization_id`.", "All organizations have all models."],
  },
  G22: {
    topic: "The announced model endpoint",
    chosen: "The endpoint is a 404, as in production, until the setting `preview` is on.",
    details: [
      "Credentials are checked before this 404.",
      "With `preview` on, a user who is not a member gets 403 `INSUFFICIENT_PERMISSIONS`.",
    ],
  },
  G26: {
    topic: "Outpainting",
    chosen:
      "The same seed and input give the same bytes. The bytes decide what a file is if its type is octet-stream, a range such as `image/*`, or undeclared. `image/jpg` means JPEG. Animated images are refused.",
    details: [
      "A field of the other provider is a 422 with this field. A file that cannot be decoded as an image is a 422 with `image_file` or `mask_file`. An image of another type is a 415.",
      "A result of more than 40 megapixels is a 422 with the side that is extended most.",
      "`provider_a` mirrors the picture beyond its borders, with a tint from the seed.",
      "`provider_b` scales image and mask to `size`. It fills the mask's transparent part with the colours around it, and with a tint from the input.",
      "`X-Provider` has the name of the provider.",
    ],
  },
  G27: {
    topic: "Organization types, other 404s",
    chosen:
      "The type of an organization is company or personal. A missing resource without a code of its own is a 404 RESOURCE_NOT_FOUND, with the path parameter in the details.",
  },
  G28: {
    topic: "Orders, dates, search",
    chosen:
      "Logs are newest first; entries of the same time are in the order of their ids. A date without a time means the whole UTC day. CSV exports keep values as they are, even those that a spreadsheet would run as formulas. A setting escapes these.",
    details: [
      "Transcripts are in the order of `start_time`.",
      "A range of dates includes its start and end. A start after the end is a 422 with the start's field.",
      "`search_term` ignores case.",
      "The name of the exported audit log has the sandbox's day.",
      "TXT exports round times down and have no heading. SRT texts are `speaker: text`.",
    ],
  },
  G31: {
    topic: "Audit",
    chosen:
      "Moving a department writes an entry in the organization's audit log. So do state calls on departments, users, roles and stores. A change of an assistant writes an entry in its history and one in the change log.",
    details: [
      "A move writes `department` / `reparented`. The entity is the moved department, the target the new parent (empty at the top). The values are the ids of both parents, the actor is the caller. A move to the present parent changes and writes nothing.",
      "State calls write `created`, `updated` or `deleted`, or one of the following words of 4.15.",
      "Departments: `reparented`. Departments and accounts: `deactivated`, `reactivated`. Roles: `assigned`, `unassigned`; a change of role writes both.",
      "A change of a capability writes `permission` / `updated`, with the values `granted` and `denied`.",
      "Entries keep names as they were.",
    ],
  },
  G33: {
    topic: "Usage figures",
    chosen:
      "A missing limit is null. Figures are shown with two decimals. Statuses are decided before rounding.",
    details: [
      "Without a limit, `utilization_percentage` and `remaining_budget` are null, too. Beyond the limit, `remaining_budget` is 0.",
      "`overall_status` is the worst status of the organization, of all keys together, and of each key.",
      "`api_key_limits` lists the keys that have a limit in the organization, or spent there in the month, in the order of their ids. `total_keys` counts the listed keys. A key may have another limit in each organization.",
      "The spending of a deleted key still counts in its months, under the key's last name and without a limit. A new key with the same id starts at zero.",
    ],
  },
  G34: {
    topic: "Failures of processing; work in progress",
    chosen:
      "A file that is empty, or whose content is not of its type, fails when parsing ends. One without text fails when chunking ends, one without words when embedding ends. error_message says why.",
    details: [
      "The file name decides the type of `application/octet-stream`, of a form's file without a Content-Type, and of types that systems confuse (`video/mp2t` for TypeScript, `application/vnd.ms-excel` for CSV). `image/jpg`, `text/x-markdown` and the like are other names of a type.",
      "A PDF must open without a password. JSON must parse. An Office document must be a container of its kind; its text is not read. Text must be UTF-8, or what its byte order mark or `charset` says.",
      "The first 4 MiB of a text are read, and PDFs of up to 32 MiB. A file without uploaded bytes is processed by its type.",
      "One connector job in twenty fails, after a tenth to nine tenths of its time. It keeps what it has synced. The seed, the connection and the number of its jobs decide which job fails. A connection may have its own `failure_rate`; those of the reference world have 0.",
      "A `reset` job syncs everything since the last successful reset again.",
      "With the setting `live_meetings` on, every running meeting gets a line each 9 to 16 seconds of the sandbox's clock. Every 500 lines double these pauses.",
    ],
  },
  G35: {
    topic: "Context window, vision",
    chosen:
      "More input tokens than the model's max_tokens are a 422 with the field inputs and the number of tokens. A picture is described by its format, size and dominant colours. In a fixture, a model may have `vision: false` (no answer shows this field). A picture for such a model is a 422 with the field of its file_id.",
    details: [
      "PNG, JPEG, WebP and GIF files of up to 25 MiB are decoded. Any other image is described as unreadable. One without bytes is described from the seed.",
    ],
  },
  G36: {
    topic: "Invoices over time",
    chosen:
      "With the setting `invoicing` on, every organization that spent anything in a month gets an invoice when the month ends on the sandbox's clock. Three days later the invoice is paid. It fails instead if the organization reached its limit in that month. The events of 6.1 are emitted.",
    details: [
      "The amount is the month's spending to the centime, and at least one centime. The status is `draft` until the payment.",
      "If the timer is run early, the invoice covers the spending until then. At the month's end, a second invoice covers the rest.",
      "An invoice that a state call settles or deletes does not change again.",
      "While the setting is off, payments wait, and no invoice is created for a month that ends.",
    ],
  },
  G37: {
    topic: "Former members; deletion",
    chosen:
      "A key works only while its user is a member of the organization it acts in. Afterwards each operation refuses the key like a non-member's, until `users.set_current_organization` gives it another organization. Some operations have no such refusal of their own: 4.10, 4.19, the lists of models, and webhooks. They answer 403 ORGANIZATION_ACCESS_DENIED.",
    details: [
      "An access token can do what its API key can do.",
      "Authors (`created_by`, owners, actors of logs) stay named when the person is deleted.",
      "Deleting a record deletes everything that belongs to it, its timers included. A new record with the same id starts empty.",
      "To an organization belong departments, files, threads with messages, webhooks with pending deliveries, uploads, links, logs and figures. A key that acted in a deleted organization acts in another one of its user's, or is deleted if there is none.",
      "To a user belong API keys, with their access tokens and rate windows.",
    ],
  },
  G38: {
    topic: "Bounds",
    chosen:
      "The most characters are 120 in an id (after its prefix) or a slug, 255 in a file's type, 1,024 in a file name, 2,048 in a URL, and 10,000 in a description. A file has at most 5 TiB, an organization at most 100 notification rules. A value beyond its bound is a 422 with the field.",
    details: ["Characters are code points.", "A path parameter may have 32 KiB."],
  },
  G39: {
    topic: "Caching, numbers, order",
    chosen:
      "If-None-Match decides before If-Modified-Since. Amounts below a hundredth have six decimals in the details of errors. Titles of models are in the order of their code points. The arrow `-->` inside a subtitle's text becomes `-- >`.",
    details: [
      "A date in none of HTTP's three formats is ignored. So are `If-Match`, `If-Unmodified-Since` and `Range`.",
      "A track may be in several collections. The id of its record in a collection joins both ids: `mcoll_ada:mtrack_1`.",
    ],
  },
  G40: {
    topic: "Seeded histories",
    chosen:
      "The generated audit logs, change logs and assistants' histories of a fixture are a possible past: applied to an invented beginning, they lead to the fixture's state.",
    details: [
      "The audit log creates each user, department or store of the fixture that is younger than the log's oldest entry. If it creates a record that the fixture does not have, it deletes the record again. If it makes a change that the fixture does not show, it reverts the change.",
      "The change log also has the history of each assistant of the fixture.",
      "Entries that a fixture writes out stay as they are.",
    ],
  },
  G42: {
    topic: "End of an event stream",
    chosen:
      "A stream closes when its meeting has ended. A client that then returns with the id of its last event gets a 204, which ends its retries. So does any client if the stream never had an event.",
  },
  G43: {
    topic: "Digests of an upload",
    chosen:
      "The headers `X-Goog-Hash` (`crc32c`, `md5`) and `Content-MD5` of an upload's last request are compared with all its bytes. A digest that differs, or is not base64 of the right length, is a 400 `INVALID_DIGEST` with the header. Nothing is stored, and the upload begins again.",
    details: [
      "If there are several values, each must be right.",
      "Other algorithms, and the headers of earlier requests, are ignored.",
    ],
  },
  G44: {
    topic: "Generated data",
    chosen:
      "A fixture, `fixture generate` or a state call may leave out names, e-mail addresses, titles and file names. These then come from @faker-js/faker with the sandbox's seed. They are valid, plausible in the locale, and distinct where they must be.",
    details: [
      "The same seed and record give the same values.",
      "E-mail addresses are in the domain `example.test`, and valid for a name in any script.",
      "English replaces what a locale lacks.",
    ],
  },
};
