// The same Express application, but Node's request and response objects are born with Express's
// prototypes, so that nothing swaps them per request (which makes V8 throw its optimised code away).
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { idiomaticApp } from "./express-routes.mjs";
import { portArgument } from "./workload.mjs";

class Request extends IncomingMessage {}
class Response extends ServerResponse {}

const app = idiomaticApp();
Object.setPrototypeOf(Request.prototype, app.request);
Object.setPrototypeOf(Response.prototype, app.response);
app.request = Request.prototype;
app.response = Response.prototype;
createServer({ IncomingMessage: Request, ServerResponse: Response }, app).listen(portArgument(), "127.0.0.1");
