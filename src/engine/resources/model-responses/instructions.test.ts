import { describe, expect, it } from "vitest";
import { instructionsOf } from "./instructions.ts";
import { recall } from "./recall.ts";

describe("G20 instructions", () => {
  it.each([
    ["Answer in JSON only.", { json: { keys: [] } }],
    ['Reply with valid JSON with the keys "title" and "tags".', { json: { keys: ["title", "tags"] } }],
    ['Return JSON like {"name": "...", "age": 3}', { json: { keys: ["name", "age"] } }],
    ["Answer with one word.", { maxWords: 1 }],
    ["Explain in at most 12 words", { maxWords: 12 }],
    ["Summarise in one sentence.", { maxSentences: 1 }],
    ["Please answer in German.", { language: "de" }],
    ["Antworte auf Deutsch.", { language: "de" }],
    ["Réponds en français.", { language: "fr" }],
    ['Reply with exactly "pong".', { exact: "pong" }],
    ["Give me bullet points", { isList: true }],
    ["Write in all caps", { isUpperCase: true }],
  ])("G20 %s is understood", (text, instructions) => {
    expect(instructionsOf([text])).toEqual(instructions);
  });

  it.each([
    "What is JSON?",
    "How many words has the contract?",
    "Where is the German office?",
    "Who said that the plan is good?",
    "List what we know.",
  ])("G20 %s asks for no form", (text) => {
    expect(instructionsOf([text])).toEqual({});
  });

  it("G20 of two that contradict each other the later one holds", () => {
    const texts = [
      "Answer in German.",
      "Answer in JSON only.",
      "In Italian, please: what now? Answer in Italian.",
    ];
    expect(instructionsOf(texts)).toEqual({ language: "it", json: { keys: [] } });
  });
});

describe("G20 what was said before", () => {
  const earlier = [
    { role: "user", text: "Hello. My name is Ada and I live in Bern." },
    { role: "assistant", text: "Nice to meet you. The release is on Friday." },
    { role: "user", text: "I have three cats. When is the release?" },
    { role: "assistant", text: "As I said." },
  ];

  it.each([
    ["What is my name?", "user", "My name is Ada and I live in Bern."],
    ["How many cats do I have?", "user", "I have three cats."],
    ["What did you say about the release?", "assistant", "The release is on Friday."],
    ["What did you just say?", "assistant", "As I said."],
    ["What was said earlier about the release?", "assistant", "The release is on Friday."],
    ["What was my first message?", "user", "Hello. My name is Ada and I live in Bern."],
    ["What did I just say?", "user", "I have three cats. When is the release?"],
  ])("G20 %s is answered from the earlier turns", async (question, role, text) => {
    expect(await recall(question, earlier)).toEqual({ role, text });
  });

  it("G20 other questions are not, nor is anything where nothing was said", async () => {
    expect(await recall("What does a valve cost?", earlier)).toBeUndefined();
    expect(await recall("How do I open the valve?", earlier)).toBeUndefined();
    expect(await recall("What was my first message?", [])).toEqual({ role: "user", text: undefined });
  });
});
