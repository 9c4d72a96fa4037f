import type { View } from "../view.ts";

export const KEYS: View = {
  id: "keys",
  title: "Keys",
  about: "API keys: made here, shown once",
  icon: "M7 4a4 4 0 1 1 0 8a4 4 0 1 1 0-8zM9.8 10.8l6.7 6.7M13.5 14.5l2-2",
  load: () => import("../smaller.ts").then(({ Keys }) => ({ default: Keys })),
};
