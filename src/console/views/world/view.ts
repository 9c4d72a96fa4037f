import type { View } from "../view.ts";

export const WORLD: View = {
  id: "world",
  title: "World",
  about: "Every record, departments as a tree, limits, snapshots",
  icon: "M10 3a7 7 0 1 1 0 14a7 7 0 1 1 0-14zM3 10h14M10 3c5 4 5 10 0 14M10 3c-5 4-5 10 0 14",
  load: () => import("./index.tsx"),
};
