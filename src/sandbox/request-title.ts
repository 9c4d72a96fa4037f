/** What the sentence about a request is made of. */
export interface AskedRequest {
  /** Its operation's. */
  summary: string;
  /** Who asked, by id. */
  principal: string | undefined;
  /** What the client was told, where that was a refusal although it was done. */
  refusal: string | undefined;
}

export function requestTitle({ summary, principal, refusal }: AskedRequest): string {
  const asked = `${principal ?? "Somebody"} asked to ${summary[0]!.toLowerCase()}${summary.slice(1)}`;
  return refusal === undefined ? `${asked}.` : `${asked}; it was done, but answered ${refusal}.`;
}
