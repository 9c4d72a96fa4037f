import { describe, expect, it } from "vitest";
import { ASSUMPTIONS } from "../../src/engine/contract/assumptions/index.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import {
  GAPS,
  listClauses,
  listLeadingCitations,
  listTestedClauses,
  listUntested,
  SECTIONS,
} from "./clauses.mjs";

const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

describe("a section or assumption", () => {
  it("is in the title of a test", () => {
    expect(listUntested()).toEqual([]);
  });

  it("that the declarations name is known and is in the title of a test", () => {
    const named = new Set([
      ...OPERATIONS.flatMap(({ section, assumptions = [] }) => [section, ...assumptions]),
      ...ASSUMPTIONS.map(({ id }) => id),
    ]);
    const proved = listTestedClauses();
    expect([...named].filter((clause) => !SECTIONS.includes(clause) && !GAPS.includes(clause))).toEqual([]);
    expect([...named].filter((clause) => !proved.has(clause))).toEqual([]);
  });

  it("is listed once if it is an assumption", () => {
    expect(ASSUMPTIONS.map(({ id }) => id)).toEqual(GAPS);
  });

  it("begins no title", () => {
    expect(listLeadingCitations()).toEqual([]);
  });

  it.each([
    ["moves are refused [4.3, G10]", ["4.3", "G10"]],
    ["the headers of a response [section 9]", ["9"]],
    ["slow clients are cut [quality 2.10, G13]", ["G13"]],
    ["200 rounds", []],
    ["a file of 4.6", []],
    ["a department cannot become its own descendant [4.3]", ["4.3"]],
    ["a client that leaves ends its stream [interfaces 7, G16]", ["G16"]],
    ["an empty list [none]", []],
  ])("is read from %j as %j", (title, clauses) => {
    expect(listClauses(title)).toEqual(clauses);
  });
});
