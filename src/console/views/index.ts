import { API } from "./api/view.ts";
import { COVERAGE } from "./coverage/view.ts";
import { FAULTS } from "./faults/view.ts";
import { KEYS } from "./keys/view.ts";
import { SANDBOXES } from "./sandboxes/view.ts";
import { TIME } from "./time/view.ts";
import { TIMELINE } from "./timeline/view.ts";
import type { View } from "./view.ts";
import { WEBHOOKS } from "./webhooks/view.ts";
import { WORLD } from "./world/view.ts";

/** In the order of the navigation; the first is home. */
export const VIEWS: readonly View[] = [
  TIMELINE,
  FAULTS,
  TIME,
  WEBHOOKS,
  WORLD,
  API,
  COVERAGE,
  KEYS,
  SANDBOXES,
];
export const HOME = TIMELINE;
