import type { Resource } from "../../contract/resource.ts";
import { makeSentence, makeTranscription, transcriptionsFixture } from "./fixtures.ts";
import { exportSrt, exportVtt, listParagraphs, listSentences } from "./operations.ts";
import { completeTranscription, sentenceState, transcriptionState } from "./rules.ts";
import { sentences, transcriptions } from "./schema.ts";

export const transcriptionsResource = {
  name: "transcriptions",
  collections: [transcriptions, sentences],
  operations: [listSentences, listParagraphs, exportSrt, exportVtt],
  factories: { transcriptions: makeTranscription, sentences: makeSentence },
  fixture: transcriptionsFixture,
  timers: { "transcription.step": completeTranscription },
  state: { transcriptions: transcriptionState, sentences: sentenceState },
} satisfies Resource;
