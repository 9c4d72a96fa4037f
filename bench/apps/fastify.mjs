import Fastify from "fastify";
import { makeDepartment, readPortArgument, reparent, routeNames } from "./workload.mjs";

const app = Fastify();
for (const name of routeNames) {
  const records = new Map([["dept_infra", makeDepartment()]]);
  app.get(`/v1/${name}/:id`, (request, reply) => {
    const record = records.get(request.params.id);
    if (!record) return reply.code(404).send({ error: "not found" });
    reply.send(record);
  });
  app.post(`/v1/${name}/:id/reparent`, (request, reply) => {
    const record = records.get(request.params.id);
    if (!record) return reply.code(404).send({ error: "not found" });
    reply.send(reparent(record, request.body.new_parent_id));
  });
}
await app.listen({ port: readPortArgument(), host: "127.0.0.1" });
