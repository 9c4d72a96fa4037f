import { createApp } from "./express-routes.mjs";
import { readPortArgument } from "./workload.mjs";

createApp().listen(readPortArgument(), "127.0.0.1");
