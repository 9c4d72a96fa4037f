import { throughput } from "../throughput.mjs";

export const about = "POST reparent, a real change with its audit entry";

export function measure(run) {
  return throughput({ what: "POST", call: "post", goals: { floor: 0.4, peer: 1.5 }, run });
}
