import type { JsonObject } from "../../engine/contract/schema.ts";
import type { DocumentPath, DocumentProblem } from "../../engine/documents/document-error.ts";
import {
  locateProblem,
  type ProblemDetails,
  type UserDocument,
} from "../../engine/documents/user-document.ts";
import { groupBy } from "../../engine/maps.ts";

/** A part of a document that is not used, as a noun with the effect in brackets, and its place. */
export interface UnsupportedFeature {
  feature: string;
  path: DocumentPath;
}

interface PlacedText {
  text: string;
  path: DocumentPath;
}

/** Collects the problems and warnings of an OpenAPI document. */
export class DocumentReport {
  readonly problems: DocumentProblem[] = [];
  private readonly document: UserDocument;
  private readonly missing: PlacedText[] = [];
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

  warnOfUnsupported(feature: string, path: DocumentPath): void {
    this.unsupported.push({ feature, path });
  }

  /** Warns of an operation that another one replaces, or whose id another one has. */
  warnOfClash(path: DocumentPath, message: string, pointsAtKey: boolean): void {
    this.clashes.push(locateProblem(this.document, { path, message, pointsAtKey }));
  }

  /** Warns of a reference that leads nowhere; `suggestion` is a similar one that does not. */
  warnOfMissing(
    { $ref: reference }: JsonObject,
    path: DocumentPath,
    { isSchema, suggestion }: { isSchema: boolean; suggestion: string | undefined },
  ): void {
    const effect = isSchema ? "any value fits" : "it is left out";
    const question = suggestion === undefined ? "" : ` (did you mean ${JSON.stringify(suggestion)}?)`;
    const text = `the reference ${JSON.stringify(reference)} leads nowhere, so ${effect}${question}`;
    this.missing.push({ text, path });
  }

  listWarnings(): DocumentProblem[] {
    const { document, missing, clashes, unsupported } = this;
    return [...toWarnings(document, missing), ...clashes, ...toUnsupportedWarnings(document, unsupported)];
  }
}

export function toUnsupportedWarnings(
  document: UserDocument,
  unsupported: readonly UnsupportedFeature[],
): DocumentProblem[] {
  return toWarnings(
    document,
    unsupported.map(({ feature, path }) => ({ text: `not supported: ${feature}`, path })),
  );
}

/** One warning for each text, at its first place, with the number of its other places. */
function toWarnings(document: UserDocument, texts: readonly PlacedText[]): DocumentProblem[] {
  return [...groupBy(texts, ({ text }) => text)].map(([text, [first, ...others]]) => {
    const more = others.length === 0 ? "" : ` and ${others.length} more of them`;
    return locateProblem(document, { path: first!.path, message: `${text}${more}` });
  });
}
