import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { parseDuration } from "../../../engine/contract/duration.ts";
import { quoteForShell } from "../../api/copy-request.ts";
import { useOpenApi, useRecords, useSandbox } from "../../api/queries.ts";
import type { Choice } from "../../components/form.tsx";

/** No stream reports requests to a receiver. */
export const RECEIVED_POLL_MS = 2000;

export function useWebhooks() {
  const { data, error } = useRecords("webhooks");
  return { webhooks: data?.items, error };
}

/** Webhooks as choices of a form, after a first choice. */
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

/** Retry schedule: milliseconds from the end of each attempt to the next. */
export function useRetryDelays(): readonly number[] {
  const { data } = useSandbox();
  return (data?.settings.retry_schedule ?? []).map((delay) => parseDuration(delay)!);
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

/** Browsers offer `crypto.subtle` on localhost and HTTPS only. */
export const canSign = globalThis.crypto?.subtle !== undefined;

/** Value of the signature header (6.3): `sha256=` and the HMAC in lowercase hex. */
async function sign(secret: string, body: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(body)));
  return `sha256=${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Undefined while computing, without a secret, or without `crypto.subtle`. */
export function useSignature(secret: string | undefined, body: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["signature", secret, body],
    queryFn: () => sign(secret!, body),
    enabled: canSign && secret !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

export function formatOpensslCommand(secret: string, body: string): string {
  return `printf '%s' ${quoteForShell(body)} | openssl dgst -sha256 -hmac ${quoteForShell(secret)}`;
}
