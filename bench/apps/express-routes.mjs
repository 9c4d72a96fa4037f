import express from "express";
import { makeDepartment, reparent, routeNames } from "./workload.mjs";

/** Express 5 in the usual style: the JSON body parser, a list of routes, res.json. */
export function createApp() {
  const app = express();
  app.use(express.json());
  for (const name of routeNames) {
    const records = new Map([["dept_infra", makeDepartment()]]);
    app.get(`/v1/${name}/:id`, (req, res) => {
      const record = records.get(req.params.id);
      if (!record) return res.status(404).json({ error: "not found" });
      res.json(record);
    });
    app.post(`/v1/${name}/:id/reparent`, (req, res) => {
      const record = records.get(req.params.id);
      if (!record) return res.status(404).json({ error: "not found" });
      res.json(reparent(record, req.body.new_parent_id));
    });
  }
  return app;
}
