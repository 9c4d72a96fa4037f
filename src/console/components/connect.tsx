import type { Actor } from "../api/actors.ts";
import { formatAsCurl, formatAsEnvironment } from "../api/copy-request.ts";
import { useSandbox } from "../api/queries.ts";
import { CopyButton } from "./text.tsx";

const SHOWN_CHARACTERS = 4;

/** The last characters of a key; whole keys are only copied, never shown, so that pictures do not contain them. */
export function maskKey(key: string): string {
  return `ak_…${key.slice(-SHOWN_CHARACTERS)}`;
}

export function formatFirstCall(base: string, key: string): string {
  const url = `${base}/v1/models`;
  return formatAsCurl({ method: "GET", url, headers: [["api-key", key]], body: undefined });
}

export function ConnectActions({ apiKey: { key } }: { apiKey: Pick<Actor, "key"> }) {
  const { data: sandbox } = useSandbox();
  const base = sandbox?.base_url ?? "";
  return (
    <div className="actions">
      <CopyButton label="Copy key" text={key} />
      <CopyButton label="Copy base URL" text={base} />
      <CopyButton label="Copy as .env" text={formatAsEnvironment(base, key)} />
      <CopyButton label="Copy as curl" text={formatFirstCall(base, key)} />
    </div>
  );
}
