import type { Check } from "../check.ts";
import type { Contract } from "../contract.ts";
import { answerChecks } from "./answers.ts";
import { credentialChecks } from "./credentials.ts";
import { figureChecks } from "./figures.ts";
import { fileChecks, generationChecks } from "./file-writes.ts";
import { headerChecks } from "./headers.ts";
import { logChecks } from "./logs.ts";
import { malformedChecks, transportChecks } from "./malformed.ts";
import { pageChecks } from "./pages.ts";
import { refusalChecks, refusedChecks } from "./refusals.ts";
import { transcriptChecks } from "./transcripts.ts";
import { connectorChecks, currentOrganizationCheck, reparentCheck, webhookChecks } from "./writes.ts";

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

/** The checks of a run in their order: first those that find objects, last those that read every answer. */
export function checksFor(contract: Contract, write: boolean): readonly Check[] {
  // The other organization may have a smaller plan: it is visited while little of the rate is used.
  return write
    ? [currentOrganizationCheck, ...reading(contract), ...writing(contract), ...headerChecks]
    : [...reading(contract), ...headerChecks];
}
