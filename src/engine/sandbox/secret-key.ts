import { createHash, createHmac } from "node:crypto";

/** interfaces 5: from seed, name and number of resets, and on a shared server from its own key too. */
export function secretKeyOf(
  { seed, name, resets }: { readonly seed: number; readonly name: string; readonly resets: number },
  serverKey: Uint8Array | undefined,
): string {
  const hash = serverKey === undefined ? createHash("sha256") : createHmac("sha256", serverKey);
  return hash.update(`${seed}\u0000${name}\u0000${resets}`).digest("hex");
}
