import { throughput } from "../throughput.mjs";

export const about = "POST reparent, a real change with its audit entry";

const nodeMajor = Number(process.versions.node.split(".")[0]);

export function measure(run) {
  const goals = { floor: 0.4, express: nodeMajor >= 24 ? undefined : 2.5 };
  return throughput({ what: "POST", call: "post", goals, run });
}
