import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BOMBS } from "../../test/support/bomb-corpus.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { RESOURCES } from "../engine/resources/index.ts";
import { FixtureLibrary } from "./fixture-library.ts";
import { SHIPPED_FIXTURES } from "./shipped-files.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "fixtures-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const createLibrary = (more: { folders?: string[] } = {}) =>
  new FixtureLibrary({ resources: RESOURCES, folders: [SHIPPED_FIXTURES.folder], cwd, ...more });

function write(file: string, text: string): string {
  mkdirSync(join(cwd, file, ".."), { recursive: true });
  writeFileSync(join(cwd, file), text);
  return `./${file}`;
}

/** The problems as a user reads them, one in each line. */
function readRefusal(fixture: string | object, from = createLibrary()): string {
  try {
    from.load(fixture);
  } catch (error) {
    if (error instanceof DocumentError) return error.format();
    throw error;
  }
  throw new Error("the fixture was taken");
}

const world = `organizations: [{ id: org_a, name: A }, { id: org_b }]
users:
  - { id: usr_a, memberships: { org_a: owner } }
departments:
  - { id: dept_top, name: Top }
  - { id: dept_low, parent_id: dept_top }
`;

type Rows = {
  all(): Iterable<Record<string, unknown>>;
  get(id: string): Record<string, unknown> | undefined;
};

function loadTable(fixture: string | object, name: string, seed = 1, from = createLibrary()): Rows {
  return from.load(fixture).buildRoot(seed).tables.get(name) as unknown as Rows;
}

const listIds = (rows: Rows) => [...rows.all()].map(({ id }) => id);

it("every listed name loads: of a linked file, and of one with an upper-case extension [interfaces 5]", () => {
  write("elsewhere/original.yaml", world);
  mkdirSync(join(cwd, "fixtures"));
  symlinkSync(join(cwd, "elsewhere/original.yaml"), join(cwd, "fixtures/linked.yaml"));
  write("fixtures/loud.YAML", world);
  const library = createLibrary({ folders: [join(cwd, "fixtures")] });
  expect(library.listNames()).toEqual(["linked", "loud"]);
  for (const name of library.listNames())
    expect(listIds(loadTable(name, "organizations", 1, library))).toEqual(["org_a", "org_b"]);
});

it.each([
  [
    "gives a key twice",
    '"organizations": [{ "id": "org_a" }],\n"organizations": []',
    "4:1: the key `organizations` is given twice",
  ],
  [
    "has a number that JavaScript would round",
    '"organizations": [{ "id": "org_a", "rate_limit": 9007199254740993 }]',
    "3:50: the number 9007199254740993 is too large to be exact; quote it if it is a text",
  ],
])(
  "a large JSON file that %s is refused with its place, as a small one is [interfaces 5]",
  (_, part, problem) => {
    for (const length of [1, 300_000]) {
      const text = `{\n"description": "12345678901234567890 ${"x".repeat(length)}",\n${part}\n}`;
      expect(readRefusal(write("large.json", text))).toBe(`large.json:${problem}`);
    }
  },
);

describe("a fixture", () => {
  it("is found by name, by a path to YAML or JSON, and as a value [interfaces 5]", () => {
    expect(listIds(loadTable("reference", "organizations"))).toContain("org_hooli");
    expect(listIds(loadTable(write("my.yaml", world), "organizations"))).toEqual(["org_a", "org_b"]);
    expect(listIds(loadTable(write("deep/my.yml", world), "departments"))).toEqual(["dept_low", "dept_top"]);
    const json = JSON.stringify({ organizations: [{ id: "org_j" }] });
    expect(listIds(loadTable(write("my.json", json), "organizations"))).toEqual(["org_j"]);
    expect(listIds(loadTable(join(cwd, "my.json"), "organizations"))).toEqual(["org_j"]);
    expect(listIds(loadTable({ organizations: [{ id: "org_v" }] }, "organizations"))).toEqual(["org_v"]);
    expect(createLibrary().load("./my.yaml").name).toBe("./my.yaml");
    expect(createLibrary().load({}).name).toBe("inline");
  });

  it("is found in the user's folder before the shipped ones [interfaces 5]", () => {
    write("fixtures/reference.yaml", "extends: reference\norganizations: [{ id: org_own }]");
    write("fixtures/small.yaml", world);
    const own = new FixtureLibrary({ resources: RESOURCES, cwd });
    expect(listIds(loadTable("small", "organizations", 1, own))).toEqual(["org_a", "org_b"]);
    expect(listIds(loadTable("reference", "organizations", 1, own))).toEqual(
      expect.arrayContaining(["org_acme", "org_own"]),
    );
    expect(own.listNames()).toEqual(expect.arrayContaining(["reference", "small"]));
  });

  it("is refused with the known names and the nearest one if it is unknown [interfaces 5]", () => {
    expect(readRefusal("refrence")).toMatch(
      /^there is no fixture "refrence"; known by name: .*reference.* \(did you mean "reference"\?\)$/,
    );
    expect(readRefusal("./none.yaml")).toBe("there is no file none.yaml");
    expect(readRefusal(".")).toMatch(/is a folder/);
    expect(readRefusal("/dev/zero")).toMatch(/not an ordinary file/);
  });
});

