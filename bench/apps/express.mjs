import { idiomaticApp } from "./express-routes.mjs";
import { portArgument } from "./workload.mjs";

idiomaticApp().listen(portArgument(), "127.0.0.1");
