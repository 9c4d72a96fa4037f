import type { View } from "../view.ts";

export const COVERAGE: View = {
  id: "coverage",
  title: "Coverage",
  about: "Which documented outcomes were seen",
  icon: "M3 3h5v5h-5zM12 3h5v5h-5zM3 12h5v5h-5zM12 12h5v5h-5z",
  load: () => import("../smaller.ts").then(({ Coverage }) => ({ default: Coverage })),
};
