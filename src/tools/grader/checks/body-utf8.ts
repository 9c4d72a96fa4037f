import { rawBodyCheck } from "../raw-body-check.ts";

export const bodyUtf8 = rawBodyCheck({
  id: "body-utf8",
  title: "Accepts characters outside ASCII as plain UTF-8",
  severity: "major",
  why: "Names and messages hold any character; reading the body in another encoding, or as text at all, changes the bytes under the signature.",
  shapes: [
    {
      label: "UTF-8",
      shape: { event: "user.updated", data: { name: "Adà Löwenstein 漢字 😀 \u2028" } },
    },
  ],
});
