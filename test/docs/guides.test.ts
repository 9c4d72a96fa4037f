import { describe, vi } from "vitest";
import { GUIDES, testExamples } from "../support/docs/test-examples.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describe("examples of the guides", () => testExamples(GUIDES));
