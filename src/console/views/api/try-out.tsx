import { useState } from "react";
import { useParameters, useSandboxName } from "../../address.ts";
import { type Actor, useActors } from "../../api/actors.ts";
import { asCurl } from "../../api/copy-request.ts";
import { withQuery } from "../../api/fetch-control.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import type { Fields } from "../../api/form-fields.ts";
import { type JsonSchema, type Operation, resolved, type SchemaComponents } from "../../api/open-api.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Message } from "../../components/exchange.tsx";
import { ActorField, Field, Form, NO_CREDENTIALS, useInputs } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Badge, statusOutcome } from "../../components/mark.tsx";
import { CopyButton } from "../../components/text.tsx";
import { makeExample } from "./schema.tsx";

interface TryOutProps {
  operation: Operation;
  components: SchemaComponents;
}

type Texts = Readonly<Record<string, string>>;
type Parts = Readonly<Record<string, string | File>>;

/** A form with working values of this sandbox. Input stays if another user is selected. */
export function TryOut(props: TryOutProps) {
  const { data: actors } = useActors();
  const { get, set } = useParameters();
  const as =
    get("as") ?? actors?.find(({ role, unusable }) => role === "owner" && !unusable)?.id ?? NO_CREDENTIALS;
  const actor = actors?.find(({ id }) => id === as);
  const samples = useSamples(props.operation, actor?.current);
  if (actors === undefined) return <p className="quiet">Loading …</p>;
  return (
    <>
      <ActorField actors={actors} value={as} onChange={(id) => set({ as: id })} />
      <CallForm {...props} samples={samples} actor={actor} />
    </>
  );
}

/** `samples` is undefined while loading. */
function CallForm(props: TryOutProps & { samples: Texts | undefined; actor: Actor | undefined }) {
  const { operation, components, samples, actor } = props;
  const { method, parameters = [], requestBody } = operation;
  const sandbox = useSandboxName();
  const { inputs, change } = useInputs<string>({});
  const [parts, setParts] = useState<Parts>({});
  const [typedBody, setBody] = useState<string>();
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isMultipart = type === MULTIPART;
  const body = typedBody ?? exampleBody(type, content?.schema, components, samples);
  const read = (name: string) => inputs[name] ?? samples?.[name] ?? "";
  const path = fillPath(operation, read);
  const headers = {
    ...readParameters(operation, "header", read),
    // The browser sets the multipart boundary.
    ...(type && !isMultipart && { "content-type": type }),
  };
  const call = useSandboxChange(() =>
    fetchService({
      sandbox,
      method,
      path,
      key: actor?.key,
      headers,
      body: content && (isMultipart ? toFormData(parts) : body),
    }),
  );
  return (
    <>
      <Form submit="Send" change={call} waiting={samples === undefined}>
        {/* Disabled while loading, so that a loaded value does not replace an edit. */}
        <fieldset className="form-fields" disabled={samples === undefined}>
          {parameters.map(({ name, in: place, required, description }) => (
            <Field
              key={name}
              label={name}
              name={name}
              value={read(name)}
              onChange={(text) => change({ [name]: text })}
              hint={[place, required && "required", description].filter(Boolean).join("; ")}
            />
          ))}
          {content && isMultipart && (
            <MultipartFields
              schema={content.schema}
              components={components}
              parts={parts}
              onChange={setParts}
            />
          )}
          {content && !isMultipart && (
            <Field
              label="Body"
              name="body"
              value={body}
              onChange={setBody}
              lines={Math.min(20, body.split("\n").length + 1)}
            />
          )}
        </fieldset>
      </Form>
      {!isMultipart && (
        <CopyButton
          label="Copy as curl"
          text={asCurl({
            method,
            url: `${location.origin}/_s/${encodeURIComponent(sandbox)}${path}`,
            headers: Object.entries({ ...(actor && { "api-key": actor.key }), ...headers }),
            body: content && body,
          })}
        />
      )}
      {call.data && <Answer answer={call.data} />}
    </>
  );
}

const MULTIPART = "multipart/form-data";

function exampleBody(
  type: string | undefined,
  schema: JsonSchema | undefined,
  components: SchemaComponents,
  samples: Texts = {},
): string {
  if (type !== "application/json" || schema === undefined) return "";
  const example = JSON.stringify(makeExample(schema, components), null, 2);
  const organization = samples["organization_id"];
  return organization ? example.replaceAll("org_example", organization) : example;
}

