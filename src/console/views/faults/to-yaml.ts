/** Writes plain JSON data as YAML in block style. */
export function toYaml(value: object): string {
  return `${writeLines(value).join("\n")}\n`;
}

function writeLines(value: object): string[] {
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const [first, ...rest] = isBlock(item) ? writeLines(item) : [writeScalar(item)];
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .flatMap(([key, item]) =>
      isBlock(item)
        ? [`${writeScalar(key)}:`, ...writeLines(item).map((line) => `  ${line}`)]
        : [`${writeScalar(key)}: ${writeScalar(item)}`],
    );
}

function isBlock(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** Words that YAML reads as something else than text. */
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** JSON is valid YAML; plain words and durations need no quotes. */
function writeScalar(value: unknown): string {
  const isPlain =
    typeof value === "string" && !RESERVED.test(value) && /^([a-z_/][\w./-]*|\d+(ms|[smhd]))$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}
