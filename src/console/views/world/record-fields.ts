import { type FormField, formFields } from "../../api/form-fields.ts";
import type { ControlDescription } from "../../api/json-schema.ts";

const RECORD = "/_control/sandboxes/{name}/state/{collection}/{id}";

/** The fields of a collection's records, as the control API describes itself. */
export function recordFields({ paths, components }: ControlDescription, collection: string): FormField[] {
  const content = paths[RECORD]!.get.responses["200"]!.content["application/json"]!;
  const schema = content["x-schema-by"]?.schemas[collection];
  return schema ? formFields(schema, components) : [];
}
