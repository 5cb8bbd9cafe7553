// Anthropic's memory tool (`memory_20250818`) over the toolset `files`, in the frameworks that have the tool.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { ChatAnthropic } from "@langchain/anthropic";
import { generateText, isStepCount } from "ai";
import { createDeepAgent } from "deepagents";
import { createAgent } from "langchain";
import { answer } from "./agents.mjs";
import { importInstalled, repository } from "./installed.mjs";

const { openMemory } = await importInstalled("agent-memory");

const path = "/memories/todo.md";
const edit = (word) => ({ command: "str_replace", path, old_str: `${word}: open`, new_str: `${word}: done` });
/** The calls of a model by turn: it creates a file, and then makes two edits and one refused edit at once. */
const turns = [[{ command: "create", path, file_text: "one: open\ntwo: open\n" }], [edit("one"), edit("two"), edit("three")]];

/**
 * Opens a memory with the toolset `files`, and checks the file after the turns. `use` gets a `fetch` that plays
 * Anthropic's API. It resolves to whether the framework marks each result as an error, in the order of the calls.
 */
async function withFiles(context, use) {
  const dataDir = join(repository(context), "data");
  const memory = await openMemory({ allow: [], toolsets: ["files"], dataDir });
  try {
    const asked = turns.map((inputs, turn) =>
      answer(inputs.map((input, index) => ({ type: "tool_use", id: `toolu_${turn}_${index}`, name: "memory", input })), "tool_use"),
    );
    const answers = [...asked, answer([{ type: "text", text: "Done." }], "end_turn")];
    const sent = [];
    const fetch = async (_, { body }) => {
      sent.push(JSON.parse(body));
      return Response.json({ ...answers.shift(), id: `msg_${sent.length}` });
    };
    const refused = await use(memory, { agent: "ada" }, fetch);
    assert.deepEqual(refused, [false, false, false, true]);
    assert.equal(sent.length, 3);
    const { type } = sent[0].tools.find(({ name }) => name === "memory");
    assert.equal(type, "memory_20250818");
    const results = sent[2].messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool_result");
    const texts = results.map(({ content }) => (typeof content === "string" ? content : content[0].text));
    assert.equal(texts[0], `File created successfully at: ${path}`);
    assert.equal(texts[3], `No replacement was performed, old_str \`three: open\` did not appear verbatim in ${path}.`);
    assert.equal(readFileSync(join(dataDir, "files/ada/todo.md"), "utf8"), "one: done\ntwo: done\n");
  } finally {
    await memory.close();
  }
}

test("the AI SDK keeps the files of Anthropic's memory tool", (context) =>
  withFiles(context, async (memory, application, fetch) => {
    const { memoryFiles } = await importInstalled("agent-memory/ai");
    const anthropic = createAnthropic({ apiKey: "none", fetch });
    const tools = { memory: anthropic.tools.memory_20250818({ execute: memoryFiles(memory, application) }) };
    const ask = { model: anthropic("m"), tools, prompt: "Remember.", maxOutputTokens: 10, stopWhen: isStepCount(5) };
    const { steps } = await generateText(ask);
    const results = steps.flatMap(({ content }) => content).filter(({ type }) => /^tool-(result|error)$/.test(type));
    return results.map(({ type }) => type === "tool-error");
  }));

test("LangChain keeps the files of Anthropic's memory tool", (context) =>
  withFiles(context, async (memory, application, fetch) => {
    const { memoryFiles } = await importInstalled("agent-memory/langchain");
    const model = new ChatAnthropic({ model: "m", apiKey: "none", clientOptions: { fetch } });
    const agent = createAgent({ model, tools: [memoryFiles(memory, application)] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Remember." }] });
    return messages.filter(({ type }) => type === "tool").map(({ status }) => status === "error");
  }));

test("a deep agent keeps the files of Anthropic's memory tool", (context) =>
  withFiles(context, async (memory, application, fetch) => {
    const { memoryFiles } = await importInstalled("agent-memory/langchain");
    const model = new ChatAnthropic({ model: "m", apiKey: "none", clientOptions: { fetch } });
    const agent = createDeepAgent({ model, tools: [memoryFiles(memory, application)] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Remember." }] });
    return messages.filter(({ type }) => type === "tool").map(({ status }) => status === "error");
  }));
