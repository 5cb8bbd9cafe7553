// In each framework, an agent's system prompt begins with its stored memories.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { Agent, run, Usage } from "@openai/agents";
import { generateText, isStepCount, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createAgent, createMiddleware, fakeModel, AIMessage } from "langchain";
import { importInstalled, repository } from "./installed.mjs";

const { openMemory } = await importInstalled("agent-memory");

const toStore = ["add_core_memory", { content: "Ada likes tea." }];

/** Opens a memory in which `ada` and `bob` have a fact each. */
async function withFacts(context, use) {
  const directory = repository(context);
  const memory = await openMemory({ allow: [], toolsets: ["records"], settings: { records: { directory } } });
  try {
    await memory.call("add_core_memory", { agent_id: "ada", content: "The user prefers tabs." });
    await memory.call("add_core_memory", { agent_id: "bob", content: "Bob's secret." });
    await use(memory, { agent: "ada" });
  } finally {
    await memory.close();
  }
}

/** Checks the system prompts of a run's two requests: they are the same, though a memory was stored in between. */
function checkPrompts(prompts, instructions = "You are Ada.") {
  assert.equal(prompts.length, 2);
  const [first, second] = prompts;
  assert.ok(first.startsWith(instructions), first);
  assert.match(first, /The user prefers tabs\./);
  assert.doesNotMatch(first, /Bob's secret|Ada likes tea/);
  assert.equal(second, first);
}

test("a model of the AI SDK begins with what is remembered", (context) =>
  withFacts(context, async (memory, application) => {
    const { memoryTools, resumeMemory } = await importInstalled("agent-memory/ai");
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const [toolName, input] = toStore;
    const call = { type: "tool-call", toolCallId: "call", toolName, input: JSON.stringify(input) };
    const answers = [
      { content: [call], finishReason: { unified: "tool-calls" } },
      { content: [{ type: "text", text: "Done." }], finishReason: { unified: "stop" } },
    ];
    const prompts = [];
    const doGenerate = async ({ prompt }) => {
      const system = prompt.filter(({ role }) => role === "system");
      assert.deepEqual(prompt.slice(0, system.length), system);
      prompts.push(system.map(({ content }) => content).join("\n"));
      return { ...answers[(prompts.length - 1) % 2], usage, warnings: [] };
    };
    const middleware = resumeMemory(memory, application);
    const model = wrapLanguageModel({ model: new MockLanguageModelV3({ doGenerate }), middleware });
    const tools = memoryTools(memory, application);
    const ask = { model, tools, system: "You are Ada.", prompt: "Remember.", stopWhen: isStepCount(5) };
    await generateText(ask);
    checkPrompts(prompts);
    await generateText(ask);
    assert.match(prompts[2], /Ada likes tea/, "the next run begins with more");
  }));

test("an agent of LangChain begins with what is remembered", (context) =>
  withFacts(context, async (memory, application) => {
    const { memoryTools, resumeMemory } = await importInstalled("agent-memory/langchain");
    const [name, args] = toStore;
    const model = fakeModel().respondWithTools([{ name, args, id: "call" }]).respond(new AIMessage("Done."));
    const middleware = [createMiddleware(resumeMemory(memory, application))];
    const agent = createAgent({ model, tools: memoryTools(memory, application), systemPrompt: "You are Ada.", middleware });
    await agent.invoke({ messages: [{ role: "user", content: "Remember." }] });
    checkPrompts(model.calls.map(({ messages }) => messages[0].text));
  }));

test("an agent of the OpenAI Agents SDK begins with what is remembered", (context) =>
  withFacts(context, async (memory, application) => {
    const { memoryTools, resumeMemory } = await importInstalled("agent-memory/openai");
    const [name, args] = toStore;
    const call = { type: "function_call", callId: "call", name, status: "completed", arguments: JSON.stringify(args) };
    const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] };
    const answers = [[call], [text]];
    const prompts = [];
    const getResponse = async ({ systemInstructions }) => {
      prompts.push(systemInstructions);
      return { usage: new Usage(), output: answers.shift() };
    };
    const instructions = resumeMemory(memory, application, "You are Ada.");
    const agent = new Agent({ name: "ada", instructions, model: { getResponse }, tools: memoryTools(memory, application) });
    await run(agent, "Remember.");
    checkPrompts(prompts);
  }));

test("an agent of Mastra begins with what is remembered", (context) =>
  withFacts(context, async (memory, application) => {
    const { memoryTools, resumeMemory } = await importInstalled("agent-memory/mastra");
    const [toolName, input] = toStore;
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const call = { type: "tool-call", toolCallId: "call", toolName, input: JSON.stringify(input) };
    const text = [
      { type: "text-start", id: "text" },
      { type: "text-delta", id: "text", delta: "Done." },
      { type: "text-end", id: "text" },
    ];
    const answers = [[call, "tool-calls"], [text, "stop"]];
    const prompts = [];
    const doStream = async ({ prompt }) => {
      prompts.push(prompt.filter(({ role }) => role === "system").map(({ content }) => content).join("\n"));
      const [content, unified] = answers.shift();
      const finish = { type: "finish", finishReason: { unified }, usage };
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...[content].flat(), finish]) };
    };
    const model = new MockLanguageModelV3({ doStream });
    const tools = memoryTools(memory, application);
    const inputProcessors = [resumeMemory(memory, application)];
    const agent = new MastraAgent({ id: "ada", name: "ada", instructions: "You are Ada.", model, tools, inputProcessors });
    const stream = await agent.stream("Remember.", { maxSteps: 3 });
    await stream.consumeStream();
    checkPrompts(prompts);
  }));

test("a session of the Claude Agent SDK begins with what is remembered", (context) =>
  withFacts(context, async (memory, application) => {
    const { resumeMemory } = await importInstalled("agent-memory/claude-agent");
    const { SessionStart } = resumeMemory(memory, application);
    const [{ hooks }] = SessionStart;
    const { hookSpecificOutput } = await hooks[0]({ hook_event_name: "SessionStart" }, undefined, {});
    assert.equal(hookSpecificOutput.hookEventName, "SessionStart");
    assert.match(hookSpecificOutput.additionalContext, /The user prefers tabs\./);
    assert.doesNotMatch(hookSpecificOutput.additionalContext, /Bob/);
  }));

test("without the tool `resume_memory` an application is told so", (context) =>
  withFacts(context, async (memory, application) => {
    const { resumeMemory } = await importInstalled("agent-memory/openai");
    const names = memory.tools.filter(({ name }) => name !== "resume_memory");
    const without = Object.create(memory, { tools: { value: names } });
    assert.throws(() => resumeMemory(without, application), /there is no tool `resume_memory` for models/);
    await memory.close();
    await assert.rejects(async () => resumeMemory(memory, application)({}), /closed/);
  }));
