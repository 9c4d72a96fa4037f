import type { View } from "../view.ts";

export const WEBHOOKS: View = {
  id: "webhooks",
  title: "Webhooks",
  about: "Deliveries and their retries, events to trigger, receivers, the receiver test",
  icon: "M10 3.5a3.5 3.5 0 0 1 2 6.4l2.4 4.1M7.5 14.5a3.5 3.5 0 1 1-3.3-4.4M8.2 8.6l-3 5M16 11.2a3.5 3.5 0 1 1-3.8 5.2H9",
  load: () => import("../smaller.ts").then(({ Webhooks }) => ({ default: Webhooks })),
};
