import "../hosts/node/platform.ts";
import { watchOutput } from "./process.ts";
import { run } from "./run.ts";

watchOutput();
await run(process.argv.slice(2));
