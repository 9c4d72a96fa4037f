import { createApp } from "./express-routes.mjs";
import { portArgument } from "./workload.mjs";

createApp().listen(portArgument(), "127.0.0.1");
