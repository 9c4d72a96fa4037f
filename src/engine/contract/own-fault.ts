/** A defect of an own operation: the request is answered 500, the timeline and the log have the sentence. */
export class OwnFault extends Error {
  override readonly name = "OwnFault";
  /** The id or name of the declaration. */
  readonly subject: string | undefined;

  constructor(
    message: string,
    { subject, ...options }: ErrorOptions & { subject?: string | undefined } = {},
  ) {
    super(message, options);
    this.subject = subject;
  }
}
