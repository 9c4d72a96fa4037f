import dns from "node:dns";
import net from "node:net";
import { isLocalhost } from "../../../engine/contract/http-url.ts";
import { getOrAdd } from "../../../engine/maps.ts";
import type { AddressPolicy } from "./address-policy.ts";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Gives all addresses of a name; rejects with Node's error codes (ENOTFOUND ...) when there are none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The policy forbids every address of the target; the message has an address and the reason. */
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

const MAX_LOOKUPS = 2;

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * The allowed addresses of a URL's host: resolved once, and checked by the policy. The caller must connect to these and
 * never resolve the name again, since another result would bypass the check.
 * @throws {ForbiddenAddressError} if no address is allowed, with the reason for the first
 * @throws {Error} with Node's `code` when the name has no address
 */
export async function resolveTarget(
  hostname: string,
  policy: AddressPolicy,
  lookup: Lookup,
): Promise<readonly ResolvedAddress[]> {
  const addresses = await resolveAddresses(hostname, lookup);
  const refusals = addresses.map(({ address }) => policy.findRefusal(address));
  const allowedAddresses = addresses.filter((_, i) => refusals[i] === null);
  if (allowedAddresses.length === 0) throw new ForbiddenAddressError(`not called: ${refusals[0]}`);
  return allowedAddresses;
}

/** `hostname` as in a WHATWG URL, which has already turned 0177.1, 0x7f000001 and 2130706433 into 127.0.0.1. */
async function resolveAddresses(hostname: string, lookup: Lookup): Promise<readonly ResolvedAddress[]> {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const family = net.isIP(literal);
  if (family !== 0) return [{ address: literal, family: family as 4 | 6 }];
  // Localhost names are this machine, without a resolver (RFC 6761).
  if (isLocalhost(hostname.toLowerCase())) return LOOPBACK;
  const addresses = await lookup(hostname);
  if (addresses.length === 0)
    throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
  return addresses;
}

/** A lookup for a connection to these addresses, whatever its host name is. */
export function toLookup(addresses: readonly ResolvedAddress[]): net.LookupFunction {
  return (_hostname, { all }, callback) =>
    all ? callback(null, [...addresses]) : callback(null, addresses[0]!.address, addresses[0]!.family);
}

/**
 * The system's resolver, so that the hosts file counts. It runs on Node's small pool of threads, where a few lookups
 * without an answer would block file access: so at most two run at once, and one per name.
 */
export function createSystemLookup(): Lookup {
  const running = new Map<string, Promise<readonly ResolvedAddress[]>>();
  const waiting: (() => void)[] = [];
  let freeSlots = MAX_LOOKUPS;

  const resolve = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    if (freeSlots === 0) await new Promise<void>((start) => waiting.push(start));
    else freeSlots -= 1;
    try {
      const addresses = await dns.promises.lookup(hostname, { all: true, verbatim: true });
      return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
    } finally {
      running.delete(hostname);
      const startNext = waiting.shift();
      if (startNext) startNext();
      else freeSlots += 1;
    }
  };

  return (hostname) => getOrAdd(running, hostname, () => resolve(hostname));
}
