import type { Check } from "../check.ts";
import type { Contract } from "../contract.ts";
import { READING_REFUSALS, WRITING_REFUSALS } from "../refusal-cases.ts";
import { createAnswerChecks } from "./answers.ts";
import { createCredentialChecks } from "./credentials.ts";
import { figureChecks } from "./figures.ts";
import { fileChecks } from "./file-writes.ts";
import { headerChecks } from "./headers.ts";
import { listingChecks } from "./listings.ts";
import { logChecks } from "./logs.ts";
import { createMalformedChecks } from "./malformed.ts";
import { createOwnChecks } from "./own-operations.ts";
import { createRefusalChecks } from "./refusals.ts";
import { transcriptChecks } from "./transcripts.ts";
import { currentOrganizationCheck, writeChecks } from "./writes.ts";

/** The checks of a run in their order: first those that find objects, last those that read every answer. */
export function listChecks(contract: Contract, { write }: { write: boolean }): readonly Check[] {
  const writing = [
    ...createRefusalChecks(contract, WRITING_REFUSALS, "writes"),
    ...writeChecks,
    ...fileChecks,
  ];
  return [
    ...(write ? [currentOrganizationCheck] : []),
    ...createAnswerChecks(contract),
    ...listingChecks,
    ...logChecks,
    ...transcriptChecks,
    ...figureChecks,
    ...createOwnChecks(contract),
    ...createRefusalChecks(contract, READING_REFUSALS, "refusals"),
    ...createMalformedChecks(contract),
    ...createCredentialChecks(contract),
    ...(write ? writing : []),
    ...headerChecks,
  ];
}
