// The smaller views are one file of the build: together they are about what a picture weighs, and the package has
// few files. Each stands in its own folder all the same.
export { default as Api } from "./api/index.tsx";
export { default as Coverage } from "./coverage/index.tsx";
export { default as Faults } from "./faults/index.tsx";
export { default as Keys } from "./keys/index.tsx";
export { default as Sandboxes } from "./sandboxes/index.tsx";
export { default as Time } from "./time/index.tsx";
export { default as Webhooks } from "./webhooks/index.tsx";
