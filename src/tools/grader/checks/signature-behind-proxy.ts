import type { Check } from "../check.ts";
import { expectRefused } from "../expectations.ts";
import { forgeries } from "../forged-check.ts";

type Header = readonly [name: string, value: string];

const FORWARDED = ["X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"];
const LOCAL = ["127.0.0.1", "10.0.0.1"];

/** What proxies and colleagues add, one by one, then that of proxies all at once. */
const DISGUISES: { label: string; headers: Header[] }[] = [
  ...FORWARDED.flatMap((name) => LOCAL.map((ip) => disguise([name, ip]))),
  ...LOCAL.map((ip) => disguise(["Forwarded", `for=${ip};proto=https`])),
  disguise(["X-Forwarded-Proto", "https"]),
  disguise(["X-Forwarded-Host", "localhost"]),
  disguise(["X-Forwarded-Port", "443"]),
  disguise(["X-Forwarded-Server", "gateway.internal"]),
  disguise(["Via", "1.1 gateway.internal"]),
  disguise(["X-Envoy-Internal", "true"]),
  disguise(["X-Internal-Request", "true"]),
  disguise(["X-Debug", "true"]),
  disguise(["Authorization", "Bearer internal"]),
  ...LOCAL.map((ip) => ({
    label: `every header of a proxy, from ${ip}`,
    headers: [
      ...FORWARDED.map((name): Header => [name, ip]),
      ["Forwarded", `for=${ip};proto=https`] as const,
      ["X-Forwarded-Proto", "https"] as const,
      ["X-Forwarded-Host", "localhost"] as const,
      ["X-Forwarded-Port", "443"] as const,
    ],
  })),
];

export const signatureBehindProxy: Check = {
  id: "signature-behind-proxy",
  title: "Verifies the signature whatever other headers say",
  severity: "critical",
  why: "Anyone can write X-Forwarded-For and the like; a receiver that trusts what seems to come from within needs no signature from an attacker.",
  advice: "Verify every delivery; let no header but X-Service-Signature have a say in it.",
  run: (session) =>
    expectRefused(
      session,
      DISGUISES.flatMap(({ label, headers }) => forgeries(session, { label, transport: { headers } })),
      { anyRefusal: true },
    ),
};

function disguise(header: Header): { label: string; headers: Header[] } {
  return { label: `${header[0]}: ${header[1]}`, headers: [header] };
}
