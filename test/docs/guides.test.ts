import { describe } from "vitest";
import { GUIDES, testExamples } from "../support/docs/test-examples.ts";

describe("examples of the guides", () => testExamples(GUIDES));