describe("`extends`", () => {
  it("refuses a null for a missing key or record, and names the nearest [interfaces 5]", () => {
    const path = write(
      "vain.yaml",
      "extends: reference\ndepartments: { dept_mll: null }\nwebhoks: null\nvector_stores: [{ id: vs_handbook, files: { file_polices: null } }]",
    );
    expect(readRefusal(path).split("\n")).toEqual([
      'vain.yaml:2:16: there is no dept_mll here to delete (did you mean "dept_ml"?)',
      'vain.yaml:3:1: the document may not have the key `webhoks` (did you mean "webhooks"?)',
      'vain.yaml:4:45: there is no file_polices here to delete (did you mean "file_policies"?)',
    ]);
  });

  it("refuses a null for a key that its record or map cannot have, such as the rest of a text with a comma", () => {
    const path = write(
      "comma.yaml",
      [
        "extends: reference",
        "users: [{ id: usr_ada, name: Osei, Ada, verified: null }]",
        "departments: { dept_eng: { discription: null, color: null } }",
        "usage: { org_acme: { montly_limit: } }",
        "vector_stores: [{ id: vs_handbook, files: { file_policies: { stat: null } } }]",
        "generate: { departmets: null }",
      ].join("\n"),
    );
    expect(readRefusal(path).split("\n")).toEqual([
      "comma.yaml:2:36: `users[0]` may not have the key `Ada`",
      'comma.yaml:3:28: `departments.dept_eng` may not have the key `discription` (did you mean "description"?)',
      'comma.yaml:4:22: `usage.org_acme` may not have the key `montly_limit` (did you mean "monthly_limit"?)',
      'comma.yaml:5:62: `vector_stores[0].files.file_policies` may not have the key `stat` (did you mean "status"?)',
      'comma.yaml:6:13: `generate` may not have the key `departmets` (did you mean "departments"?)',
    ]);
  });

  it("merges maps by key and lists by id, deletes by null, and follows a chain of files [interfaces 5]", () => {
    write("base.yaml", world);
    write("sub/middle.yaml", "extends: ../base.yaml\ndepartments: [{ id: dept_mid, parent_id: dept_top }]");
    const top = write(
      "top.yaml",
      "extends: ./sub/middle.yaml\ndepartments: { dept_low: null }\nusers: [{ id: usr_a, memberships: { org_b: member } }]\norganizations: [{ id: org_a, plan: premium }]",
    );
    expect(listIds(loadTable(top, "departments"))).toEqual(["dept_mid", "dept_top"]);
    expect(loadTable(top, "users").get("usr_a")).toMatchObject({
      memberships: { org_a: "owner", org_b: "member" },
    });
    expect(loadTable(top, "organizations").get("org_a")).toMatchObject({ name: "A", plan: "premium" });
    expect(createLibrary().loadData(top)).not.toHaveProperty("extends");
  });

  it("works by name in an inline fixture [interfaces 5]", () => {
    const rows = loadTable({ extends: "reference", departments: [{ id: "dept_new" }] }, "departments");
    expect(listIds(rows)).toEqual(expect.arrayContaining(["dept_new", "dept_eng"]));
  });

  it("refuses an `extends` that refers back to itself, a missing base and a wrong one at its own line [interfaces 5]", () => {
    write("a.yaml", "# circle\nextends: ./b.yaml");
    write("b.yaml", "extends: ./c.yaml");
    write("c.yaml", "extends: ./a.yaml");
    expect(readRefusal("./a.yaml")).toBe(
      "c.yaml:1:10: a fixture cannot extend itself: a.yaml, which extends b.yaml, which extends c.yaml, which extends a.yaml",
    );
    expect(readRefusal(write("self.yaml", "extends: ./self.yaml"))).toMatch(
      /^self.yaml:1:10: .*cannot extend itself/,
    );
    expect(readRefusal(write("lost.yaml", "name: x\nextends: gone"))).toMatch(
      /^lost.yaml:2:10: there is no fixture "gone"/,
    );
    expect(readRefusal(write("lost2.yaml", "extends: ./gone.yaml"))).toBe(
      "lost2.yaml:1:10: there is no file gone.yaml",
    );
    expect(readRefusal(write("number.yaml", "extends: 5"))).toMatch(
      /^number.yaml:1:10: `extends` must be a text/,
    );
  });

  it("reports a problem in the file that contains it [interfaces 5]", () => {
    write("base.yaml", `${world}\napi_keys:\n  - { id: apikey_a, user_id: usr_a, current: org_a }\n`);
    const top = write(
      "top.yaml",
      "extends: ./base.yaml\n\nusers: { usr_a: null }\ndepartments:\n  - { id: dept_low, color: red }\n",
    );
    expect(readRefusal(top)).toMatch(/^top.yaml:5:28: `departments\[1\].color` must be/);
    writeFileSync(join(cwd, "top.yaml"), "extends: ./base.yaml\nusers: { usr_a: null }\n");
    expect(readRefusal(top)).toMatch(/^base.yaml:9:30: there is no user usr_a$/);
  });
});

