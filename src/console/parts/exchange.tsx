import type { JournalEntry } from "../api/types.ts";
import { CopyButton } from "./copy-button.tsx";
import { counted } from "./counted.ts";
import { Section } from "./section.tsx";

/** Request and answer as they went over the wire, secrets masked. */
export function Exchange({
  entry,
  line,
  sent = entry.request.body,
  isOpen = false,
}: {
  entry: JournalEntry;
  /** The request's first line, where it is more than method and path. */
  line?: string;
  /** What was sent, where it is known to the byte. */
  sent?: unknown;
  /** Whether headers are shown from the start. */
  isOpen?: boolean;
}) {
  const { method, path, request, response } = entry;
  const query = request.query === "" ? "" : `?${request.query}`;
  return (
    <>
      <Message
        title="Request"
        line={line ?? `${method} ${path}${query}`}
        headers={request.headers}
        body={sent}
        isOpen={isOpen}
      />
      <Message title="Answer" line={answerLine(entry)} {...response} isOpen={isOpen} />
    </>
  );
}

/** Of an attempt to deliver, the sandbox was the one that waited. */
function answerLine({ status, delivery }: JournalEntry): string {
  if (status !== 0) return String(status);
  return delivery ? `None: ${delivery.error ?? "the connection ended"}.` : "None: the connection was broken.";
}

/** One half of an exchange: its first line, its headers folded away, its body. */
export function Message({
  title,
  line,
  headers,
  body,
  isOpen,
}: JournalEntry["response"] & { title: string; line: string; isOpen: boolean }) {
  const text =
    body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body, null, 2);
  return (
    <Section title={title} end={text !== undefined && <CopyButton subtle text={text} label="Copy body" />}>
      <pre className="wire">{line}</pre>
      {headers.length > 0 && (
        <details className="headers" open={isOpen}>
          <summary>{counted(headers.length, "header")}</summary>
          <dl>
            {headers.map(({ name, value }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a header may stand twice, and their order is what was sent
              <div key={place}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long bodies are scrolled by the keyboard, too
        <pre className="wire body" tabIndex={0}>
          {text}
        </pre>
      )}
    </Section>
  );
}
