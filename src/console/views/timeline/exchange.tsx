import type { JournalEntry } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Section } from "../../parts/section.tsx";

/** Request and answer as they went over the wire, secrets masked. */
export function Exchange({ entry }: { entry: JournalEntry }) {
  const { method, path, request, status, response } = entry;
  const query = request.query === "" ? "" : `?${request.query}`;
  return (
    <>
      <Message title="Request" line={`${method} ${path}${query}`} message={request} />
      <Message
        title="Answer"
        line={status === 0 ? "None: the connection was broken." : String(status)}
        message={response}
      />
    </>
  );
}

function Message({
  title,
  line,
  message: { headers, body },
}: {
  title: string;
  line: string;
  message: JournalEntry["response"];
}) {
  const text =
    body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body, null, 2);
  return (
    <Section title={title} end={text !== undefined && <CopyButton subtle text={text} label="Copy body" />}>
      <pre className="wire">{line}</pre>
      {headers.length > 0 && (
        <details className="headers">
          <summary>
            {headers.length} {headers.length === 1 ? "header" : "headers"}
          </summary>
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
