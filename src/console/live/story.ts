import type { Live, RequestLine } from "../api/types.ts";

/** What has happened in a sandbox as far as the page knows. Each batch makes a new value. */
export interface Story {
  /** Oldest first. */
  requests: readonly RequestLine[];
  dropped: number;
  /** Grows with each batch. */
  version: number;
}

export const NOTHING_YET: Story = { requests: [], dropped: 0, version: 0 };

/** As many as a journal may hold (interfaces 4). */
const MAX_LINES = 100_000;

/** The story with a batch of messages added. */
export function continued(story: Story, batch: readonly Live[]): Story {
  const from = batch.findLastIndex(({ begins }) => begins);
  const fresh = from < 0 ? batch : batch.slice(from);
  const before = from < 0 ? story.requests : [];
  const requests = before.concat(fresh.flatMap(({ requests }) => requests));
  return {
    requests: requests.length > MAX_LINES ? requests.slice(-MAX_LINES) : requests,
    dropped: fresh.at(-1)?.dropped ?? story.dropped,
    version: story.version + 1,
  };
}
