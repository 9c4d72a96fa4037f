import { useState } from "react";
import { getOwn } from "../../../engine/maps.ts";
import { useParameters, useSandboxName } from "../../address.ts";
import { type Actor, useSelectedActor } from "../../api/actors.ts";
import { formatAsCurl } from "../../api/copy-request.ts";
import { toInputError } from "../../api/form-fields.ts";
import {
  isJsonType,
  type JsonSchema,
  type Operation,
  resolveSchema,
  type SchemaComponents,
} from "../../api/open-api.ts";
import { useServiceCall } from "../../api/queries.ts";
import { Answer } from "../../components/exchange.tsx";
import { ActorField, Field, Form, useInputs } from "../../components/form.tsx";
import { AddRecordLink, ViewLink } from "../../components/layout.tsx";
import { Notice } from "../../components/status.tsx";
import { CopyButton, toSingularName } from "../../components/text.tsx";
import {
  type CallParameter,
  describeParameter,
  FORM,
  fillPath,
  findSentBody,
  getSample,
  listParameters,
  makeFieldText,
  readParameters,
  toParameterKey,
  URL_ENCODED,
} from "./call-parameters.ts";
import { fillIds, type Samples, useSamples } from "./samples.ts";
import { makeExample } from "./schema.tsx";

interface TryOutProps {
  operation: Operation;
  components: SchemaComponents;
}

type Parts = Readonly<Record<string, string | File>>;

/** A form with working values of this sandbox. Input, and what was sent, stays if another user is selected. */
export function TryOut(props: TryOutProps) {
  const { set } = useParameters();
  const { actors, as, actor } = useSelectedActor();
  const samples = useSamples(props.operation, toExampleBody(props), actor?.current);
  if (actors === undefined) return <p className="quiet">Loading …</p>;
  return (
    <>
      {samples && <Preconditions samples={samples} />}
      <ActorField actors={actors} value={as} onChange={(id) => set({ as: id })} />
      <CallForm {...props} samples={samples} actor={actor} />
    </>
  );
}

function Preconditions({ samples: { note, firstOperation, missing } }: { samples: Samples }) {
  const sandbox = useSandboxName();
  if (note)
    return (
      <Notice
        outcome="other"
        action={
          firstOperation ? (
            <ViewLink className="button" view="api" query={{ operation: firstOperation }}>
              Open {firstOperation}
            </ViewLink>
          ) : (
            <ViewLink className="button" view="sandboxes" query={{ sandbox, settings: "edit" }}>
              Edit settings
            </ViewLink>
          )
        }
      >
        {note}
      </Notice>
    );
  return missing.map((collection) => (
    <Notice key={collection} outcome="other" action={<AddRecordLink collection={collection} />}>
      This sandbox has no {toSingularName(collection)} yet, so the call is answered with 404.
    </Notice>
  ));
}

