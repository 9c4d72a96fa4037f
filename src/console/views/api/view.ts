import type { View } from "../view.ts";

export const API: View = {
  id: "api",
  title: "API",
  about: "Every operation, what is assumed of it, tried out as anyone",
  icon: "M7 5l-4 5l4 5M13 5l4 5l-4 5M11 4l-2 12",
  load: () => import("../smaller.ts").then(({ Api }) => ({ default: Api })),
};
