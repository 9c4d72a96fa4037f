import type { ReactNode } from "react";
import type { JournalEntry } from "../../../types/control-api.ts";
import { formatBody, getBinarySize } from "../api/copy-request.ts";
import type { ServiceAnswer } from "../api/fetch-service.ts";
import { revealElement, Section } from "./layout.tsx";
import { Badge, toStatusOutcome } from "./status.tsx";
import { CopyButton, formatCount, pluralize } from "./text.tsx";

export function Exchange(props: {
  entry: JournalEntry;
  /** First line of the request; method and path by default. */
  line?: string;
  /** Body of the request, if its exact bytes are known. */
  sentBody?: unknown;
  isOpen?: boolean;
}) {
  const { entry, isOpen } = props;
  const { method, path, request, response } = entry;
  const { line = `${method} ${path}${request.query && `?${request.query}`}`, sentBody = request.body } =
    props;
  return (
    <>
      <Message title="Request" line={line} headers={request.headers} body={sentBody} isOpen={isOpen} />
      <Message title="Response" line={formatStatusLine(entry)} {...response} isOpen={isOpen} />
    </>
  );
}

function formatStatusLine({ status, delivery }: JournalEntry): string {
  if (status !== 0) return String(status);
  return delivery
    ? `No response: ${delivery.error ?? "the connection was closed"}`
    : "No response: the connection was broken";
}

export type MessageProps = JournalEntry["response"] & { title: string; line: string; isOpen?: boolean };

export function Message({ title, line, headers, body, isOpen }: MessageProps) {
  const binarySize = getBinarySize({ headers, body });
  const text = binarySize === undefined ? formatBody({ headers, body }, 2) : undefined;
  return (
    <Section title={title} end={text !== undefined && <CopyButton isSubtle text={text} label="Copy body" />}>
      <pre className="wire">{line}</pre>
      {headers.length > 0 && (
        <details className="headers" open={isOpen}>
          <summary>{pluralize(headers.length, "header")}</summary>
          <dl>
            {headers.map(({ name, value }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: headers may repeat, and keep the order in which they were sent
              <div key={index}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {text !== undefined && <BodyText text={text} />}
      {binarySize !== undefined && <p className="quiet">{pluralize(binarySize, "byte")}, not text</p>}
    </Section>
  );
}

/** To lay out megabytes of text would block the page for seconds. */
const MAX_SHOWN_CHARACTERS = 200_000;

export function BodyText({ text }: { text: string }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can scroll a long body */}
      <pre className="wire body" tabIndex={0}>
        {text.slice(0, MAX_SHOWN_CHARACTERS)}
      </pre>
      {text.length > MAX_SHOWN_CHARACTERS && (
        <p className="quiet small">
          Only the first {formatCount(MAX_SHOWN_CHARACTERS)} of {formatCount(text.length)} characters are
          shown.
        </p>
      )}
    </>
  );
}

/** The answer to a call of the emulated API; `children` are shown beside its status. */
export function Answer({ answer, children }: { answer: ServiceAnswer; children?: ReactNode }) {
  const { status, headers, text, json } = answer;
  return (
    <div role="status" ref={revealElement}>
      <p className="flow">
        <Badge outcome={toStatusOutcome(status)}>{status}</Badge>
        {children}
      </p>
      <Message title="Response" line={String(status)} headers={headers} body={json ?? (text || undefined)} />
    </div>
  );
}
