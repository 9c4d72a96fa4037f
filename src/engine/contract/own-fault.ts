/** A defect of an own operation: the request is answered 500, the timeline and the log have the sentence. */
export class OwnFault extends Error {
  override readonly name = "OwnFault";
}
