import { Type } from "typebox";
import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { RawBody } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, PageParameter } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { View } from "../../state/view.ts";
import { type Caller, isMember } from "../organizations/access.ts";
import { makeSentence, makeTranscription, transcriptionsFixture } from "./fixtures.ts";
import {
  Actions,
  buildPageLinks,
  createCacheHeaders,
  listSiblingLinks,
  MAX_PAGE_SIZE,
  type Page,
  replyConditionally,
  toParagraphs,
  toSrt,
  toVtt,
} from "./formats.ts";
import { completeTranscription, sentenceStateRules, transcriptionStateRules } from "./rules.ts";
import {
  renderSentence,
  type Sentence,
  sentences,
  TimedText,
  type Transcription,
  transcriptions,
} from "./schema.ts";

const BASE = "/v1/audio/transcribe/{transcription_id}";
const TranscriptionParams = Type.Object({ transcription_id: Id("trans_") });
const HEADERS = ["ETag", "Last-Modified", "Cache-Control", "X-PII-Redacted", "X-PII-Policies"];
const NOT_MODIFIED = { status: 304, headers: HEADERS, description: "Unchanged" };

const Metadata = Type.Object(
  {
    request_id: Type.String(),
    timestamp: Type.String({ format: "date-time" }),
    processing_time_ms: Type.Integer(),
    upstream_latency_ms: Type.Integer(),
    retry_attempts: Type.Integer(),
    cache_hit: Type.Boolean(),
    total_count: Type.Integer(),
    returned_count: Type.Integer(),
  },
  { $id: "TranscriptionMetadata" },
);

const createEnvelopeSchema = <const N extends string>(name: N) =>
  Type.Object({
    success: Type.Literal(true),
    data: Type.Object({
      transcription_id: Id("trans_"),
      audio_duration_seconds: Type.Number(),
      [name]: Type.Array(TimedText),
    }),
    metadata: Metadata,
    actions: Actions,
  });

const COMMON = {
  assumptions: ["G17", "G27", "G39"],
  params: TranscriptionParams,
  headers: {
    "if-none-match": "Entity tags of the client, or `*`",
    "if-modified-since": "The `Last-Modified` of the client; ignored if `If-None-Match` is sent",
  },
  errors: ["RESOURCE_NOT_FOUND", "INVALID_INPUT"] as const,
  access: requireTranscription,
};

const listSentences = operation({
  ...COMMON,
  id: "transcriptions.list_sentences",
  section: "4.11",
  assumed: {
    envelope: "G17",
    fields: { "/success": "G17", "/actions/*": "G17" },
    types: {
      "/metadata": "G17",
      "/actions": "G17",
      "/actions/get_paragraphs": "G17",
      "/actions/get_subtitles_srt": "G17",
    },
  },
  route: `GET ${BASE}/sentences`,
  summary: "List the sentences of a transcription",
  description: "Without `limit`, the answer has all sentences.",
  query: Type.Object({
    limit: Type.Optional(PageParameter({ minimum: 1, maximum: MAX_PAGE_SIZE })),
    offset: PageParameter({ minimum: 0, default: 0 }),
  }),
  success: [{ status: 200, schema: createEnvelopeSchema("sentences"), headers: HEADERS }, NOT_MODIFIED],
  handle(call, transcription) {
    const { limit, offset } = call.query;
    const allSentences = requireSentences(call.world, transcription);
    const content = allSentences
      .page(offset, limit ?? allSentences.size)
      .map((sentence) => renderSentence(sentence, call.world));
    const page = { offset, limit, total: allSentences.size };
    return replyWithEnvelope(call, transcription, { name: "sentences", content, page });
  },
});

const listParagraphs = operation({
  ...COMMON,
  id: "transcriptions.list_paragraphs",
  section: "G17",
  route: `GET ${BASE}/paragraphs`,
  summary: "List the paragraphs of a transcription",
  success: [{ status: 200, schema: createEnvelopeSchema("paragraphs"), headers: HEADERS }, NOT_MODIFIED],
  handle(call, transcription) {
    const content = toParagraphs(requireSentences(call.world, transcription));
    return replyWithEnvelope(call, transcription, { name: "paragraphs", content });
  },
});

