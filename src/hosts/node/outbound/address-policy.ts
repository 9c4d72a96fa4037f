import net from "node:net";
import ipaddr from "ipaddr.js";

/** Decides which addresses the sender may connect to (interfaces, section 7). */
export interface AddressPolicy {
  /** Null if the address is allowed, else the reason. Unreadable addresses are refused in shared mode. */
  findRefusal(address: string): string | null;
}

export interface AddressPolicyOptions {
  /** `local` allows every address; `shared` only public unicast ones and those allowed. */
  mode: "local" | "shared";
  /** CIDR ranges that may be called although they are private, such as `10.1.0.0/16` or `fd00::/8`. */
  allow?: readonly string[] | undefined;
  /** In shared mode: whether public addresses need a range, too. */
  onlyAllowed?: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** IPv6 forms that carry an IPv4 address, and the bit at which it begins. */
const EMBEDDINGS: readonly { name: string; range: Range; bit: number }[] = [
  { name: "6to4", range: ipaddr.parseCIDR("2002::/16"), bit: 16 },
  { name: "NAT64", range: ipaddr.parseCIDR("64:ff9b::/96"), bit: 96 },
];

/** All of IPv6's public unicast space. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** A public address, but the machine's cloud host answers it (metadata and agent traffic). */
const CLOUD_HOST_ADDRESSES = new Set(["168.63.129.16"]);

/** The policy of a tool that runs on the user's own machine. */
export const ALLOW_ALL: AddressPolicy = { findRefusal: () => null };

/**
 * Makes the policy of a server. In shared mode the default is to deny: private, loopback, link-local,
 * carrier-grade NAT, multicast, unspecified and reserved ranges, and IPv6 forms around such IPv4 addresses.
 * @throws {Error} when a range in `allow` is not a CIDR
 */
export function createAddressPolicy({
  mode,
  allow = [],
  onlyAllowed = false,
}: AddressPolicyOptions): AddressPolicy {
  const allowedRanges = allow.map(parseRange);
  if (mode === "local") return ALLOW_ALL;
  return {
    findRefusal(text) {
      if (net.isIP(text) === 0) return `${text} is not an IP address`;
      // An IPv4-mapped address is sent as that IPv4 address, so it is treated as one.
      const address = ipaddr.process(text);
      if (allowedRanges.some((range) => isWithin(address, range))) return null;
      return onlyAllowed ? `${address} is in none of the allowed ranges` : findAddressRefusal(address);
    },
  };
}

function parseRange(text: string): Range {
  try {
    const [address, bits] = ipaddr.parseCIDR(text);
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
      return [address.toIPv4Address(), bits - 96];
    return [address, bits];
  } catch {
    throw new Error(
      `"${text}" is not an address range; write it as a CIDR, for example 10.1.0.0/16 or fd00::/8`,
    );
  }
}

function isWithin(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match([network, bits] as never);
}

function findAddressRefusal(address: Address): string | null {
  if (address instanceof ipaddr.IPv4) return findIPv4Refusal(address);
  for (const { name, range, bit } of EMBEDDINGS) {
    if (!isWithin(address, range)) continue;
    const embedded = new ipaddr.IPv4(address.toByteArray().slice(bit / 8, bit / 8 + 4));
    const reason = findIPv4Refusal(embedded);
    return reason === null ? null : `${address} is a ${name} address, and ${reason}`;
  }
  const range = address.range();
  if (range !== "unicast") return `${address} is ${describeRange(range)}`;
  // IPv4-compatible, site-local and unassigned addresses: ipaddr.js has no name for all of them.
  if (!isWithin(address, GLOBAL_UNICAST)) return `${address} is not a public address`;
  return findIsatapRefusal(address);
}

/** ISATAP hosts tunnel to the IPv4 address in their last 32 bits, whatever their prefix. */
function findIsatapRefusal(address: ipaddr.IPv6): string | null {
  const [, , , , high, low] = address.parts;
  if (low !== 0x5efe || (high !== 0 && high !== 0x0200)) return null;
  const reason = findIPv4Refusal(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return reason === null ? null : `${address} is an ISATAP address, and ${reason}`;
}

function findIPv4Refusal(address: ipaddr.IPv4): string | null {
  const range = address.range();
  if (range !== "unicast") return `${address} is ${describeRange(range)}`;
  if (CLOUD_HOST_ADDRESSES.has(address.toString())) return `${address} belongs to the cloud host`;
  return null;
}

/** `carrierGradeNat` -> `a carrier grade nat address`. */
function describeRange(range: string): string {
  const words = range.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${/^(?!uni)[aeiou]|^rfc/.test(words) ? "an" : "a"} ${words} address`;
}
