import { run } from "./run.ts";

// A reader that has seen enough (`understudy openapi | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

await run(process.argv.slice(2));