describe("a fixture's contents", () => {
  it("are refused with file, line and column of every problem and the nearest right word [interfaces 2]", () => {
    const path = write(
      "bad.yaml",
      [
        "organizaitons: []",
        "organizations:",
        "  - { id: org_a, plan: premuim }",
        "  - { id: acme }",
        "  - { id: org_b, rate_limit: lots }",
        "epoch: 2026-02-30T00:00:00Z",
        "generate: { departmnets: 5 }",
      ].join("\n"),
    );
    const lines = readRefusal(path).split("\n");
    expect(lines[0]).toBe(
      'bad.yaml:1:1: the document may not have the key `organizaitons` (did you mean "organizations"?)',
    );
    expect(lines[1]).toMatch(
      /^bad.yaml:3:24: `organizations\[0\].plan` must be .* \(did you mean "premium"\?\)$/,
    );
    expect(lines[2]).toMatch(/^bad.yaml:4:11: `organizations\[1\].id` must be/);
    expect(lines[3]).toMatch(/^bad.yaml:5:30: `organizations\[2\].rate_limit` must be an integer/);
    expect(lines[4]).toMatch(/^bad.yaml:6:8: `epoch` must be an instant such as/);
    expect(lines[5]).toMatch(/^bad.yaml:7:13: .*`departmnets` \(did you mean "departments"\?\)$/);
    expect(lines).toHaveLength(6);
  });

  it.each([
    [
      "a track twice in a collection",
      "music_collections: [{ id: mcoll_a, tracks: [TWICE] }]",
      "track_id: mtrack_a",
    ],
    [
      "a transcript entry in two sessions",
      "meeting_sessions: [{ id: mbsess_a, transcript_entries: [ONE] }, { id: mbsess_b, transcript_entries: [ONE] }]",
      "transcript_id: mbtrans_a, text: x",
    ],
    [
      "an auth config in two organizations",
      "auth_configs: { org_acme: [ONE], org_globex: [ONE] }",
      "id: ours",
    ],
    ["a name that is its id", "users: [TWICE]", "name: usr_twice, id: usr_twice"],
    ["the name of one that is its id", "users: [ONE, { id: usr_twice }]", "name: usr_twice, id: usr_twice"],
  ])("are refused with %s [interfaces 5]", (_, text, record) => {
    const one = `{ ${record} }`;
    const records = text.replaceAll("TWICE", `${one}, ${one}`).replaceAll("ONE", one);
    const path = write("twice.yaml", `extends: reference\n${records}`);
    expect(readRefusal(path)).toMatch(/^twice.yaml:2:\d+: \w+ is already the \w*id of `[^`]+`$/);
  });

  it.each([
    ["departments", "dept"],
    ["threads", "thread"],
    ["assistants", "asst"],
  ])("add generated %s to those that an earlier generation wrote [interfaces 5]", (key, prefix) => {
    const path = write(
      "more.yaml",
      `organizations: [{ id: org_a }]\n${key}: [{ id: ${prefix}_gen0000001 }]\ngenerate: { ${key}: 4 }`,
    );
    expect(listIds(loadTable(path, key))).toEqual([0, 1, 2, 3].map((n) => `${prefix}_gen000000${n}`));
  });

  it.each([
    ["tracks", "music_collections: [{ id: mcoll_x, tracks: [{ track_id: mtrack_x_0002 }, {}] }]", 455],
    ["auth_configs", "auth_configs: { org_acme: [{ id: authcfg_acme_2 }, {}] }", 2],
    ["audit_logs", "audit_log: { org_acme: [{ id: log_acme_000002 }, {}], org_globex: null }", 2],
    ["audit_logs", "audit_log: { org_acme: 2, org_globex: [{ id: log_acme_000002 }] }", 3],
    [
      "audit_logs",
      "audit_log: { org_acme: [{ id: log_acme_000003 }], org_globex: null }\ngenerate: { audit_log: { org_acme: 9 } }",
      9,
    ],
  ])("keep given ids in %s apart from those of numbered records: %s [interfaces 5]", (key, list, size) => {
    const path = write("numbered.yaml", `extends: reference\n${list}`);
    expect(new Set(listIds(loadTable(path, key))).size).toBe(size);
  });

  it("accept a track that is in two collections [2.3]", () => {
    const tracks = "tracks: [{ track_id: mtrack_a }]";
    const collections = ["a", "b"].map((name) => `{ id: mcoll_${name}, ${tracks} }`);
    const path = write("shared.yaml", `extends: reference\nmusic_collections: [${collections}]`);
    expect(createLibrary().load(path).buildRoot(1).tables.get("tracks")!.size).toBe(455);
  });

  it.each([
    [
      "transcriptions: [{ id: trans_a, audio_duration_seconds: 1, sentences: [{ text: a, end: 2 }] }]",
      "end lies after the end of the audio",
    ],
    [
      "transcriptions: [{ id: trans_a, audio_duration_seconds: 1, sentences: [{ text: a, start: 2 }] }]",
      "start lies after the end of the audio",
    ],
    [
      "transcriptions: [{ id: trans_a, sentences: [{ text: a, start: 5, end: 2 }] }]",
      "end lies before start",
    ],
    [
      "meeting_sessions: [{ id: mbsess_a, transcript_entries: [{ start_time: 5, end_time: 2 }] }]",
      "end_time lies before start_time",
    ],
    ["webhooks: [{ id: wh_a, url: 'http://user:word@x.test/' }]", "url must not contain credentials"],
    ["webhooks: [{ id: wh_a, url: 'http://256.1.1.1/' }]", "url must be an absolute http or https URL"],
  ])("are refused like the state calls that make them: %s [interfaces 5]", (list, message) => {
    const path = write("like.yaml", `extends: reference\n${list}`);
    expect(readRefusal(path)).toMatch(new RegExp(`^like.yaml:2:\\d+: ${message}`));
  });

  it.each([
    ["sentences", "transcriptions: [{ id: trans_a, sentences: [{ text: a, end: 0.1 }] }]", { end: 0.1 }],
    [
      "meeting_transcripts",
      "meeting_sessions: [{ id: mbsess_a, transcript_entries: [{ end_time: 0.1 }] }]",
      { end_time: 0.1 },
    ],
  ])("keep the end of a line without a start: %s [interfaces 5]", (key, list, end) => {
    const rows = [...loadTable(write("ends.yaml", `extends: reference\n${list}`), key).all()];
    expect(rows).toContainEqual(expect.objectContaining(end));
  });

  it("give a job that has just begun no duration beyond the present [G14]", () => {
    const start = "2026-03-15T11:59:58.000Z";
    const path = write(
      "job.yaml",
      `extends: reference\nconnector_jobs: [{ job_id: job_a, connection_id: conn_wiki, start_time: ${start} }]`,
    );
    const job = [...loadTable(path, "connector_jobs").all()].find(
      (one) => "job_id" in one && one.job_id === "job_a",
    );
    expect(job).toMatchObject({ status: "succeeded", duration: 2 });
  });

  it("are refused with a store's file that ends before it starts [2.9]", () => {
    const times = "started_at: 2026-03-14T10:00:00Z, completed_at: 2026-03-14T09:00:00Z";
    const path = write(
      "times.yaml",
      `extends: reference\nvector_stores: [{ id: vs_a, files: [{ file_id: file_loose, ${times} }] }]`,
    );
    expect(readRefusal(path)).toMatch(/^times.yaml:2:\d+: completed_at lies before started_at/);
  });

  it("are refused with a delivery whose code contradicts its status [3.3]", () => {
    const delivery = "{ delivery_id: del_a, event: user.created, status: success, response_code: 500 }";
    const path = write(
      "code.yaml",
      `extends: reference\nwebhooks: [{ id: wh_a, deliveries: [${delivery}] }]`,
    );
    expect(readRefusal(path)).toMatch(/^code.yaml:2:\d+: a success has a response code of 200 to 299/);
  });

  it("are refused with a capability where the user is not a member [G02]", () => {
    const user = "{ id: usr_dan, capabilities: { org_globex: [report-create] } }";
    const path = write("capable.yaml", `extends: reference\nusers: [${user}]`);
    expect(readRefusal(path)).toMatch(/^capable.yaml:2:\d+: usr_dan is not a member of org_globex/);
  });

  it("are refused with changes in an entry of a creation [2.6]", () => {
    const entry = "{ action: created, changes: [{ field: name, old_value: a, new_value: b }] }";
    const path = write("log.yaml", `extends: reference\ndashboard_change_logs: { org_acme: [${entry}] }`);
    expect(readRefusal(path)).toMatch(/^log.yaml:2:\d+: changes contradicts the action created/);
  });

  it.each([
    [
      "a store's file",
      "vector_stores: [{ id: vs_a, organization_id: org_globex, files: [{ file_id: file_loose }] }]",
    ],
    [
      "a job's connection",
      "connector_jobs: [{ job_id: job_a, connection_id: conn_drive, organization_id: org_globex }]",
    ],
  ])("are refused with %s of another organization [G12, G14]", (_, record) => {
    const path = write("foreign.yaml", `extends: reference\n${record}`);
    expect(readRefusal(path)).toMatch(/^foreign.yaml:2:\d+: \w+ belongs to another organization$/);
  });

  it("are refused with all dangling references and repeated ids at once [interfaces 5]", () => {
    const path = write(
      "refs.yaml",
      [
        "organizations: [{ id: org_a }, { id: org_a }]",
        "users: [{ id: usr_a, memberships: { org_b: owner } }]",
        "departments:",
        "  - { id: dept_a, organization_id: org_aa }",
        "  - { id: dept_b, parent_id: dept_x, created_by: usr_z }",
      ].join("\n"),
    );
    expect(readRefusal(path)).toBe("refs.yaml:1:38: org_a is already the id of `organizations[0]`");
    writeFileSync(
      join(cwd, "refs.yaml"),
      "organizations: [{ id: org_a }]\n" + formatFile("refs.yaml").split("\n").slice(1).join("\n"),
    );
    expect(readRefusal(path).split("\n")).toEqual([
      'refs.yaml:2:37: there is no organization org_b (did you mean "org_a"?)',
      'refs.yaml:4:36: there is no organization org_aa (did you mean "org_a"?)',
      expect.stringMatching(/^refs.yaml:5:30: .*dept_x/),
      'refs.yaml:5:50: there is no user usr_z (did you mean "usr_a"?)',
    ]);
  });

  it("are refused for values that contradict the record's status, but not for null, 0 and an empty text [interfaces 5]", () => {
    const at = "2026-03-10T08:00:00Z";
    const path = write(
      "status.yaml",
      `extends: reference
vector_stores:
  - { id: vs_handbook, files: [{ file_id: file_handbook, status: completed, error_message: bad }, { file_id: file_policies, status: processing, error_message: "", completed_at: "${at}" }, { file_id: file_broken, error_message: fine }] }
connector_jobs:
  - { job_id: job_x, connection_id: conn_wiki, status: running, bytes_synced: 0, rows_synced: 7 }
webhooks:
  - { id: wh_users, deliveries: [{ delivery_id: del_x, event: user.created, status: success, next_retry: "${at}" }, { delivery_id: del_y, event: user.created, status: failed, delivered_at: "${at}", next_retry: null }] }
`,
    );
    const describeContradiction = (status: string) =>
      `contradicts the status ${status}: omit it, or give another status`;
    expect(
      readRefusal(path)
        .split("\n")
        .map((line) => line.replace(/^.*?:(\d+):\d+: /, "N ")),
    ).toEqual([
      `N error_message ${describeContradiction("completed")}`,
      `N completed_at ${describeContradiction("processing")}`,
      `N rows_synced ${describeContradiction("running")}`,
      `N next_retry ${describeContradiction("success")}`,
      `N delivered_at ${describeContradiction("failed")}`,
    ]);
  });

  it("are refused for impossible instants and those without a zone [interfaces 5]", () => {
    for (const at of [
      "2026-02-30T00:00:00Z",
      "2026-06-30T23:59:60Z",
      "2026-03-15T12:00:00",
      "yesterday",
      "0",
    ]) {
      const text = `${world}api_keys:\n  - { id: apikey_a, user_id: usr_a, current: org_a, expires_at: "${at}" }`;
      expect(readRefusal(write("when.yaml", text)), at).toMatch(
        /^when.yaml:8:65: `api_keys\[0\].expires_at` must be an instant such as/,
      );
    }
  });

  it("are refused without a stack trace if the YAML is broken or is not a map [interfaces 2]", () => {
    expect(readRefusal(write("list.yaml", "- a"))).toMatch(/^list.yaml:1:1: a fixture must be a map/);
    expect(readRefusal(write("empty.yaml", ""))).toMatch(/a fixture must be a map/);
    for (const text of ["", "\n", "# nothing yet\n"])
      expect(readRefusal(write("empty.yaml", text))).toBe(
        "empty.yaml:1:1: a fixture must be a map of lists and settings, but this one is empty; write {} for a world without records",
      );
    expect(listIds(loadTable(write("none.yaml", "{}"), "organizations"))).toEqual([]);
    expect(readRefusal(write("broken.yaml", "users: [\n  a: {"))).toMatch(/^broken.yaml:\d+:\d+: /);
    expect(readRefusal([])).toMatch(/must be a map/);
  });

  it("are refused with the unusual space that indents them, and its place [interfaces 2]", () => {
    const reason =
      "a no-break space (U+00A0) is here, which YAML does not take for a space; type an ordinary space, or quote the text";
    const listProblems = (text: string) => readRefusal(write("space.yaml", text)).split("\n");
    const indented = "organizations:\n\u00a0\u00a0- id: org_a\n\u00a0\u00a0\u00a0 name: A\n";
    expect(listProblems(indented)).toEqual([`space.yaml:2:1: ${reason}`, `space.yaml:3:1: ${reason}`]);
    expect(listProblems("extends:\u00a0reference\n")).toEqual([`space.yaml:1:9: ${reason}`]);
  });

  it("are refused if an inline value is too deep, endless, or uses a prototype's name [interfaces 5]", () => {
    const deep: Record<string, unknown> = {};
    let inner = deep;
    for (let i = 0; i < 100_000; i++) {
      inner["a"] = {};
      inner = inner["a"] as Record<string, unknown>;
    }
    expect(readRefusal(deep)).toMatch(/nested more than/);
    const endless: Record<string, unknown> = {};
    endless["users"] = endless;
    expect(readRefusal(endless)).toMatch(/nested more than/);
    expect(readRefusal(JSON.parse('{"users":[{"__proto__":{"polluted":1}}]}'))).toMatch(
      /`__proto__` is not allowed/,
    );
    expect(readRefusal({ users: new Array(300_000).fill(1) })).toMatch(/too large/);
    expect(readRefusal({ threads: -1 })).toMatch(/at least 0/);
    expect(readRefusal({ users: 10_000_000 })).toMatch(/at most 100000/);
  });

  it("are refused quickly for bombs of every kind [interfaces 5]", () => {
    // The test of the reader has all bombs; these are one of each kind, and small.
    const kinds = [
      /billion laughs in flow/,
      /own value/,
      /100,?000|hundred thousand deep/,
      /prototype/,
      /unknown tag/,
    ];
    for (const bomb of BOMBS.filter(({ name }) => kinds.some((kind) => kind.test(name)))) {
      const path = write(bomb.file, bomb.text());
      expect(() => createLibrary().load(path), bomb.name).toThrow(DocumentError);
    }
  });

  it("are refused if a record needs an organization and the fixture has none [interfaces 5]", () => {
    const none = "belong to organizations, but this fixture has no organizations";
    expect(readRefusal(write("homeless.yaml", "files: [{ id: file_a }]\nthreads: 2\n"))).toBe(
      [`homeless.yaml:1:8: files ${none}`, `homeless.yaml:2:10: threads ${none}`].join("\n"),
    );
    expect(listIds(loadTable({ organizations: 1, files: [{ id: "file_a" }] }, "files"))).toEqual(["file_a"]);
    expect(listIds(loadTable({ users: [{ id: "usr_a" }] }, "users"))).toEqual(["usr_a"]);
  });

  it("are refused if a map by organization has other keys [interfaces 5]", () => {
    expect(readRefusal({ organizations: [{ id: "org_a" }], audit_log: { acme: 5 } })).toContain("acme");
  });
});

describe("a built fixture", () => {
  it("is shared by all that use the same fixture and seed, by any name [interfaces 5]", () => {
    const from = createLibrary();
    const path = write("my.yaml", world);
    const root = from.load(path).buildRoot(1);
    expect(from.load(path).buildRoot(1)).toBe(root);
    expect(from.load(join(cwd, "my.yaml")).buildRoot(1)).toBe(root);
    expect(from.load(path).buildRoot(2)).not.toBe(root);
    const inline = from.load({ organizations: [{ id: "org_a" }] }).buildRoot(1);
    expect(from.load({ organizations: [{ id: "org_a" }] }).buildRoot(1)).toBe(inline);
    expect(from.load({ organizations: [{ id: "org_b" }] }).buildRoot(1)).not.toBe(inline);
  });

  it("is shared by the servers of one process, but nothing else is [interfaces 5]", () => {
    const root = createLibrary().load("reference").buildRoot(1);
    // Compared here: if `expect` compared the roots, it would take a minute to print them in a message.
    const isShared = (library: FixtureLibrary, fixture = "reference", seed = 1) =>
      library.load(fixture).buildRoot(seed) === root;
    expect(isShared(createLibrary())).toBe(true);
    expect(isShared(createLibrary(), "reference", 2)).toBe(false);
    expect(isShared(new FixtureLibrary({ resources: RESOURCES, trustBuild: false }))).toBe(false);
    expect(isShared(new FixtureLibrary({ resources: [...RESOURCES] }))).toBe(false);
    const path = write("my.yaml", world);
    const [one, other] = [createLibrary(), createLibrary()].map((library) => library.load(path).buildRoot(1));
    expect(one === other).toBe(false);
  });

  it("does not follow later changes of an inline object [interfaces 5]", () => {
    const from = createLibrary();
    const fixture = { organizations: [{ id: "org_a" }] };
    const loaded = from.load(fixture);
    fixture.organizations[0]!.id = "org_changed";
    expect(listIds(loaded.buildRoot(1).tables.get("organizations") as unknown as Rows)).toEqual(["org_a"]);
    expect(listIds(loadTable(fixture, "organizations", 1, from))).toEqual(["org_changed"]);
  });

  it("stays shared with living sandboxes after many other fixtures [interfaces 5]", () => {
    const from = createLibrary();
    const held = from.load({ organizations: [{ id: "org_held" }] });
    const root = held.buildRoot(7);
    for (let i = 0; i < 200; i++) from.load({ organizations: [{ id: `org_${i}` }] }).buildRoot(i);
    for (let i = 0; i < 50; i++) held.buildRoot(100 + i);
    expect(from.load({ organizations: [{ id: "org_held" }] }).buildRoot(7)).toBe(root);
  });
});

function formatFile(file: string): string {
  return readFileSync(join(cwd, file), "utf8");
}
