import type { Resource } from "../../contract/resource.ts";
import { exportSrt, exportVtt, listParagraphs, listSentences } from "./operations.ts";
import { sentences, transcriptions } from "./schema.ts";
import { transcriptionsFixture } from "./seed.ts";
import { sentenceRules, transcriptionRules } from "./state.ts";

export const transcriptionsResource: Resource = {
  name: "transcriptions",
  collections: [transcriptions, sentences],
  operations: [listSentences, listParagraphs, exportSrt, exportVtt],
  fixture: transcriptionsFixture,
  state: { transcriptions: transcriptionRules, sentences: sentenceRules },
};