/** `samples` is undefined while loading. */
function CallForm(props: TryOutProps & { samples: Samples | undefined; actor: Actor | undefined }) {
  const { components, samples, actor } = props;
  const { method, path: template } = props.operation;
  const parameters = listParameters(props.operation, components);
  const sandbox = useSandboxName();
  const { inputs, changeInputs } = useInputs<string>({});
  const [typedParts, setParts] = useState<Parts>({});
  const [typedBody, setBody] = useState<string>();
  const [type, content] = findSentBody(props.operation) ?? [];
  const isMultipart = type === MULTIPART;
  const isForm = parameters.some((one) => one.in === FORM);
  const parts = { ...(isMultipart && proposeParts(content!.schema, components, samples)), ...typedParts };
  const getValue = (parameter: CallParameter) =>
    getOwn(inputs, toParameterKey(parameter)) ?? getSample(parameter, samples, components);
  const readPairs = (place: CallParameter["in"]) => readParameters(parameters, components, place, getValue);
  const query = new URLSearchParams(readPairs("query")).toString();
  const path = fillPath(template, getValue) + (query && `?${query}`);
  const body = isForm
    ? new URLSearchParams(readPairs(FORM)).toString()
    : (typedBody ?? proposeBody(props, samples));
  const headers = {
    ...Object.fromEntries(readPairs("header")),
    // The browser sets the multipart boundary.
    ...(type && !isMultipart && { "content-type": type }),
  };
  const cookies = readPairs("cookie");
  const cookie = cookies.map((pair) => pair.join("=")).join("; ");
  const call = useServiceCall(() => {
    const missing = parameters.find((one) => one.in === "path" && getValue(one) === "");
    if (missing)
      throw toInputError(missing.name, `${missing.name} is missing in the path. Nothing was sent.`);
    const sentBody = content && (isMultipart ? toFormData(parts) : body);
    return { method, path, key: actor?.key, headers, body: sentBody };
  });
  // A call that deleted its record is not proposed again with another one.
  const mutate: typeof call.mutate = (input, options) => {
    changeInputs(Object.fromEntries(parameters.map((one) => [toParameterKey(one), getValue(one)])));
    call.mutate(input, options);
  };
  const answer = call.data?.answer;
  return (
    <>
      <Form submit="Send" change={{ ...call, mutate }} isWaiting={samples === undefined}>
        {/* Disabled while loading, so that a loaded value does not replace an edit. */}
        <fieldset className="form-fields" disabled={samples === undefined}>
          {parameters.map((parameter) => (
            <Field
              key={toParameterKey(parameter)}
              label={parameter.name}
              name={parameter.name}
              value={getValue(parameter)}
              onChange={(text) => changeInputs({ [toParameterKey(parameter)]: text })}
              hint={describeParameter(parameter, components)}
            />
          ))}
          {content && isMultipart && (
            <MultipartFields
              schema={content.schema}
              components={components}
              parts={parts}
              onChange={(part) => setParts({ ...typedParts, ...part })}
            />
          )}
          {content && !isMultipart && !isForm && (
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
          text={formatAsCurl({
            method,
            url: `${location.origin}/_s/${encodeURIComponent(sandbox)}${path}`,
            headers: Object.entries({
              ...(actor && { "api-key": actor.key }),
              ...headers,
              ...(cookie && { cookie }),
            }),
            body: content && body,
          })}
        />
      )}
      {answer && (
        <Answer answer={answer}>
          {answer.requestId && (
            <ViewLink view="timeline" query={{ entry: answer.requestId }}>
              Open in timeline
            </ViewLink>
          )}
        </Answer>
      )}
    </>
  );
}

const MULTIPART = "multipart/form-data";

function toExampleBody({ operation, components }: TryOutProps): string {
  const [type, content] = findSentBody(operation) ?? [];
  if (content === undefined || (!isJsonType(type!) && type !== MULTIPART && type !== URL_ENCODED)) return "";
  return JSON.stringify(makeExample(content.schema, components, "request"), null, 2);
}

function proposeBody(props: TryOutProps, samples: Samples | undefined): string {
  if (samples?.body) return JSON.stringify(samples.body, null, 2);
  return fillIds(toExampleBody(props), samples?.ids ?? {});
}

function proposeParts(schema: JsonSchema, components: SchemaComponents, samples: Samples | undefined): Parts {
  const { properties = {}, required = [] } = resolveSchema(schema, components);
  return Object.fromEntries(
    required.map((name) => {
      const part = properties[name] ?? {};
      if (isFile(part, components)) return [name, makeSampleFile(name)];
      return [name, makeFieldText(part, samples, components)];
    }),
  );
}

/** Whether a part is a file, or a list of files, of which the form sends one. */
function isFile(part: JsonSchema, components: SchemaComponents): boolean {
  const { items = part } = resolveSchema(part, components);
  const { format, contentMediaType } = resolveSchema(items, components);
  return format === "binary" || contentMediaType === "application/octet-stream";
}

/** A picture of 64 by 64 pixels. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAAA1BMVEVQWsgeLew2AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAG0lEQVRYw+3BgQAAAADDoPlT3+AEVQEAAAB8AxBAAAEZszF2AAAAAElFTkSuQmCC";

function makeSampleFile(part: string): File {
  if (!part.includes("image"))
    return new File(["A file to try an upload out.\n"], "sample.txt", { type: "text/plain" });
  const bytes = Uint8Array.from(atob(PNG), (letter) => letter.charCodeAt(0));
  return new File([bytes], "sample.png", { type: "image/png" });
}

function MultipartFields(props: {
  schema: JsonSchema;
  components: SchemaComponents;
  parts: Parts;
  onChange: (part: Parts) => void;
}) {
  const { schema, components, parts, onChange } = props;
  const { properties = {}, required = [] } = resolveSchema(schema, components);
  return Object.entries(properties).map(([name, part]) =>
    isFile(part, components) ? (
      <label key={name} className="field">
        <span className="field-name">{name}</span>
        <input
          type="file"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) onChange({ [name]: file });
          }}
        />
        {parts[name] instanceof File && (
          <span className="quiet small">Sends {parts[name].name} unless you choose a file</span>
        )}
      </label>
    ) : (
      <Field
        key={name}
        label={name}
        name={name}
        value={typeof parts[name] === "string" ? parts[name] : ""}
        onChange={(value) => onChange({ [name]: value })}
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
