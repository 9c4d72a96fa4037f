/** What happened to a sandbox cannot be told by a bundle; `advice` says what would help (interfaces 4). */
export class BundleRefusal extends Error {
  override readonly name = "BundleRefusal";
  readonly kind: "not-replayable" | "journal-incomplete";
  readonly advice: string;

  constructor(kind: BundleRefusal["kind"], detail: string, advice: string) {
    super(detail);
    this.kind = kind;
    this.advice = advice;
  }
}
