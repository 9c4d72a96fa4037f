/** A defect of a user's own operation. The request is answered 500; the message is in the timeline and the log. */
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
