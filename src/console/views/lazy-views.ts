// Views that share one chunk of the build, since each of them is small.
export { default as Api } from "./api/index.tsx";
export { default as Coverage } from "./coverage/index.tsx";
export { default as Faults } from "./faults/index.tsx";
export { default as Keys } from "./keys/index.tsx";
export { default as Sandboxes } from "./sandboxes/index.tsx";
export { default as Time } from "./time/index.tsx";
export { default as Webhooks } from "./webhooks/index.tsx";
