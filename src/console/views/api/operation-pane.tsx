import type { FidelityLedger } from "../../../../types/control-api.ts";
import { isJsonType, type Operation, type SchemaComponents } from "../../api/open-api.ts";
import { useSandbox } from "../../api/queries.ts";
import { DetailPane } from "../../components/layout.tsx";
import { Badge } from "../../components/status.tsx";
import { PathText, TextWithCode } from "../../components/text.tsx";
import { findDocumentedBody } from "./call-parameters.ts";
import { formatType, listFields, makeExample, SchemaTable } from "./schema.tsx";
import { TryOut } from "./try-out.tsx";

interface PaneProps {
  operation: Operation;
  components: SchemaComponents;
  fidelity: FidelityLedger;
  onClose: () => void;
}

export function OperationPane({ operation, components, fidelity, onClose }: PaneProps) {
  const { operationId, method, path, summary, description, responses } = operation;
  const [bodyType, body] = findDocumentedBody(operation) ?? [];
  return (
    <DetailPane title={summary} label={`Operation ${operationId}`} onClose={onClose}>
      <div className="operation stack">
        <p>
          {/* An own operation without a summary has them as its title. */}
          {summary !== `${method} ${path}` && (
            <code>
              <strong>{method}</strong> <PathText>{path}</PathText>
            </code>
          )}{" "}
          <span className="quiet">
            {operationId}
            {!operation["x-own"] && `, ${describeSection(operation["x-section"])}`}
          </span>
        </p>
        {description && (
          <p>
            <TextWithCode>{description}</TextWithCode>
          </p>
        )}
        <section className="stack" aria-label="Try it out">
          <h2>Try it out</h2>
          <TryOut operation={operation} components={components} />
        </section>
        {operation["x-own"] ? (
          <section className="stack" aria-label="Source">
            <h2>
              <ProvenanceBadge provenance="own" />
            </h2>
            <p className="quiet">
              Declared in your <code>{operation["x-own"]}</code>, not in the reference.
            </p>
          </section>
        ) : (
          <Assumptions id={operationId} fidelity={fidelity} />
        )}
        {body && (
          <section className="stack" aria-label="Request">
            <h2>Request</h2>
            <p className="quiet">{bodyType}</p>
            <SchemaTable lines={listFields(body.schema, components, "request")} />
          </section>
        )}
        <Success responses={responses} components={components} />
        <Errors responses={responses} />
      </div>
    </DetailPane>
  );
}

/** Whether the reference documents the operation. */
const PROVENANCES = {
  specified: "The reference documents this endpoint.",
  assumed: "The reference does not document this endpoint.",
  own: "The reference does not have this endpoint.",
};
export type Provenance = keyof typeof PROVENANCES;

/** @param section of the reference, or the id of the assumption that describes the operation */
export function describeSection(section: string): string {
  return section.startsWith("G") ? `assumption ${section}` : `section ${section}`;
}

export function ProvenanceBadge({ provenance }: { provenance: Provenance }) {
  return <Badge outcome={provenance === "assumed" ? "refused" : "ok"}>{provenance}</Badge>;
}

/** Assumptions about what the reference does not state, and the settings that change them. */
function Assumptions({ id, fidelity }: { id: string; fidelity: FidelityLedger }) {
  const { data: sandbox } = useSandbox();
  const operation = fidelity.operations.find((one) => one.id === id);
  if (operation === undefined) return null;
  const listParts = (assumption: string) =>
    operation.assumed.filter((one) => one.assumption === assumption).map(({ part }) => part);
  const assumptions = fidelity.assumptions.filter(
    (one) => operation.assumptions.includes(one.id) || listParts(one.id).length > 0,
  );
  return (
    <section className="stack" aria-label="Source">
      <h2>
        <ProvenanceBadge provenance={operation.provenance} />
      </h2>
      <p className="quiet">
        {PROVENANCES[operation.provenance]}
        {assumptions.length > 0 && " Where the reference is silent, Understudy assumes:"}
      </p>
      <dl className="stack">
        {assumptions.map(({ id: assumption, topic, chosen, settings }) => (
          <div key={assumption}>
            <dt>
              <strong>
                {assumption} {topic}
              </strong>
            </dt>
            <dd>
              <TextWithCode>{chosen}</TextWithCode>
              {listParts(assumption).length > 0 && (
                <span className="quiet"> Assumed here: {listParts(assumption).join(", ")}.</span>
              )}
              {settings.map((name) => (
                <div key={name}>
                  Setting <code>{name}</code>
                  {sandbox && (
                    <>
                      {": "}
                      <code>{JSON.stringify(sandbox.settings[name as keyof typeof sandbox.settings])}</code>
                    </>
                  )}
                </div>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Responses = Operation["responses"];

function Success({ responses, components }: { responses: Responses; components: SchemaComponents }) {
  return Object.entries(responses)
    .filter(([status]) => status < "4")
    .map(([status, { description, content = {} }]) => (
      <section key={status} className="stack" aria-label={`Response ${status}`}>
        <h2>
          <Badge outcome="ok">{status}</Badge> <span className="quiet">{description}</span>
        </h2>
        {Object.entries(content).map(([type, { schema = {} }]) => {
          const lines = listFields(schema, components);
          return (
            <div key={type}>
              <p className="quiet">
                {type}
                {lines.length === 0 && `: ${formatType(schema, components)}`}
              </p>
              <SchemaTable lines={lines} />
              {isJsonType(type) && (
                <details>
                  <summary>Example</summary>
                  <pre className="wire body">{JSON.stringify(makeExample(schema, components), null, 2)}</pre>
                </details>
              )}
            </div>
          );
        })}
      </section>
    ));
}

function Errors({ responses }: { responses: Responses }) {
  const rows = Object.entries(responses).flatMap(([status, { description, "x-error-codes": codes = [] }]) =>
    codes.map((code) => ({ status, code, about: findCodeDescription(code, description) })),
  );
  if (rows.length === 0) return null;
  return (
    <section className="stack" aria-label="Documented errors">
      <h2>Documented errors</h2>
      <table>
        <tbody>
          {rows.map(({ status, code, about }) => (
            <tr key={`${status} ${code}`}>
              <td className="number">{status}</td>
              <td>
                <code>{code}</code> <span className="quiet">{about}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function findCodeDescription(code: string, description: string): string {
  const after = description.split(`\`${code}\`: `)[1] ?? "";
  return after.split(" `")[0]!;
}
