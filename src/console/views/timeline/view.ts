import type { View } from "../view.ts";

export const TIMELINE: View = {
  id: "timeline",
  title: "Timeline",
  about: "What happened, why, and what it changed",
  icon: "M3 5h9M3 10h14M6 15h8",
  load: () => import("./index.tsx"),
};
