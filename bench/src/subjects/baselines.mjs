import { appSubject } from "./node-subject.mjs";

export const nodeHttp = appSubject("node:http", "node-http.mjs", "floor");
export const express = appSubject("Express 5", "express.mjs", "framework");
export const frameworks = [
  express,
  appSubject("Express 5, classes made once", "express-classes.mjs", "framework"),
  appSubject("Fastify 5", "fastify.mjs", "framework"),
  appSubject("Hono 4", "hono.mjs", "framework"),
];
