import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

export const extraFields: Check = {
  id: "extra-fields",
  title: "Accepts fields it doesn't know",
  severity: "major",
  why: "Fields are added without notice; strict validation turns such an addition into an outage.",
  advice: "Validate the fields that you use and ignore the others, at the top level and within data.",
  mends: ["bad-request", "invalid", "exception"],
  run: (session) =>
    expectAccepted(session, [
      {
        label: "additional fields at the top and in data",
        delivery: session.makeDelivery({
          write: (payload) =>
            JSON.stringify({
              ...payload,
              data: { ...payload.data, nickname: null, labels: ["new"], address: { city: "Bern" } },
              api_version: "2031-01-01",
              attempt: { number: 1 },
            }),
        }),
      },
    ]),
};
