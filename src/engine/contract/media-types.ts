/** Each line: the registered name of a type (RFC or IANA), then other names in use. */
const ALIASES = `
application/octet-stream binary/octet-stream application/x-binary application/unknown application/force-download
application/json text/json text/x-json application/x-json
application/yaml application/x-yaml text/yaml text/x-yaml text/vnd.yaml
application/toml application/x-toml text/toml text/x-toml
application/xml text/xml
application/x-ndjson application/ndjson application/jsonl application/x-jsonl application/jsonlines application/x-jsonlines
application/pdf application/x-pdf application/acrobat text/pdf
application/rtf application/x-rtf text/rtf
application/zip application/x-zip application/x-zip-compressed
text/csv application/csv application/x-csv text/x-csv text/comma-separated-values
text/tab-separated-values text/tsv text/x-tsv application/tsv
text/markdown text/x-markdown text/md application/markdown
text/javascript application/javascript application/x-javascript
image/jpeg image/jpg image/pjpeg image/x-jpeg image/x-jpg
image/png image/x-png
image/bmp image/x-bmp image/x-ms-bmp
image/gif image/x-gif
image/svg+xml image/svg
image/tiff image/tif image/x-tiff image/x-tif
image/webp image/x-webp
audio/mpeg audio/mp3 audio/mpeg3 audio/x-mp3 audio/x-mpeg audio/x-mpeg-3
audio/wav audio/x-wav audio/wave audio/vnd.wave audio/x-pn-wav
audio/mp4 audio/m4a audio/x-m4a audio/x-mp4
audio/flac audio/x-flac
audio/aac audio/x-aac
video/mp4 video/x-m4v video/x-mp4
`;

/** Each line: a type, then the ends of names of such files. Most source code is plain text. */
const EXTENSIONS = `
text/plain txt text log out ini cfg conf cnf config properties env editorconfig gitignore gitattributes dockerignore npmrc
text/plain readme license licence notice changelog authors makefile dockerfile mk cmake gradle bazel bzl tf tfvars hcl
text/plain py pyi rb rs go java kt kts scala groovy clj cljs ex exs erl hs ml mli fs fsx swift m mm dart lua r jl pl pm php
text/plain c h cc cpp cxx hh hpp hxx cs vb pas d nim zig v asm s ts mts cts tsx jsx vue svelte astro sh bash zsh fish bat cmd
text/plain ps1 psm1 awk sed sql ddl graphql gql proto thrift avdl diff patch tex latex bib rst adoc asciidoc org textile pod
text/plain srt sub ass po pot eml mbox scss sass less styl coffee liquid hbs mustache ejs pug j2 jinja tmpl tpl lock
text/plain jsonc json5 sbv lrc psv asc wiki mediawiki feature strings typ sty cls bst nix cue sln f90 f95 f03 for lisp el scm
text/plain rkt vim sol ksh csh ipy pyx ino erb twig jsp asp aspx cshtml razor http rest
application/json json map har webmanifest avsc
application/geo+json geojson
application/ld+json jsonld
application/x-ipynb+json ipynb
application/x-ndjson ndjson jsonl
application/yaml yaml yml
application/toml toml
application/xml xml xsd xsl xslt wsdl rng dtd plist kml gpx opml resx csproj vbproj fsproj ttml dfxp tmx xliff xlf
application/atom+xml atom
application/rss+xml rss
application/pdf pdf
application/rtf rtf
application/zip zip
application/gzip gz tgz
application/msword doc dot
application/vnd.ms-excel xls
application/vnd.ms-powerpoint ppt
application/vnd.oasis.opendocument.text odt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.presentation odp
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
text/csv csv
text/tab-separated-values tsv tab
text/markdown md markdown mdx mkd rmd qmd
text/html html htm shtml
application/xhtml+xml xhtml
text/css css
text/javascript js mjs cjs
text/calendar ics
text/vcard vcf
text/vtt vtt
image/png png
image/jpeg jpg jpeg jpe jfif
image/gif gif
image/webp webp
image/bmp bmp
image/tiff tif tiff
image/svg+xml svg
image/avif avif
image/heic heic
audio/mpeg mp3
audio/wav wav
audio/mp4 m4a
audio/flac flac
audio/aac aac
audio/ogg ogg oga opus
video/mp4 mp4 m4v
video/webm webm
video/quicktime mov
`;

const byAlias = readTable(ALIASES);
const byExtension = readTable(EXTENSIONS);

function readTable(table: string): ReadonlyMap<string, string> {
  const rows = table.trim().split("\n");
  return new Map(
    rows.flatMap((row) => {
      const [type, ...others] = row.split(" ");
      return others.map((other) => [other, type!] as const);
    }),
  );
}

export const UNKNOWN_TYPE = "application/octet-stream";

/** The type by which media types are compared: in lower case, without parameters, by its registered name. */
export function toMediaType(text: string): string {
  const type = text.split(";", 1)[0]!.trim().toLowerCase();
  return byAlias.get(type) ?? type;
}

/** The type of a form's file: unknown if its part names none, or no single one, as Android's clients do with `image/*`. */
export function toPartType(contentType = ""): string {
  return /^$|\/\*$|^multipart\//.test(toMediaType(contentType)) ? UNKNOWN_TYPE : contentType;
}

/** The usual end of the name of a file of this type, such as `.jpg`; `.bin` for an unknown type. */
export function toExtension(mime_type: string): string {
  const type = toMediaType(mime_type);
  for (const [extension, knownType] of byExtension) if (knownType === type) return `.${extension}`;
  return ".bin";
}

/** The type of a file by its name; UNKNOWN_TYPE if the name says nothing. */
export function guessType(filename: string): string {
  return byExtension.get(filename.split(".").at(-1)!.toLowerCase()) ?? UNKNOWN_TYPE;
}
