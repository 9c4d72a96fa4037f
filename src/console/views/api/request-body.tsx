import type { JsonSchema, SchemaComponents } from "../../api/open-api.ts";
import { resolved } from "../../api/open-api.ts";
import { Field } from "../../components/form.tsx";

export type Parts = Readonly<Record<string, string | File>>;

/** Fields of a multipart form. */
export function MultipartFields({
  schema,
  components,
  parts,
  onChange,
}: {
  schema: JsonSchema;
  components: SchemaComponents;
  parts: Parts;
  onChange: (parts: Parts) => void;
}) {
  const { properties = {}, required = [] } = resolved(schema, components);
  return Object.entries(properties).map(([name, { format }]) =>
    format === "binary" ? (
      <label key={name} className="field file">
        {name}
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

export function toFormData(parts: Parts): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(parts)) if (value !== "") data.append(name, value);
  return data;
}
