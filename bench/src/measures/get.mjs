import { asAda, FILE_STATUS, understudy } from "../subjects/understudy.mjs";
import { measureThroughput } from "../throughput.mjs";

export const about = "GET of a department-sized answer";

const fileStatus = {
  ...understudy,
  name: "Understudy, file status",
  get: { path: FILE_STATUS, headers: asAda },
};

export function measure(run) {
  return measureThroughput({
    what: "GET",
    call: "get",
    goals: { floor: 0.6, peer: 1.2 },
    extra: [fileStatus],
    run,
  });
}
