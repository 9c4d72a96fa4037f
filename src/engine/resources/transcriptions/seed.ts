import Type from "typebox";
import type { FactoryContext } from "../../contract/factory.ts";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { makeSentence, makeTranscription } from "./make.ts";
import { milliseconds, pauseSeconds, transcribingMs } from "./rules.ts";
import { interviewSentence, spokenSeconds } from "./sample-text.ts";
import { Sentence, sentences, Transcription, transcriptions } from "./schema.ts";

const SENTENCES_WHERE_NOT_SAID = 12;

const sentenceRecord = fixtureRecord(Sentence, { needs: ["text"], omit: ["id", "transcription_id"] });
const record = fixtureRecord(Transcription, {
  needs: ["transcription_id"],
  omit: [
    ...(["processing_time_ms", "upstream_latency_ms", "retry_attempts", "cache_hit"] as const),
    ...(["completed_at", "updated_at"] as const),
  ],
  names: { transcription_id: "id", owner_id: "owner" },
  more: {
    sentences: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(sentenceRecord.schema)], {
        description: "How many sentences to make up, or the sentences themselves",
      }),
    ),
  },
});
type Entry = EntryOf<typeof record>;

export const transcriptionsFixture: FixtureReader = {
  keys: { transcriptions: Type.Array(record.schema) },
  follows: ["transcription_seconds"],
  seed(fixture, base) {
    // A transcription is as long as what is said in it, so both are made when either is first read.
    let made: Story[] | undefined;
    const stories = () => {
      made ??= entriesOf(fixture, "transcriptions", record).map((entry) => story(entry, base));
      return made;
    };
    base.fill(transcriptions, () => stories().map(({ transcription }) => transcription));
    base.fill(sentences, () => stories().flatMap(({ spoken }) => spoken));
    for (const { id, status } of entriesOf(fixture, "transcriptions", record)) {
      if (status !== "processing") continue;
      // G17: counted from the fixture's epoch.
      const due = transcribingMs(base.context("transcriptions", id).settings);
      base.timer({ kind: "transcription.step", subject: id, due });
    }
  },
};

interface Story {
  transcription: Transcription;
  spoken: Sentence[];
}

function story(entry: Entry, base: BaseBuilder): Story {
  const context = base.context("transcriptions", entry.id);
  const spoken = sentencesIn(entry, { base, context });
  const length = spoken.reduce((longest, { end }) => Math.max(longest, end), 0);
  const pause = context.random.int(500, 4000) / 1000;
  const given = record.given(entry, base);
  // What is not transcribed yet says nothing of how long it is.
  const heard =
    spoken.length === 0 && given.status === "processing" ? undefined : milliseconds(length + pause);
  const told = given.audio_duration_seconds ?? heard;
  const audio_duration_seconds = told === undefined ? undefined : Math.max(length, told);
  return { transcription: makeTranscription({ ...given, audio_duration_seconds }, context), spoken };
}

function sentencesIn(
  entry: Entry,
  { base, context }: { base: BaseBuilder; context: FactoryContext },
): Sentence[] {
  const { random } = context;
  const wanted = entry.sentences ?? (entry.status === "processing" ? 0 : SENTENCES_WHERE_NOT_SAID);
  const listed = typeof wanted === "number" ? [] : wanted;
  const count = typeof wanted === "number" ? wanted : wanted.length;
  const telling = { random, pii_redaction: entry.pii_redaction ?? null };
  let clock = 0;
  return Array.from({ length: count }, (_, position) => {
    const given = listed[position] === undefined ? {} : sentenceRecord.given(listed[position], base);
    const text = given.text ?? interviewSentence(position, telling);
    const pause = pauseSeconds(random);
    const start = given.start ?? milliseconds(clock + pause);
    const end = Math.max(start, given.end ?? milliseconds(start + spokenSeconds(text, random)));
    clock = end;
    return makeSentence({ transcription_id: entry.id, text, start, end }, context);
  });
}
