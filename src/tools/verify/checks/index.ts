import type { Check } from "../check.ts";
import type { Contract } from "../contract.ts";
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

const reading = (contract: Contract): Check[] => [
  ...answerChecks(contract),
  ...pageChecks,
  ...logChecks,
  ...transcriptChecks,
  ...figureChecks,
  ...refusalChecks(contract),
  ...malformedChecks(contract),
  ...transportChecks,
  ...credentialChecks(contract),
];

const writing = (contract: Contract): Check[] => [
  ...refusedChecks(contract),
  reparentCheck,
  ...webhookChecks,
  ...connectorChecks,
  ...fileChecks,
  ...generationChecks,
];

/** What a run does, in its order: what finds objects first, what looks back at every answer last. */
export function checksFor(contract: Contract, write: boolean): readonly Check[] {
  // The other organization may have a smaller plan: it is visited while little of the rate is used.
  return write
    ? [currentOrganizationCheck, ...reading(contract), ...writing(contract), ...headerChecks]
    : [...reading(contract), ...headerChecks];
}
