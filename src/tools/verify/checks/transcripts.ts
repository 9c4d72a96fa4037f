import { toMediaType } from "../../../engine/contract/media-types.ts";
import { type Check, type Context, createSuccessCheck } from "../check.ts";
import { toExcerpt } from "../check-answer.ts";
import { listMalformedFields } from "../malformed-fields.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";
import { checkAnyPage } from "./listings.ts";

const FORMATS: Readonly<Record<string, { type: string; check: (verdict: Verdict, text: string) => void }>> = {
  txt: {
    type: "text/plain",
    check(verdict, text) {
      const lines = text.split(/\r?\n/).filter((line) => line !== "");
      const wrong = lines.find((line) => !/^\[\d{2,}:\d{2}:\d{2}\] .+?: /.test(line));
      verdict.expect(!wrong, `a line is not [HH:MM:SS] <speaker>: <text>, but ${toExcerpt(wrong)}`);
    },
  },
  srt: {
    type: "text/plain",
    check(verdict, text) {
      const cues = text.trim() === "" ? [] : text.trim().split(/(?:\r?\n){2,}/);
      for (const [i, cue] of cues.entries()) {
        const [number, time = ""] = cue.split(/\r?\n/);
        verdict.expect(number === String(i + 1), `cue ${i + 1} has the number ${toExcerpt(number)}`);
        const [, start, end] = /^(\d{2,}:\d{2}:\d{2},\d{3}) --> (\d{2,}:\d{2}:\d{2},\d{3})$/.exec(time) ?? [];
        // Hours may have three digits.
        const fits = start !== undefined && start.padStart(end!.length) <= end!;
        verdict.expect(fits, `cue ${i + 1} has the times ${toExcerpt(time)}`);
      }
    },
  },
  json: {
    type: "application/json",
    check(verdict, text) {
      const entries = JSON.parse(text) as { start_time: number; end_time: number }[];
      const wrong = entries.find(({ start_time, end_time }) => start_time > end_time);
      verdict.expect(wrong === undefined, `an entry ends before it starts: ${toExcerpt(wrong)}`);
    },
  },
};

const EXPORT = "meeting_sessions.export_transcript";
const SENTENCES = "transcriptions.list_sentences";

/** Checks content type, file name and lines of the requested format (section 4.1). */
function checkExport(verdict: Verdict, { sent, headers, text }: Exchange): void {
  const format = sent.query["format"] ?? "txt";
  const { type, check } = FORMATS[format] ?? {};
  if (type === undefined || check === undefined) return;
  const contentType = headers.get("content-type") ?? "";
  verdict.expect(
    toMediaType(contentType) === type,
    `format=${format} has the content type ${toExcerpt(contentType)}`,
  );
  const name = `transcript_${sent.params["session_id"]}.${format}`;
  const disposition = headers.get("content-disposition") ?? "";
  verdict.expect(
    disposition.includes(name),
    `Content-Disposition is ${toExcerpt(disposition)}, without ${name}`,
  );
  check(verdict, text.replace(/^\uFEFF/, ""));
}

async function checkFormat(format: string, context: Context): Promise<void> {
  const { verdict } = context;
  const first = context.requireSuccess(EXPORT);
  const exchange = await context.sendAndCheck(EXPORT, { params: first.params, query: { format } });
  if (exchange === undefined) return;
  checkExport(verdict, exchange);
  if (exchange.text.trim() === "" || exchange.text.trim() === "[]")
    verdict.note("the transcript is empty, so its lines were not checked");
  if (format === "txt") {
    const same = first.exchange.text === exchange.text;
    verdict.expect(same, "without a format, the answer is not that of format=txt");
  }
}

const formatChecks: Check[] = Object.keys(FORMATS).map((format) => ({
  id: `${EXPORT}/${format}`,
  family: "answers",
  section: "4.1",
  title: `${EXPORT} writes ${format}`,
  observe: {
    operation: EXPORT,
    successes: true,
    begin: () => (verdict, exchange) => {
      if ((exchange.sent.query["format"] ?? "txt") === format) checkExport(verdict, exchange);
    },
  },
  run: (context) => checkFormat(format, context),
}));

const MAX_CONTENTS = 500;

/** Checks the headers, and that the content of an address changes only with its ETag. */
function observeCaching(): (verdict: Verdict, exchange: Exchange) => void {
  const contents = new Map<string, string>();
  return (verdict, exchange) => {
    checkCaching(verdict, exchange);
    const { path, headers, json } = exchange;
    const etag = headers.get("etag");
    if (etag === null) return;
    const key = `${path} ${etag}`;
    // The request's own id and time are in the metadata, not in the data.
    const content = JSON.stringify(json.data);
    const problem = `${path} has other content than before, and the same ETag`;
    verdict.expect((contents.get(key) ?? content) === content, problem);
    if (contents.size < MAX_CONTENTS) contents.set(key, content);
  };
}

/** Checks the headers that let a client cache an answer (section 4.11). */
function checkCaching(verdict: Verdict, { headers }: Exchange): void {
  const cache = headers.get("cache-control") ?? "";
  const directives = cache
    .toLowerCase()
    .split(/\s*,\s*/)
    .toSorted();
  verdict.expect(directives.join() === "max-age=86400,public", `Cache-Control is ${toExcerpt(cache)}`);
  const modified = headers.get("last-modified") ?? "";
  verdict.expect(
    / GMT$/.test(modified) && Number.isFinite(Date.parse(modified)),
    "Last-Modified is not a date",
  );
  verdict.expect(headers.get("etag") !== null, "there is no ETag");
}

