import { useQuery } from "@tanstack/react-query";

/** Whether this browser computes digests here: off loopback it does so over https alone. */
export const canSign = globalThis.crypto?.subtle !== undefined;

/** The header's value over exactly these bytes (6.3): `sha256=` and the HMAC in lower-case hex. */
async function sign(secret: string, body: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), algorithm, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(body)));
  return `sha256=${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The same once it is computed; undefined before, without a secret, and where this browser cannot. */
export function useSignature(secret: string | undefined, body: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["signature", secret, body],
    queryFn: () => sign(secret!, body),
    enabled: canSign && secret !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

/** A command line that computes the same, for whoever doubts it. */
export function opensslCommand(secret: string, body: string): string {
  return `printf '%s' ${quoted(body)} | openssl dgst -sha256 -hmac ${quoted(secret)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
