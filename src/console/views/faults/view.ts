import type { View } from "../view.ts";

export const FAULTS: View = {
  id: "faults",
  title: "Faults",
  about: "Scenarios to switch on, rules to compose",
  icon: "M11 2.5L4.5 11.5H10L9 17.5l6.5-9H10z",
  load: () => import("../smaller.ts").then(({ Faults }) => ({ default: Faults })),
};
