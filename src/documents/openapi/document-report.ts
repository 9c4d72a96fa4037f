import type { JsonObject } from "../../engine/contract/schema.ts";
import type { DocumentPath, DocumentProblem } from "../../engine/documents/document-error.ts";
import {
  locateProblem,
  type ProblemDetails,
  type UserDocument,
} from "../../engine/documents/user-document.ts";
import { groupBy } from "../../engine/maps.ts";

/** A part of a document that is not used, and its place. */
export interface UnsupportedFeature {
  feature: string;
  path: DocumentPath;
}

/** Collects the problems and warnings of an OpenAPI document. */
export class DocumentReport {
  readonly problems: DocumentProblem[] = [];
  private readonly document: UserDocument;
  private readonly missing: UnsupportedFeature[] = [];
  private readonly clashes: DocumentProblem[] = [];
  private readonly unsupported: UnsupportedFeature[] = [];

  constructor(document: UserDocument) {
    this.document = document;
  }

  addProblem(
    path: DocumentPath,
    message: string,
    { hint, pointsAtKey }: Pick<ProblemDetails, "hint" | "pointsAtKey"> = {},
  ): void {
    this.problems.push(locateProblem(this.document, { path, message, hint, pointsAtKey }));
  }

  /** Features that are not supported are reported once each, at their first place. */
  warn(feature: string, path: DocumentPath): void {
    this.unsupported.push({ feature, path });
  }

  warnOfClash(path: DocumentPath, message: string, pointsAtKey: boolean): void {
    this.clashes.push(locateProblem(this.document, { path, message, pointsAtKey }));
  }

  /** Warns of a reference to what the document lacks. */
  warnOfMissing(
    { $ref: reference }: JsonObject,
    path: DocumentPath,
    { isSchema, hint }: { isSchema: boolean; hint: string | undefined },
  ): void {
    const effect = isSchema ? "any value fits" : "it is left out";
    const suggestion = hint === undefined ? "" : ` (did you mean ${JSON.stringify(hint)}?)`;
    const feature = `the reference ${JSON.stringify(reference)} leads nowhere, so ${effect}${suggestion}`;
    this.missing.push({ feature, path });
  }

  listWarnings(): DocumentProblem[] {
    const { document, missing, clashes, unsupported } = this;
    return [...warnOfEach(document, missing, ""), ...clashes, ...warnOfUnsupported(document, unsupported)];
  }
}

/** Warns of each feature once, at its first place. */
export function warnOfUnsupported(
  document: UserDocument,
  found: readonly UnsupportedFeature[],
): DocumentProblem[] {
  return warnOfEach(document, found, "not supported: ");
}

function warnOfEach(
  document: UserDocument,
  found: readonly UnsupportedFeature[],
  start: string,
): DocumentProblem[] {
  return [...groupBy(found, ({ feature }) => feature)].map(([feature, [first, ...others]]) => {
    const more = others.length === 0 ? "" : ` and ${others.length} more of them`;
    return locateProblem(document, { path: first!.path, message: `${start}${feature}${more}` });
  });
}
