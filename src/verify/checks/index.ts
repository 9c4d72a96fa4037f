import type { Check } from "../check.ts";
import { answerChecks } from "./answers.ts";
import { credentialChecks } from "./credentials.ts";
import { figureChecks } from "./figures.ts";
import { headerChecks } from "./headers.ts";
import { logChecks } from "./logs.ts";
import { malformedChecks } from "./malformed.ts";
import { pageChecks } from "./pages.ts";
import { refusalChecks } from "./refusals.ts";
import { transcriptChecks } from "./transcripts.ts";
import { transportChecks } from "./transport.ts";
import { connectorChecks } from "./writes/connectors.ts";
import { fileChecks } from "./writes/files.ts";
import { generationChecks } from "./writes/generation.ts";
import { currentOrganizationCheck, reparentCheck } from "./writes/organization.ts";
import { refusedChecks } from "./writes/refused.ts";
import { webhookChecks } from "./writes/webhooks.ts";

const READING: readonly Check[] = [
  ...answerChecks,
  ...pageChecks,
  ...logChecks,
  ...transcriptChecks,
  ...figureChecks,
  ...refusalChecks,
  ...malformedChecks,
  ...transportChecks,
  ...credentialChecks,
];

const WRITING: readonly Check[] = [
  ...refusedChecks,
  reparentCheck,
  ...webhookChecks,
  ...connectorChecks,
  ...fileChecks,
  ...generationChecks,
];

/** What a run does, in its order: what finds objects first, what looks back at every answer last. */
export function checksFor(write: boolean): readonly Check[] {
  // The other organization may have a smaller plan: it is visited while little of the rate is used.
  return write
    ? [currentOrganizationCheck, ...READING, ...WRITING, ...headerChecks]
    : [...READING, ...headerChecks];
}
