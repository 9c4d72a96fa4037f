import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import type { ServiceAnswer } from "../../api/fetch-service.ts";
import { counted } from "../../parts/counted.ts";
import { Badge, type Outcome } from "../../parts/mark.tsx";

/** What came back, with the way to why. */
export function Answer({ answer: { status, headers, text, json } }: { answer: ServiceAnswer }) {
  const sandbox = useSandboxName();
  const header = (name: string) => headers.find(([one]) => one === name)?.[1];
  const request = header("x-request-id");
  return (
    <section className="answer" aria-label="Answer" aria-live="polite">
      <div className="answer-head">
        <Badge outcome={outcomeOf(status)}>{status}</Badge>
        <span className="quiet">{header("content-type") ?? "no body"}</span>
        {request && (
          <Link href={addressOf(sandbox, "timeline", { entry: request })}>Why, in the timeline</Link>
        )}
      </div>
      {text !== "" && <pre>{json === undefined ? text : JSON.stringify(json, null, 2)}</pre>}
      <details>
        <summary>{counted(headers.length, "header")}</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
    </section>
  );
}

function outcomeOf(status: number): Outcome {
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}
