import { defineAppSubject } from "./node-subject.mjs";

export const nodeHttp = defineAppSubject("node:http", "node-http.mjs", "floor");
export const express = defineAppSubject("Express 5", "express.mjs", "framework");
export const frameworks = [
  express,
  defineAppSubject("Express 5, classes made once", "express-classes.mjs", "framework"),
  defineAppSubject("Fastify 5", "fastify.mjs", "framework"),
  defineAppSubject("Hono 4", "hono.mjs", "framework"),
];
