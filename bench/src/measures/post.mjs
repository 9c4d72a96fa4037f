import { measureThroughput } from "../throughput.mjs";

export const about = "POST reparent, a real change with its audit entry";

export function measure(run) {
  return measureThroughput({ what: "POST", call: "post", goals: { floor: 0.4, peer: 1.5 }, run });
}
