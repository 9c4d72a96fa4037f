import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { toAddress, useParameters, useSandboxName } from "../../address.ts";
import { type Actor, useActors } from "../../api/actors.ts";
import { asCurl } from "../../api/copy-request.ts";
import type { ControlError } from "../../api/fetch-control.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import type { JsonSchema, Operation, SchemaComponents } from "../../api/open-api.ts";
import { sandboxKey, useSandboxQuery } from "../../api/queries.ts";
import { ActorField, Field, Form, NO_CREDENTIALS } from "../../components/form.tsx";
import { Badge, type Outcome } from "../../components/mark.tsx";
import { Problem } from "../../components/notice.tsx";
import { CopyButton, pluralize } from "../../components/text.tsx";
import { MultipartFields, type Parts, toFormData } from "./request-body.tsx";
import { makeExample } from "./schema.tsx";

interface TryOutProps {
  operation: Operation;
  components: SchemaComponents;
}

/** A form with working values of this sandbox. Input stays if another user is selected. */
export function TryOut(props: TryOutProps) {
  const actors = useActors();
  const parameters = useParameters();
  const as = parameters.get("as") ?? actors?.find(({ role }) => role === "owner")?.id ?? NO_CREDENTIALS;
  const actor = actors?.find(({ id }) => id === as);
  const samples = useSamples(props.operation, actor?.organization);
  if (actors === undefined) return <p className="quiet">Loading …</p>;
  return (
    <>
      <ActorField actors={actors} value={as} onChange={(id) => parameters.set({ as: id })} />
      <CallForm {...props} samples={samples} waiting={samples === undefined} actor={actor} />
    </>
  );
}

function CallForm({
  operation,
  components,
  samples = {},
  waiting,
  actor,
}: TryOutProps & {
  samples: Readonly<Record<string, string>> | undefined;
  waiting: boolean;
  actor: Actor | undefined;
}) {
  const sandbox = useSandboxName();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const [typedBody, setBody] = useState<string>();
  const body = typedBody ?? bodyExample(type, content?.schema, components, samples);
  const [parts, setParts] = useState<Parts>({});
  const value = (name: string) => typed[name] ?? samples[name] ?? "";
  const path = fillPath(operation, value);
  const headers = toHeaders(operation, value, type);
  const call = useMutation<ServiceAnswer, ControlError>({
    mutationFn: () =>
      fetchService({
        sandbox,
        method: operation.method,
        path,
        key: actor?.key,
        headers,
        body: content === undefined ? undefined : type === MULTIPART ? toFormData(parts) : body,
      }),
    onSettled: (_data, _error, _input, _result, { client }) =>
      client.invalidateQueries({ queryKey: sandboxKey(sandbox) }),
  });
  return (
    <>
      <Form submit="Send" pending={call.isPending} waiting={waiting} onSubmit={() => call.mutate()}>
        {(operation.parameters ?? []).map(({ name, in: place, required, description }) => (
          <Field
            key={name}
            label={name}
            name={name}
            value={value(name)}
            onChange={(text) => setTyped({ ...typed, [name]: text })}
            hint={[place, required ? "required" : undefined, description].filter(Boolean).join("; ")}
          />
        ))}
        {content && type === MULTIPART && (
          <MultipartFields
            schema={content.schema}
            components={components}
            parts={parts}
            onChange={setParts}
          />
        )}
        {content && type !== MULTIPART && (
          <Field
            label="Body"
            name="body"
            value={body}
            onChange={setBody}
            lines={Math.min(20, lineCount(body) + 1)}
          />
        )}
      </Form>
      {type !== MULTIPART && (
        <CopyButton
          label="Copy as curl"
          text={() =>
            asCurl({
              method: operation.method,
              url: `${location.origin}/_s/${encodeURIComponent(sandbox)}${path}`,
              headers: Object.entries({ ...(actor && { "api-key": actor.key }), ...headers }),
              body: content && body,
            })
          }
        />
      )}
      <Problem error={call.error} />
      {call.data && <Answer answer={call.data} />}
    </>
  );
}

const MULTIPART = "multipart/form-data";
const lineCount = (text: string) => text.split("\n").length;

function bodyExample(
  type: string | undefined,
  schema: JsonSchema | undefined,
  components: SchemaComponents,
  samples: Readonly<Record<string, string>>,
): string {
  if (type !== "application/json" || schema === undefined) return "";
  const example = JSON.stringify(makeExample(schema, components), null, 2);
  const organization = samples["organization_id"];
  return organization ? example.replaceAll("org_example", organization) : example;
}

function fillPath({ path, parameters = [] }: Operation, value: (name: string) => string): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
  const query = parameters.filter((one) => one.in === "query" && value(one.name) !== "");
  if (query.length === 0) return filled;
  return `${filled}?${new URLSearchParams(query.map(({ name }) => [name, value(name)]))}`;
}

function toHeaders(
  { parameters = [] }: Operation,
  value: (name: string) => string,
  type: string | undefined,
) {
  const given = parameters.filter((one) => one.in === "header" && value(one.name) !== "");
  return {
    ...Object.fromEntries(given.map(({ name }) => [name, value(name)])),
    // The browser sets the multipart boundary.
    ...(type === undefined || type === MULTIPART ? {} : { "content-type": type }),
  };
}

/** The response, with a link to its timeline entry. */
export function Answer({ answer: { status, headers, text, json } }: { answer: ServiceAnswer }) {
  const sandbox = useSandboxName();
  const header = (name: string) => headers.find(([one]) => one === name)?.[1];
  const request = header("x-request-id");
  return (
    <section className="answer" aria-label="Response" aria-live="polite">
      <div className="answer-head">
        <Badge outcome={toOutcome(status)}>{status}</Badge>
        <span className="quiet">{header("content-type") ?? "no body"}</span>
        {request && <Link href={toAddress(sandbox, "timeline", { entry: request })}>Open in timeline</Link>}
      </div>
      {text !== "" && <pre>{json === undefined ? text : JSON.stringify(json, null, 2)}</pre>}
      <details>
        <summary>{pluralize(headers.length, "header")}</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
    </section>
  );
}

function toOutcome(status: number): Outcome {
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

/** Ids of records for parameters, matched by the prefix of their examples. Undefined while loading. */
export function useSamples(
  { parameters = [] }: Operation,
  organization: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const wanted = parameters.flatMap(({ name, schema: { examples } }) =>
    typeof examples?.[0] === "string" && examples[0].endsWith("_example")
      ? [[name, examples[0].replace("example", "")] as const]
      : [],
  );
  const { data } = useSandboxQuery(
    ["samples", organization, wanted],
    async (calls) => {
      const { items } = await calls.collections();
      const found = wanted.map(async ([name, prefix]) => {
        const collection = items.find((one) => one.prefix === prefix);
        if (prefix === "org_" && organization !== undefined) return [name, organization] as const;
        if (collection === undefined || collection.records === 0) return [name, ""] as const;
        const { items: records } = await calls.records(collection.name, { limit: MANY });
        const all = records as unknown as readonly Record<string, unknown>[];
        const own = all.find((record) => record["organization_id"] === organization) ?? all[0];
        return [name, String(own?.[collection.id_field] ?? "")] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    { live: false },
  );
  return data;
}

const MANY = 50;
