/** What the sentence about a request is made of. */
export interface AskedRequest {
  /** Its operation's. */
  readonly summary: string;
  /** Who asked, by id. */
  readonly principal: string | undefined;
}

/** @param refusal what the client was told, where that was a refusal although it was done */
export function requestTitle({ summary, principal }: AskedRequest, refusal?: string): string {
  const asked = `${principal ?? "Somebody"} asked to ${summary[0]!.toLowerCase()}${summary.slice(1)}`;
  return refusal === undefined ? `${asked}.` : `${asked}; it was done, but answered ${refusal}.`;
}
