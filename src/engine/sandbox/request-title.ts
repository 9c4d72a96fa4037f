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

/** How a request was answered, as the journal has it. */
export interface AnsweredWith {
  /** 0 where the client saw none. */
  readonly status: number;
  readonly code: string | null;
  /** Its position in the journal. */
  readonly sequence: number;
}

/** What the client was told, where that was a refusal although it was done. */
export function refusalOf({ status, code }: AnsweredWith): string | undefined {
  if (status === 0) return "by a broken connection";
  if (status < 400) return undefined;
  return code === null ? String(status) : `${status} ${code}`;
}
