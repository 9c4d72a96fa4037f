import type { View } from "../view.ts";

export const TIME: View = {
  id: "time",
  title: "Time",
  about: "The sandbox's clock, what is pending, what ran",
  icon: "M10 2.5a7.5 7.5 0 1 1 0 15a7.5 7.5 0 1 1 0-15zM10 6v4.3l3 1.7",
  load: () => import("../smaller.ts").then(({ Time }) => ({ default: Time })),
};
