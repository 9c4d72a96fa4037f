import type { View } from "../view.ts";

export const SANDBOXES: View = {
  id: "sandboxes",
  title: "Sandboxes",
  about: "Every world of this server: switch, create, reset, fork, delete",
  icon: "M3 6l7-3.5L17 6l-7 3.5zM3 10l7 3.5L17 10M3 14l7 3.5L17 14",
  load: () => import("../smaller.ts").then(({ Sandboxes }) => ({ default: Sandboxes })),
};