type Read = (name: string) => string;

function readParameters({ parameters = [] }: Operation, place: "query" | "header", read: Read): Texts {
  const given = parameters.filter((one) => one.in === place && read(one.name) !== "");
  return Object.fromEntries(given.map(({ name }) => [name, read(name)]));
}

function fillPath(operation: Operation, read: Read): string {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(read(name)));
  return withQuery(filled, readParameters(operation, "query", read));
}

function MultipartFields(props: {
  schema: JsonSchema;
  components: SchemaComponents;
  parts: Parts;
  onChange: (parts: Parts) => void;
}) {
  const { schema, components, parts, onChange } = props;
  const { properties = {}, required = [] } = resolved(schema, components);
  return Object.entries(properties).map(([name, { format }]) =>
    format === "binary" ? (
      <label key={name} className="field">
        <span className="field-name">{name}</span>
        <input
          type="file"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) onChange({ ...parts, [name]: file });
          }}
        />
      </label>
    ) : (
      <Field
        key={name}
        label={name}
        name={name}
        value={typeof parts[name] === "string" ? parts[name] : ""}
        onChange={(value) => onChange({ ...parts, [name]: value })}
        hint={required.includes(name) ? "required" : undefined}
      />
    ),
  );
}

function toFormData(parts: Parts): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(parts)) if (value !== "") data.append(name, value);
  return data;
}

function Answer({ answer: { status, headers, text, json } }: { answer: ServiceAnswer }) {
  const request = headers.find(({ name }) => name === "x-request-id")?.value;
  return (
    <div aria-live="polite">
      <p className="flow">
        <Badge outcome={statusOutcome(status)}>{status}</Badge>
        {request && (
          <ViewLink view="timeline" query={{ entry: request }}>
            Open in timeline
          </ViewLink>
        )}
      </p>
      <Message title="Response" line={String(status)} headers={headers} body={json ?? (text || undefined)} />
    </div>
  );
}

const MANY = 50;

/**
 * Ids of records for parameters, matched by the prefix of their examples, else by the name of the collection. Undefined
 * while loading.
 */
function useSamples(operation: Operation, organization: string | undefined): Texts | undefined {
  const wanted = (operation.parameters ?? []).flatMap(({ name, in: place, schema }) => {
    const example = schema?.examples?.[0];
    const hasPrefix = typeof example === "string" && example.endsWith("_example");
    if (!hasPrefix && place !== "path") return [];
    const names = hasPrefix ? [] : listCollectionNames(operation.path, name);
    return [[name, hasPrefix ? example.replace("example", "") : undefined, names] as const];
  });
  const { data } = useSandboxQuery(
    ["samples", organization, wanted],
    async (calls) => {
      const { items } = await calls.collections();
      const findSample = async (prefix: string | undefined, names: readonly string[]): Promise<string> => {
        const collection = items.find((one) =>
          prefix === undefined ? names.includes(one.name) : one.prefix === prefix,
        );
        if (collection?.name === "organizations" && organization !== undefined) return organization;
        if (collection === undefined || collection.records === 0) return "";
        const { items: records } = await calls.records(collection.name, { limit: MANY });
        const all = records as unknown as readonly Fields[];
        const own = all.find((record) => record["organization_id"] === organization) ?? all[0];
        return String(own?.[collection.id_field] ?? "");
      };
      const samples = wanted.map(
        async ([name, prefix, names]) => [name, await findSample(prefix, names)] as const,
      );
      return Object.fromEntries(await Promise.all(samples));
    },
    { live: false },
  );
  return data;
}

/** The collections that a path parameter may be of: `/projects/{id}`, or `project_id`. */
function listCollectionNames(path: string, parameter: string): string[] {
  const [, above] = new RegExp(`([^/{}]+)/\\{${parameter}\\}`).exec(path) ?? [];
  const named = parameter.replace(/_?id$/i, "");
  return [above, `${named}s`]
    .filter((name) => name !== undefined)
    .map((name) =>
      name
        .replace(/([a-z])([A-Z])/g, "$1_$2")
        .replaceAll("-", "_")
        .toLowerCase(),
    );
}
