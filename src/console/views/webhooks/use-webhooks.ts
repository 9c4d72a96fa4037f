import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { shellQuote } from "../../api/copy-request.ts";
import { useOpenApi, useSandbox, useSandboxQuery } from "../../api/queries.ts";
import { durationMs } from "./attempts.ts";

/** Limits the response size, since deliveries contain their payload. */
export const MAX_DELIVERIES = 500;

/** With a running clock, retries happen without an entry in the live stream. */
const RUNNING_MS = 2000;

/** No stream reports requests to a receiver. */
export const SENT_MS = 2000;

function useWhileRunning() {
  const { data: sandbox } = useSandbox();
  return sandbox && sandbox.clock.mode !== "frozen" ? { everyMs: RUNNING_MS } : {};
}

export function useDeliveries(webhook: string | undefined) {
  const options = useWhileRunning();
  return useSandboxQuery(
    ["deliveries", webhook],
    (calls) =>
      calls.records("deliveries", {
        limit: MAX_DELIVERIES,
        ...(webhook === undefined ? {} : { webhook_id: webhook }),
      }),
    options,
  );
}

/** A delivery with the requests and responses that the journal still has. */
export function useDelivery(id: string) {
  return useSandboxQuery(["delivery", id], (calls) => calls.delivery(id), useWhileRunning());
}

export function useWebhooks() {
  return useSandboxQuery(["webhooks"], (calls) => calls.records("webhooks"));
}

/** Retry schedule: milliseconds from the end of each attempt to the next. */
export function useDelays(): readonly number[] {
  const { data } = useSandbox();
  const schedule = data?.settings.retry_schedule;
  return useMemo(() => (schedule ?? []).map(durationMs), [schedule]);
}

/** Sent by `POST /webhooks/ID/test` only. */
const TEST = "webhook.test";

/** Events with their payload schemas. Undefined while loading. */
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

/** Browsers offer `crypto.subtle` on localhost and HTTPS only. */
export const canSign = globalThis.crypto?.subtle !== undefined;

/** Value of the signature header (6.3): `sha256=` and the HMAC in lowercase hex. */
async function sign(secret: string, body: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), algorithm, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(body)));
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

/** A shell command that computes the signature. */
export function opensslCommand(secret: string, body: string): string {
  return `printf '%s' ${shellQuote(body)} | openssl dgst -sha256 -hmac ${shellQuote(secret)}`;
}
