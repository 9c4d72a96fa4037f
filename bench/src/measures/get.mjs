import { asAda, FILE_STATUS, understudy } from "../subjects/understudy.mjs";
import { throughput } from "../throughput.mjs";

export const about = "GET of a department-sized answer";

// Express 5 pays for swapping prototypes on Node 20 and 22 only, so the goal beside it depends on Node.
const nodeMajor = Number(process.versions.node.split(".")[0]);
const fileStatus = {
  ...understudy,
  name: "Understudy, file status",
  get: { path: FILE_STATUS, headers: asAda },
};

export function measure(run) {
  const goals = { floor: 0.5, express: nodeMajor >= 24 ? 1 : 3.5 };
  return throughput({ what: "GET", call: "get", goals, extra: [fileStatus], run });
}
