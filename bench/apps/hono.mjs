import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { makeDepartment, readPortArgument, reparent, routeNames } from "./workload.mjs";

const app = new Hono();
for (const name of routeNames) {
  const records = new Map([["dept_infra", makeDepartment()]]);
  app.get(`/v1/${name}/:id`, (c) => {
    const record = records.get(c.req.param("id"));
    return record ? c.json(record) : c.json({ error: "not found" }, 404);
  });
  app.post(`/v1/${name}/:id/reparent`, async (c) => {
    const record = records.get(c.req.param("id"));
    if (!record) return c.json({ error: "not found" }, 404);
    const body = await c.req.json();
    return c.json(reparent(record, body.new_parent_id));
  });
}
serve({ fetch: app.fetch, port: readPortArgument(), hostname: "127.0.0.1" });
