import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

export const contentTypeCharset: Check = {
  id: "content-type-charset",
  title: "Accepts a charset in the content type",
  severity: "major",
  why: "`application/json; charset=utf-8` is the same media type; refusing it loses deliveries when a proxy adds the parameter.",
  advice: "Parse the media type and ignore its parameters, instead of comparing the whole header.",
  mends: ["media-type", "bad-request", "unauthorized", "invalid", "exception"],
  run: (session) =>
    expectAccepted(
      session,
      ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'].map((contentType) => ({
        label: contentType,
        delivery: session.makeDelivery(),
        transport: { contentType },
      })),
    ),
};
