import type { Resource } from "../../contract/resource.ts";
import { makeSentence, makeTranscription } from "./make.ts";
import { exportSrt, exportVtt, listParagraphs, listSentences } from "./operations.ts";
import { completeTranscription } from "./rules.ts";
import { sentences, transcriptions } from "./schema.ts";
import { transcriptionsFixture } from "./seed.ts";
import { sentenceRules, transcriptionRules } from "./state.ts";

export const transcriptionsResource = {
  name: "transcriptions",
  collections: [transcriptions, sentences],
  operations: [listSentences, listParagraphs, exportSrt, exportVtt],
  factories: { transcriptions: makeTranscription, sentences: makeSentence },
  fixture: transcriptionsFixture,
  timers: { "transcription.step": completeTranscription },
  state: { transcriptions: transcriptionRules, sentences: sentenceRules },
} satisfies Resource;
