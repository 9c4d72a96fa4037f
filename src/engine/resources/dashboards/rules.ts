import type { ShareLink } from "./schema.ts";

/** Section 3.4: the link stays and remembers when it was first revoked; again changes nothing. */
export function revoked(link: ShareLink, now: number): ShareLink {
  return link.status === "revoked" ? link : { ...link, status: "revoked", revoked_at: now };
}
