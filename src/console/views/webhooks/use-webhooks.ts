import { useMemo } from "react";
import { parseDuration } from "../../../engine/contract/duration.ts";
import { useOpenApi, useRecords, useSandbox } from "../../api/queries.ts";
import type { Choice } from "../../components/form.tsx";

export function useWebhooks() {
  const { data, error } = useRecords("webhooks");
  return { webhooks: data?.items, error };
}

export function useWebhookChoices(first: Choice): Choice[] {
  const { webhooks = [] } = useWebhooks();
  return [
    first,
    ...webhooks.map(({ webhook_id, url, active }) => ({
      id: webhook_id,
      title: url,
      detail: active ? webhook_id : `${webhook_id}, inactive`,
    })),
  ];
}

/** Retry schedule, of which five delays count: milliseconds from the end of each attempt to the next. */
export function useRetryDelays(): readonly number[] {
  const { data } = useSandbox();
  return (data?.settings.retry_schedule ?? []).slice(0, 5).map((delay) => parseDuration(delay)!);
}

/** Sent by `POST /webhooks/ID/test` only. */
const TEST_EVENT = "webhook.test";

/** Events that webhooks can subscribe to, as choices. Undefined while loading. */
export function useEventChoices(): Choice[] | undefined {
  const { data } = useOpenApi();
  return useMemo(
    () =>
      data &&
      Object.entries(data.webhooks)
        .filter(([name]) => name !== TEST_EVENT)
        .map(([name, { post }]) => ({ id: name, title: name, detail: post.summary })),
    [data],
  );
}
