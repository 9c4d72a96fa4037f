import { useMemo } from "react";
import { useOpenApi } from "../../api/queries.ts";

/** Sent to one webhook by its own call, and never because something happened. */
const TEST = "webhook.test";

/** Events that can happen, with what each tells of; the same array each time. Undefined until the server has said. */
export function useEvents() {
  const { data } = useOpenApi();
  return useMemo(
    () =>
      data &&
      Object.entries(data.webhooks ?? {})
        .filter(([name]) => name !== TEST)
        .map(([name, { post }]) => ({ name, post })),
    [data],
  );
}
