export interface Unseen {
  what: string;
  /** How to find it out in the receiver's code. */
  how: string;
}

/** What no answer and no side effect shows, and how to look for it: said once in every report. */
export const UNSEEN: readonly Unseen[] = [
  {
    what: "Whether signatures are compared in constant time",
    how: "Look for crypto.timingSafeEqual (Node), hmac.compare_digest (Python), hash_equals (PHP), hmac.Equal (Go), MessageDigest.isEqual (Java), Rack::Utils.secure_compare or OpenSSL.fixed_length_secure_compare (Ruby) where the header is compared; == or equals there is not it.",
  },
  {
    what: "Whether delivery ids are kept for 24 hours, and survive a restart",
    how: "Look where they are written: a table with a unique key and no expiry below a day will do; a Set, a Map or a cache in the process forgets them when it ends. --memory 70 waits for longer than the first retry's minute.",
  },
  {
    what: "Whether work that was acknowledged survives a crash",
    how: "Between the 2xx and the side effect there must be something on disk: the side effect itself, or a row or message that a worker picks up again.",
  },
  {
    what: "Whether the event is taken from what is signed",
    how: "X-Service-Event and X-Service-Delivery are not covered by the signature: dispatch and deduplicate by the body's event and delivery_id.",
  },
];
