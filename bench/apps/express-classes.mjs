// The same Express application, but Node creates its requests and responses with Express's prototypes. Express then
// need not change the prototypes of each request, which makes V8 discard optimized code.
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { createApp } from "./express-routes.mjs";
import { readPortArgument } from "./workload.mjs";

class Request extends IncomingMessage {}
class Response extends ServerResponse {}

const app = createApp();
Object.setPrototypeOf(Request.prototype, app.request);
Object.setPrototypeOf(Response.prototype, app.response);
app.request = Request.prototype;
app.response = Response.prototype;
createServer({ IncomingMessage: Request, ServerResponse: Response }, app).listen(
  readPortArgument(),
  "127.0.0.1",
);