const exportSrt = createSubtitlesOperation("srt", { title: "SRT", type: "text/plain", write: toSrt });
const exportVtt = createSubtitlesOperation("vtt", { title: "WebVTT", type: "text/vtt", write: toVtt });

interface Format {
  title: string;
  type: string;
  write: (cues: Iterable<TimedText>) => string;
}

function createSubtitlesOperation(extension: "srt" | "vtt", { title, type, write }: Format) {
  return operation({
    ...COMMON,
    id: `transcriptions.export_${extension}`,
    section: "G17",
    route: `GET ${BASE}/subtitles/${extension}`,
    summary: `Export a transcription as ${title} subtitles`,
    success: [
      { status: 200, content_types: [type], headers: [...HEADERS, "Content-Disposition"] },
      NOT_MODIFIED,
    ],
    handle({ world, headers }, transcription) {
      const text = write(requireSentences(world, transcription));
      const validators = createCacheHeaders(transcription, { content: text, isWhole: true }, world);
      return replyConditionally(headers, validators, new RawBody(type, text), {
        "Content-Disposition": `attachment; filename="${transcription.transcription_id}.${extension}"`,
      });
    },
  });
}

/** A transcription of a foreign organization is as unknown as a missing one (G17). @throws ApiError RESOURCE_NOT_FOUND */
function requireTranscription(call: Caller & { params: { transcription_id: string } }): Transcription {
  const { transcription_id } = call.params;
  const transcription = call.world.get(transcriptions, transcription_id);
  if (transcription === undefined || !isMember(call, transcription.organization_id)) {
    throw resourceNotFound("transcription_id", transcription_id);
  }
  return transcription;
}

/** @throws ApiError INVALID_INPUT for a transcription that is not completed (G17) */
function requireSentences(world: WorldReader, { transcription_id, status }: Transcription): View<Sentence> {
  if (status !== "completed") {
    const advice = status === "failed" ? "this one failed" : "try again later";
    throw invalidInput("status", status, `the transcription must be completed; ${advice}`);
  }
  return world.index(sentences, "by_transcription", transcription_id);
}

interface Content {
  name: "sentences" | "paragraphs";
  content: readonly TimedText[];
  /** Which page of all entries the content is, if the operation has pages; the entity tag depends on it. */
  page?: Page;
}

/** Wraps the data in its envelope. The entity tag is for the data alone, without the request's id and time. */
function replyWithEnvelope(
  { headers, request, world }: Call,
  transcription: Transcription,
  { name, content, page }: Content,
) {
  const { transcription_id, audio_duration_seconds } = transcription;
  const { processing_time_ms, upstream_latency_ms, retry_attempts, cache_hit } = transcription;
  const data = { transcription_id, audio_duration_seconds, [name]: content };
  const base = request.base_url + BASE.replace("{transcription_id}", transcription_id);
  const metadata = {
    request_id: request.id,
    timestamp: world.toIso(world.now),
    processing_time_ms,
    upstream_latency_ms,
    retry_attempts,
    cache_hit,
    total_count: page?.total ?? content.length,
    returned_count: content.length,
  };
  const actions = { ...listSiblingLinks(base), ...(page && buildPageLinks(base, page)) };
  const taggedPart = { content: JSON.stringify([page ?? null, data]), isWhole: false };
  const validators = createCacheHeaders(transcription, taggedPart, world);
  return replyConditionally(headers, validators, { success: true, data, metadata, actions });
}

export const transcriptionsResource = {
  name: "transcriptions",
  collections: [transcriptions, sentences],
  operations: [listSentences, listParagraphs, exportSrt, exportVtt],
  factories: { transcriptions: makeTranscription, sentences: makeSentence },
  fixture: transcriptionsFixture,
  timers: { "transcription.step": completeTranscription },
  state: { transcriptions: transcriptionStateRules, sentences: sentenceStateRules },
} satisfies Resource;
