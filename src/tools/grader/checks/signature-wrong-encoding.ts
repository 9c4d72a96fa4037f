import { forgedCheck } from "../forged-check.ts";

export const signatureWrongEncoding = forgedCheck({
  id: "signature-wrong-encoding",
  title: "Refuses a digest in base64",
  severity: "major",
  why: "The digest is hex; a receiver that tries several encodings accepts more values than the service ever sends.",
  advice: "Accept exactly one spelling: hex.",
  forge: (right) => [
    {
      label: "the right digest in base64",
      signature: `sha256=${Buffer.from(right.slice(7), "hex").toString("base64")}`,
    },
  ],
});
