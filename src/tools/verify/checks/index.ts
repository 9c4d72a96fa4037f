import type { Check } from "../check.ts";
import type { Contract } from "../contract.ts";
import { createAnswerChecks } from "./answers.ts";
import { createCredentialChecks } from "./credentials.ts";
import { figureChecks } from "./figures.ts";
import { fileChecks } from "./file-writes.ts";
import { headerChecks } from "./headers.ts";
import { listingChecks } from "./listings.ts";
import { logChecks } from "./logs.ts";
import { createMalformedChecks, transportChecks } from "./malformed.ts";
import { createOwnChecks } from "./own-operations.ts";
import { createReadingRefusalChecks, createWritingRefusalChecks } from "./refusals.ts";
import { transcriptChecks } from "./transcripts.ts";
import { currentOrganizationCheck, writeChecks } from "./writes.ts";

const createReadingChecks = (contract: Contract): Check[] => [
  ...createAnswerChecks(contract),
  ...listingChecks,
  ...logChecks,
  ...transcriptChecks,
  ...figureChecks,
  ...createOwnChecks(contract),
  ...createReadingRefusalChecks(contract),
  ...createMalformedChecks(contract),
  ...transportChecks,
  ...createCredentialChecks(contract),
];

/** The checks of a run in their order: first those that find objects, last those that read every answer. */
export function listChecks(contract: Contract, { write }: { write: boolean }): readonly Check[] {
  return write
    ? [
        currentOrganizationCheck,
        ...createReadingChecks(contract),
        ...createWritingRefusalChecks(contract),
        ...writeChecks,
        ...fileChecks,
        ...headerChecks,
      ]
    : [...createReadingChecks(contract), ...headerChecks];
}
