import type { Answer, Entry } from "./recording.ts";

export interface IntendedChange {
  /** The position in the recording, from 0, or a predicate of the request and its recorded response. */
  request: number | ((entry: Entry) => boolean);
  /** Why the response differs, in one sentence. */
  reason: string;
  /** Removes the changed parts of the recorded and the new response. Without it, the response is not compared. */
  compare?: (recorded: Answer, answered: Answer) => [Answer, Answer];
}

/** Responses that may differ from the recording on purpose. */
export const INTENDED_CHANGES: readonly IntendedChange[] = [
  {
    request: ({ request, answer }) => request.path === "/v1/images/uncrop" && answer.status === 200,
    reason: "Outpainting mirrors the image with a seeded tint; quilting and prompt painting are gone.",
    compare: (recorded, answered) => [keepHeaders(recorded), keepHeaders(answered)],
  },
  {
    request: ({ request: { path } }) => /\/(history|journal)\b/.test(path),
    reason:
      "Entries have a `seq`, those of control calls an `operation`, the journal's also `undone`, `fault` and more headers, and plainer words for a field at fault.",
    compare: (recorded, answered) => [
      omitText(recorded, / \(the field [^)"]*\)/g),
      omitText(
        answered,
        / \(field [^)"]*\)|"seq":\d+,|"fault":(?:null|\{[^{}]*\}),|,"undone":(true|false)(?=,"request"|,"warnings")|"operation":"[^"]*",(?="journal_position")|\{"name":"(Vary|WWW-Authenticate)","value":"(?:[^"\\]|\\.)*"\},/g,
      ),
    ],
  },
  {
    request: ({ request: { path }, answer }) =>
      /\/(audit-log\/export|dashboard\/change-logs)\b/.test(path) && answer.status === 200,
    reason: "Seeded logs are generated as lives of their own, with names from faker.",
    compare: (recorded, answered) => [keepHeaders(recorded), keepHeaders(answered)],
  },
  {
    request: ({ request: { path }, answer: { status } }) => path.startsWith("/_control/") && status >= 400,
    reason: "Refusals of the control API are worded in plain English.",
    compare: (recorded, answered) => [omitSentences(recorded), omitSentences(answered)],
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes('"retry_schedule":'),
    reason:
      "Sandboxes have the settings `locale` (G44), `upload_digests` (G43) and `auth_challenge` (G41) as well.",
    compare: (recorded, answered) => [
      omitLength(recorded),
      omitText(answered, /,?"(locale":"en|upload_digests":"check|auth_challenge":"on)"/g),
    ],
  },
  {
    request: ({ answer: { status } }) => status === 413,
    reason: "`limit_bytes` is a whole number, even if the limit is a fraction of a mebibyte.",
    compare: (recorded, answered) => [
      omitText(recorded, /"limit_bytes":[\d.]+/g),
      omitText(answered, /"limit_bytes":\d+(?=[,}])/g),
    ],
  },
  {
    request: () => true,
    reason:
      "Each answer has `Vary: Origin`, a 401 `WWW-Authenticate` (G41), which pages may read, and an entity tag for less than the whole answer is weak.",
    compare: (recorded, answered) => [omitCacheHeaders(recorded), omitCacheHeaders(answered)],
  },
  {
    request: ({ request: { path } }) => path.endsWith("/coverage") || path.endsWith("/transcripts/stream"),
    reason:
      "A finished stream answers 204 to a client that has all of its events (G42), which coverage counts.",
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes("it was created so"),
    reason: "Why a webhook is inactive is worded plainly.",
    compare: (...answers) =>
      answers.map((answer) => omitText(answer, /it was created so|no reason was given/g)) as [Answer, Answer],
  },
  {
    request: ({ request: { path } }) => path.endsWith("/outbox"),
    reason: "E-mails have an id.",
    compare: (recorded, answered) => [omitLength(recorded), omitText(answered, /"id":"email_\w+",/g)],
  },
  {
    request: ({ request }) => request.path.endsWith("/state/departments?actor=usr_ben"),
    reason: "The actor of a state call is the author of the new record (G31).",
    compare: (...answers) =>
      answers.map((answer) => omitText(answer, /"created_by":"\w+"/g)) as [Answer, Answer],
  },
  {
    request: ({ request }) => request.path.endsWith("/scenarios/active"),
    reason: "A listed scenario says by `origin` where it comes from, and derived scenarios have no file.",
  },
  {
    request: ({ answer }) => answer.headers.some(([, value]) => /^text\/[^;]+$/.test(value)),
    reason: "Text answers name their charset.",
    compare: (recorded, answered) => [recorded, omitCharset(answered)],
  },
  {
    request: ({ request }) => request.method === "OPTIONS",
    reason: "A page may send the digests of an upload (G43).",
    compare: (recorded, answered) => [
      recorded,
      withHeaders(answered, (value) => value.replace("X-Goog-Hash, Content-MD5, ", "")),
    ],
  },
  {
    request: ({ request }) => request.path.endsWith("/coverage"),
    reason: "Two operations answer INVALID_DIGEST (G43).",
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes(" struck: "),
    reason: "A rule is triggered; it no longer strikes.",
    compare: (...answers) =>
      answers.map((answer) =>
        omitText(
          answer,
          /\b(struck|triggered)(?=: )|\bit (strikes|triggers on) every call|"(strikes|triggers)":true/g,
        ),
      ) as [Answer, Answer],
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes("it is no image"),
    reason: "The message about a broken image is worded plainly.",
    compare: (...answers) =>
      answers.map((answer) => omitText(answer, /it is (no|not an) image/g)) as [Answer, Answer],
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes('"base_url":'),
    reason: "A sandbox may have its own `origin`.",
    compare: (recorded, answered) => [omitLength(recorded), omitText(answered, /"origin":null,/g)],
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes("must match pattern"),
    reason: "A value in the wrong form is refused with the form in words, not with a regular expression.",
    compare: (recorded, answered) => [
      omitText(recorded, / must match pattern (?:[^"\\]|\\.)*|"Content-Length","value":"\d+"/g),
      omitText(answered, / must be (?:[^"\\]|\\.)*|"Content-Length","value":"\d+"/g),
    ],
  },
  {
    request: ({ answer: { body } }) => typeof body === "string" && body.includes('"error":"unknown sandbox"'),
    reason: "The refusal of an unknown sandbox lists the known ones, and its hint is longer.",
    compare: (...answers) =>
      answers.map((answer) => omitText(answer, /,"sandboxes":\[[^\]]*\]|,"hint":"(?:[^"\\]|\\.)*"/g)) as [
        Answer,
        Answer,
      ],
  },
  {
    request: ({ answer: { body } }) =>
      typeof body === "string" &&
      /is beyond what a number can hold|has had its|forces it all the same/.test(body),
    reason: "Messages about large numbers, used-up windows and forced codes are worded plainly.",
    compare: (...answers) =>
      answers.map((answer) =>
        omitText(
          answer,
          /is (beyond what a number can hold exactly|too large to be represented exactly)|has (had|used) its|all the same|anyway/g,
        ),
      ) as [Answer, Answer],
  },
  {
    request: ({ answer: { body } }) =>
      typeof body === "string" && body.includes("lacks the role or capability"),
    reason: "A refusal without its own reason also names the membership, which 4.5 and 4.18 require.",
    compare: (recorded, answered) => [omitLength(recorded), omitText(answered, /membership, (?=role or)/g)],
  },
  ...[50, 51, 102, 103, 104, 110, 111, 116, 117, 118, 122, 125, 126, 127, 128, 291, 298].map((request) => ({
    request,
    reason:
      "Titles, names and file names that the fixture leaves out come from faker, and so do the draws after them (G44).",
    compare: (recorded: Answer, answered: Answer): [Answer, Answer] => [
      keepHeaders(recorded),
      keepHeaders(answered),
    ],
  })),
  ...[208, 209].map((request) => ({
    request,
    reason: "A field of the other provider is refused by validation, before access (G04).",
    compare: (recorded: Answer, answered: Answer): [Answer, Answer] => [
      withHeaders(recorded, (value) => (value === "rule" ? "validation" : value)),
      answered,
    ],
  })),
  ...[257, 267].map((request) => ({
    request,
    reason: "The name and the e-mail address that a state call left out come from faker (G44).",
  })),
];

function keepHeaders(answer: Answer): Answer {
  return { ...omitLength(answer), body: "" };
}

function omitLength(answer: Answer): Answer {
  return { ...answer, headers: answer.headers.filter(([name]) => name.toLowerCase() !== "content-length") };
}

function omitCharset(answer: Answer): Answer {
  return withHeaders(answer, (value) => value.replace(/^(text\/[^;]+); charset=utf-8$/, "$1"));
}

function withHeaders(answer: Answer, change: (value: string) => string): Answer {
  const headers = answer.headers.map(([name, value]) => [name, change(value)] as [string, string]);
  return { ...answer, headers };
}

function omitCacheHeaders(answer: Answer): Answer {
  const headers = answer.headers
    .filter(([name]) => !/^(vary|www-authenticate)$/i.test(name))
    .map(([name, value]): [string, string] => [name, value.replace(/^W\/| WWW-Authenticate,/, "")]);
  return { ...answer, headers };
}

function omitText(answer: Answer, pattern: RegExp): Answer {
  const { body } = answer;
  return omitLength({ ...answer, body: typeof body === "string" ? body.replaceAll(pattern, "") : body });
}

/** Removes the sentences of a problem; its type, status and field must stay the same. */
function omitSentences(answer: Answer): Answer {
  return omitText(answer, /,"(detail|advice|title)":"(?:[^"\\]|\\.)*"/g);
}
