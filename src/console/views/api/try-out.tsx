import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useParameters, useSandboxName } from "../../address.ts";
import { type Actor, useActors } from "../../api/actors.ts";
import type { ControlError } from "../../api/fetch-control.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import type { JsonSchema, SchemaComponents } from "../../api/json-schema.ts";
import type { Operation } from "../../api/open-api.ts";
import { sandboxKey } from "../../api/queries.ts";
import { ActorField, NOBODY } from "../../parts/actor-field.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Answer } from "./answer.tsx";
import { formDataOf, MultipartFields, type Parts } from "./request-body.tsx";
import { useSamples } from "./samples.ts";
import { exampleOf } from "./schema-text.ts";

interface TryOutProps {
  operation: Operation;
  components: SchemaComponents;
}

/** A form that begins with what works in this world; what is typed stays, whoever is chosen. */
export function TryOut(props: TryOutProps) {
  const actors = useActors();
  const parameters = useParameters();
  const as = parameters.get("as") ?? actors?.find(({ role }) => role === "owner")?.id ?? NOBODY;
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
  const path = pathOf(operation, value);
  const call = useMutation<ServiceAnswer, ControlError>({
    mutationFn: () =>
      fetchService({
        sandbox,
        method: operation.method,
        path,
        key: actor?.key,
        headers: headersOf(operation, value, type),
        body: content === undefined ? undefined : type === MULTIPART ? formDataOf(parts) : body,
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
          text={() => asCurl({ sandbox, method: operation.method, path, key: actor?.key, type, body })}
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
  const example = JSON.stringify(exampleOf(schema, components), null, 2);
  const organization = samples["organization_id"];
  return organization ? example.replaceAll("org_example", organization) : example;
}

function pathOf({ path, parameters = [] }: Operation, value: (name: string) => string): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
  const query = parameters.filter((one) => one.in === "query" && value(one.name) !== "");
  if (query.length === 0) return filled;
  return `${filled}?${new URLSearchParams(query.map(({ name }) => [name, value(name)]))}`;
}

function headersOf(
  { parameters = [] }: Operation,
  value: (name: string) => string,
  type: string | undefined,
) {
  const given = parameters.filter((one) => one.in === "header" && value(one.name) !== "");
  return {
    ...Object.fromEntries(given.map(({ name }) => [name, value(name)])),
    // The browser itself says where the parts of a form begin.
    ...(type === undefined || type === MULTIPART ? {} : { "content-type": type }),
  };
}

interface Curl {
  sandbox: string;
  method: string;
  path: string;
  key: string | undefined;
  type: string | undefined;
  body: string;
}

function asCurl({ sandbox, method, path, key, type, body }: Curl): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = [
    `curl -i -X ${method} ${quote(`${location.origin}/_s/${encodeURIComponent(sandbox)}${path}`)}`,
    key && `-H ${quote(`api-key: ${key}`)}`,
    type && `-H ${quote(`content-type: ${type}`)} -d ${quote(body)}`,
  ];
  return parts.filter(Boolean).join(" \\\n  ");
}