const conditionalRequests = createSuccessCheck(
  SENTENCES,
  { name: "conditional", section: "4.11", title: `${SENTENCES} answers 304 to If-None-Match` },
  checkCaching,
  async (context, { params, exchange }) => {
    const { verdict } = context;
    const etag = exchange.headers.get("etag");
    if (etag === null) return;
    const requestSentences = (value: string) =>
      context.send(SENTENCES, { params, headers: { "if-none-match": value } });
    const notModified = await requestSentences(etag);
    verdict.expect(
      notModified.status === 304,
      `If-None-Match with the ETag is ${notModified.status} instead of 304`,
    );
    if (notModified.status === 304) verdict.expect(notModified.text === "", "a 304 has a body");
    const other = await requestSentences('"nobody0"');
    verdict.expect(other.status === 200, `If-None-Match with another tag is ${other.status} instead of 200`);
  },
);

/** Checks counts, links to the previous and next page, and the redaction headers (section 4.11). */
function checkCounts(verdict: Verdict, exchange: Exchange): void {
  const { json, sent, headers } = exchange;
  const { data, metadata, actions = {} } = json;
  const returned = data.sentences.length as number;
  verdict.expect(
    metadata.returned_count === returned,
    `returned_count is ${metadata.returned_count}, not ${returned}`,
  );
  for (const [name, action] of Object.entries(actions as object)) {
    const leadsHere = !action || JSON.stringify(action).includes(data.transcription_id);
    verdict.expect(leadsHere, `actions.${name} leads to another transcription: ${toExcerpt(action)}`, "G17");
  }
  const total = Number(metadata.total_count);
  if (sent.query["limit"] !== undefined) checkPageLinks(verdict, exchange, total);
  else if (Number(sent.query["offset"] ?? 0) === 0)
    verdict.expect(total === returned, `without a limit, ${returned} of ${metadata.total_count} are listed`);
  checkRedaction(verdict, headers);
}

function checkPageLinks(verdict: Verdict, exchange: Exchange, total: number): void {
  if (listMalformedFields(exchange).length > 0) return;
  const { data, actions = {} } = exchange.json;
  const { limit, offset: sentOffset = 0 } = exchange.sent.query;
  const offset = Number(sentOffset);
  const end = offset + data.sentences.length;
  // The reference does not say what is before a page after the end.
  const assumption = offset >= total ? "G17" : undefined;
  const links: [name: string, isExpected: boolean, to: number][] = [
    ["previous", offset > 0 && total > 0, Math.max(0, offset - Number(limit))],
    ["next", end < total, end],
  ];
  for (const [name, isExpected, to] of links) {
    const link = actions[name] ?? undefined;
    const description = `the link to the ${name} page`;
    verdict.expect(
      (link !== undefined) === isExpected,
      `${description} is ${isExpected ? "missing" : "present, although there is no such page"}`,
      assumption,
    );
    const linkedOffset = /[?&]offset=(\d+)/.exec(JSON.stringify(link) ?? "")?.[1];
    verdict.expect(
      Number(linkedOffset ?? to) === to,
      `${description} leads to the sentences from ${linkedOffset}, not from ${to}`,
      assumption,
    );
  }
}

const counts = createSuccessCheck(
  SENTENCES,
  { name: "counts", section: "4.11", title: `${SENTENCES} counts its sentences and links its pages` },
  checkCounts,
  async (context, { params }) => {
    const page = await context.sendAndCheck(SENTENCES, { params, query: { limit: 1, offset: 1 } });
    if (page !== undefined) checkCounts(context.verdict, page);
    const rest = await context.sendAndCheck(SENTENCES, { params, query: { offset: 1 } });
    if (rest !== undefined) checkAnyPage(context.verdict, rest);
  },
);

/** Both headers are present if redaction was enabled. Whether X-PII-Redacted may be false otherwise is an assumption. */
function checkRedaction(verdict: Verdict, headers: Headers): void {
  const redacted = headers.get("x-pii-redacted");
  const policies = headers.get("x-pii-policies");
  const isRedacted = redacted !== null && redacted !== "false";
  const fits = isRedacted === (policies !== null);
  verdict.expect(fits, "of X-PII-Redacted and X-PII-Policies, only one is present");
  if (redacted !== null) verdict.expect(redacted === "true", `X-PII-Redacted is ${redacted}`, "G17");
}

const times = createSuccessCheck(
  SENTENCES,
  { name: "times", section: "2.5", title: `${SENTENCES}: sentences end after they start` },
  (verdict, { json }) => {
    const sentences = json.data.sentences as { start: number; end: number }[];
    const wrong = sentences.find(({ start, end }) => start > end);
    verdict.expect(wrong === undefined, `a sentence ends before it starts: ${toExcerpt(wrong)}`);
  },
);

const conditional: Check = {
  ...conditionalRequests,
  observe: { operation: SENTENCES, successes: true, begin: observeCaching },
};

export const transcriptChecks: readonly Check[] = [...formatChecks, conditional, counts, times];
