import { useQuery } from "@tanstack/react-query";
import { quoteForShell } from "../../../tools/grader/curl.ts";

/** Browsers offer `crypto.subtle` on localhost and HTTPS only. */
export const canSign = globalThis.crypto?.subtle !== undefined;

/** Value of the signature header (section 6.3): `sha256=` and the HMAC in lowercase hex. */
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
