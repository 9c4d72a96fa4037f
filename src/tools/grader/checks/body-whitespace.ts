import { rawBodyCheck } from "../raw-body-check.ts";

export const bodyWhitespace = rawBodyCheck({
  id: "body-whitespace",
  title: "Accepts unusual whitespace in the body",
  severity: "critical",
  why: "The signature covers the bytes sent; a receiver that verifies a re-serialised copy breaks as soon as the sender's JSON writer changes.",
  shapes: [
    { label: "indented by tabs", shape: { write: (payload) => JSON.stringify(payload, null, "\t") } },
    {
      label: "CRLF line ends, and blanks before and after",
      shape: {
        write: (payload) => `\r\n ${JSON.stringify(payload, null, 3).replaceAll("\n", "\r\n")} \r\n\n`,
      },
    },
  ],
});
