// Each adapter is called by its own framework: with a call that works, one that is refused, and two changes of one
// document at once.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Annotation, InMemoryStore, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { agent as llamaAgent } from "@llamaindex/workflow";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { Agent, run as runAgent, Usage } from "@openai/agents";
import { generateText } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { answer, calls, checkSchema, isRefusal, withSession } from "./agents.mjs";
import { app, importInstalled, repository, run, tool } from "./installed.mjs";

const { openMemory } = await importInstalled("agent-memory");

test("the AI SDK runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/ai");
    const tools = memoryTools(memory, application);
    checkSchema(tools.append_entry.inputSchema.jsonSchema);
    const content = calls.map(([toolName, input], index) => ({
      type: "tool-call",
      toolCallId: `call-${index}`,
      toolName,
      input: JSON.stringify(input),
    }));
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const doGenerate = async () => ({ content, finishReason: { unified: "tool-calls" }, usage, warnings: [] });
    const model = new MockLanguageModelV3({ doGenerate });
    const { content: parts } = await generateText({ model, tools, prompt: "Remember." });
    assert.equal(parts.filter(({ type }) => type === "tool-result").length, 2);
    isRefusal(String(parts.find(({ type }) => type === "tool-error").error));
  }));

test("LangChain runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/langchain");
    const { convertToOpenAITool } = await import("@langchain/core/utils/function_calling");
    const tools = memoryTools(memory, application);
    const called = tools.find(({ name }) => name === "append_entry");
    checkSchema(convertToOpenAITool(called).function.parameters);
    const messages = await Promise.all(
      calls.map(([name, args], index) => called.invoke({ type: "tool_call", id: `call-${index}`, name, args })),
    );
    assert.deepEqual(messages.map(({ status }) => status === "error"), [false, false, true]);
    isRefusal(messages[2].content);
    const wrong = await called.invoke({ type: "tool_call", id: "wrong", name: "append_entry", args: { section: 5 } });
    assert.match(wrong.content, /section/, "the memory says what is wrong");
  }));

test("the OpenAI Agents SDK runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/openai");
    const tools = memoryTools(memory, application);
    checkSchema(tools.find(({ name }) => name === "append_entry").parameters);
    const asked = calls.map(([name, input], index) => ({
      type: "function_call",
      callId: `call-${index}`,
      name,
      status: "completed",
      arguments: JSON.stringify(input),
    }));
    const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] };
    const answers = [asked, [text]];
    const model = { getResponse: async () => ({ usage: new Usage(), output: answers.shift() }) };
    const { newItems } = await runAgent(new Agent({ name: "ada", model, tools }), "Remember.");
    const outputs = newItems.filter(({ type }) => type === "tool_call_output_item").map(({ output }) => output);
    assert.equal(outputs.length, 3);
    isRefusal(outputs[2]);
  }));

test("the tool runner of Anthropic's SDK runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/anthropic");
    const tools = memoryTools(memory, application);
    checkSchema(tools.find(({ name }) => name === "append_entry").input_schema);
    const asked = calls.map(([name, input], index) => ({ type: "tool_use", id: `toolu_${index}`, name, input }));
    const sent = [];
    const answers = [answer(asked, "tool_use"), answer([{ type: "text", text: "Done." }], "end_turn")];
    const fetch = async (_, { body }) => {
      sent.push(JSON.parse(body));
      return Response.json(answers.shift());
    };
    const client = new Anthropic({ apiKey: "none", fetch });
    const messages = [{ role: "user", content: "Remember." }];
    await client.beta.messages.toolRunner({ model: "m", max_tokens: 10, messages, tools });
    const results = sent[1].messages.at(-1).content;
    assert.deepEqual(results.map(({ is_error }) => is_error === true), [false, false, true]);
    isRefusal(JSON.stringify(results[2].content));
  }));

test("the memory tool of Anthropic's SDK keeps files, and two edits of one file in one turn both stand", async (context) => {
  const { memoryFiles } = await importInstalled("agent-memory/anthropic");
  const dataDir = join(repository(context), "data");
  const memory = await openMemory({ allow: [], toolsets: ["files"], dataDir });
  try {
    const tool = betaMemoryTool(memoryFiles(memory, { agent: "ada" }));
    const path = "/memories/todo.md";
    const edit = (word) => ({ command: "str_replace", path, old_str: `${word}: open`, new_str: `${word}: done` });
    const turns = [
      [{ command: "view", path: "/memories" }, { command: "create", path, file_text: "one: open\ntwo: open\n" }],
      [edit("one"), edit("two"), edit("three")],
      [{ command: "insert", path, insert_line: 2, insert_text: "three: open\n" }],
      [{ command: "rename", old_path: path, new_path: "/memories/done.md" }],
      [{ command: "view", path: "/memories/done.md", view_range: [1, 3] }, { command: "delete", path: "/memories/no.md" }],
    ];
    const answers = turns.map((inputs) => answer(inputs.map((input, index) => ({ type: "tool_use", id: `toolu_${index}`, name: "memory", input })), "tool_use"));
    answers.push(answer([{ type: "text", text: "Done." }], "end_turn"));
    const sent = [];
    const fetch = async (_, { body }) => {
      sent.push(JSON.parse(body));
      return Response.json(answers.shift());
    };
    const client = new Anthropic({ apiKey: "none", fetch });
    const messages = [{ role: "user", content: "Remember." }];
    await client.beta.messages.toolRunner({ model: "m", max_tokens: 10, messages, tools: [tool] });
    assert.deepEqual(sent[0].tools, [{ type: "memory_20250818", name: "memory" }]);
    const results = sent.slice(1).map(({ messages }) => messages.at(-1).content.map(({ content, is_error }) => [content, is_error === true]));
    assert.match(results[0][0][0], /^Here're the files and directories up to 2 levels deep in \/memories, /);
    assert.deepEqual(results[0][1], [`File created successfully at: ${path}`, false]);
    assert.deepEqual(results[1].map(([, isError]) => isError), [false, false, true]);
    const refusal = `No replacement was performed, old_str \`three: open\` did not appear verbatim in ${path}.`;
    assert.equal(results[1][2][0], refusal);
    assert.deepEqual(results[4], [
      ["Here's the content of /memories/done.md with line numbers:\n     1\tone: done\n     2\ttwo: done\n     3\tthree: open", false],
      ["Error: The path /memories/no.md does not exist", true],
    ]);
    assert.equal(readFileSync(join(dataDir, "files/ada/done.md"), "utf8"), "one: done\ntwo: done\nthree: open\n");

    const words = Array.from({ length: 50 }, (_, index) => `w${index}`);
    const text = words.map((word) => `${word}: open\n`).join("");
    await tool.run({ command: "create", path, file_text: text });
    const edits = words.map((word) => ({ command: "str_replace", path, old_str: `${word}: open\n`, new_str: `${word}: done\n` }));
    await Promise.all(edits.map((edit) => tool.run(edit)));
    assert.equal(readFileSync(join(dataDir, "files/ada/todo.md"), "utf8"), text.replaceAll("open", "done"));
    await memory.close();
    await assert.rejects(async () => tool.run({ command: "view", path }), /closed/);
  } finally {
    await memory.close();
  }
});

test("Mastra runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/mastra");
    const tools = memoryTools(memory, application);
    const asked = calls.map(([toolName, input], index) => {
      return { type: "tool-call", toolCallId: `call-${index}`, toolName, input: JSON.stringify(input) };
    });
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const finish = { type: "finish", finishReason: { unified: "tool-calls" }, usage };
    const chunks = [{ type: "stream-start", warnings: [] }, ...asked, finish];
    let schemas;
    const doStream = async ({ tools }) => {
      schemas = tools;
      return { stream: ReadableStream.from(chunks) };
    };
    const model = new MockLanguageModelV3({ doStream });
    const agent = new MastraAgent({ id: "ada", name: "ada", instructions: "Remember.", model, tools });
    const stream = await agent.stream("Remember.", { maxSteps: 1 });
    await stream.consumeStream();
    const results = await stream.toolResults;
    checkSchema(schemas.find(({ name }) => name === "append_entry").inputSchema);
    assert.equal(results.filter(({ payload }) => payload.result?.session_file).length, 2);
    const { steps } = await stream.getFullOutput();
    isRefusal(JSON.stringify(steps));
  }));

test("LlamaIndex runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/llamaindex");
    const tools = memoryTools(memory, application);
    checkSchema(tools.find(({ metadata }) => metadata.name === "append_entry").metadata.parameters);
    const toolCall = calls.map(([name, input], index) => ({ id: `call-${index}`, name, input }));
    const answers = [{ delta: "", options: { toolCall } }, { delta: "Done.", options: {} }];
    const sent = [];
    const llm = {
      supportToolCall: true,
      metadata: { model: "none", tokenizer: undefined, structuredOutput: false },
      chat: async ({ messages }) => {
        sent.push([...messages]);
        return ReadableStream.from([{ raw: {}, ...answers.shift() }]);
      },
    };
    await llamaAgent({ llm, tools }).run("Remember.");
    const results = sent[1].flatMap(({ options }) => options?.toolResult ?? []);
    assert.equal(results.length, 3);
    isRefusal(JSON.stringify(results.find(({ id }) => id === "call-2")));
  }));

test("the server for the Claude Agent SDK runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryServer } = await importInstalled("agent-memory/claude-agent");
    const { type, instance } = memoryServer(memory, application);
    assert.equal(type, "sdk");
    const client = new Client({ name: "test", version: "1" });
    const [one, other] = InMemoryTransport.createLinkedPair();
    await Promise.all([instance.connect(one), client.connect(other)]);
    const { tools } = await client.listTools();
    checkSchema(tools.find(({ name }) => name === "append_entry").inputSchema);
    assert.ok(tools.every(({ _meta }) => _meta["anthropic/alwaysLoad"]));
    const results = await Promise.all(calls.map(([name, args]) => client.callTool({ name, arguments: args })));
    assert.deepEqual(results.map(({ isError }) => isError), [false, false, true]);
    isRefusal(results[2].content[0].text);
    await client.close();
  }));

test("a model can name no other agent", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryServer } = await importInstalled("agent-memory/claude-agent");
    const { instance } = memoryServer(memory, application);
    const client = new Client({ name: "test", version: "1" });
    const [one, other] = InMemoryTransport.createLinkedPair();
    await Promise.all([instance.connect(one), client.connect(other)]);
    for (const [name, args] of calls.slice(0, 2)) await client.callTool({ name, arguments: args });
    const forged = await client.callTool({ name: "append_entry", arguments: { ...calls[0][1], agent_name: "bob" } });
    assert.equal(forged.isError, true);
    assert.match(forged.content[0].text, /the application sets `agent_name`/);
    await client.close();
  }));

test("the types of the adapters are those of the frameworks", async () => {
  const program = `
    import { openMemory } from 'agent-memory'
    import { memoryFiles as aiFiles, memoryTools as ai, resumeMemory as resumeAi } from 'agent-memory/ai'
    import { memoryFiles as langchainFiles, memoryTools as langchain, resumeMemory as resumeLangchain } from 'agent-memory/langchain'
    import { memoryTools as openai, resumeMemory as resumeOpenai } from 'agent-memory/openai'
    import { AgentMemoryStore } from 'agent-memory/langgraph'
    import { memoryFiles, memoryTools as anthropic } from 'agent-memory/anthropic'
    import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
    import { memoryTools as mastra, resumeMemory as resumeMastra } from 'agent-memory/mastra'
    import { memoryTools as llamaindex } from 'agent-memory/llamaindex'
    import { memoryServer, resumeMemory as resumeClaude } from 'agent-memory/claude-agent'
    import { anthropic as provider } from '@ai-sdk/anthropic'
    import type { LanguageModelMiddleware, ToolSet } from 'ai'
    import type { StructuredToolInterface } from '@langchain/core/tools'
    import type { BaseStore } from '@langchain/langgraph'
    import { createMiddleware } from 'langchain'
    import { Agent, type Tool } from '@openai/agents'
    import type { InputProcessor } from '@mastra/core/processors'
    import type Anthropic from '@anthropic-ai/sdk'
    import type { ToolsInput } from '@mastra/core/agent'
    import type { BaseToolWithCall } from 'llamaindex'
    import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
    const memory = await openMemory({ allow: [] })
    const ada = { agent: 'ada' }
    export const one: ToolSet = ai(memory, ada)
    export const two: StructuredToolInterface[] = langchain(memory, ada)
    export const three: Tool[] = openai(memory, ada)
    export const four: Anthropic.Beta.BetaToolUnion[] = anthropic(memory, ada)
    export const nine = betaMemoryTool(memoryFiles(memory, ada))
    export const five: McpServer = memoryServer(memory, ada).instance
    export const seven: ToolsInput = mastra(memory, ada)
    export const eight: BaseToolWithCall[] = llamaindex(memory, ada)
    export const ten: ToolSet = { memory: provider.tools.memory_20250818({ execute: aiFiles(memory, ada) }) }
    export const eleven: StructuredToolInterface = langchainFiles(memory, ada)
    export const twelve: LanguageModelMiddleware = resumeAi(memory, ada)
    export const thirteen = createMiddleware(resumeLangchain(memory, ada))
    export const fourteen = new Agent({ name: 'ada', instructions: resumeOpenai(memory, ada, 'You are Ada.') })
    export const fifteen: InputProcessor = resumeMastra(memory, ada)
    export const sixteen: Partial<Record<'SessionStart', { hooks: ((input: object) => Promise<object>)[] }[]>> = resumeClaude(memory, ada)
    export const seventeen: BaseStore = new AgentMemoryStore(memory, ada)
    const [first] = memory.tools
    export const six: Anthropic.Tool.InputSchema = { ...first!.inputSchema, required: [...(first!.inputSchema.required ?? [])] }
  `;
  writeFileSync(join(app, "adapters.ts"), program);
  // The frameworks' own types need more than a strict compiler takes.
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024", "--types", "", "--ignoreConfig"];
  const { stdout, status } = await run(tool("tsc"), [...options, "adapters.ts"]);
  assert.deepEqual([status, stdout], [0, ""]);
});

/** Opens a memory with the toolset `items`, and LangGraph's store over it. */
async function withStore(context, use, application) {
  const { AgentMemoryStore } = await importInstalled("agent-memory/langgraph");
  const dataDir = join(repository(context), "data");
  const memory = await openMemory({ allow: [], toolsets: ["items"], dataDir });
  try {
    await use(new AgentMemoryStore(memory, application), memory, AgentMemoryStore);
  } finally {
    await memory.close();
  }
}

test("a graph of LangGraph keeps items in a store, and of what its nodes keep at once nothing is lost", (context) =>
  withStore(context, async (store) => {
    const State = Annotation.Root({ asked: Annotation(), found: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
    const remember = (word) => async (_, { store: given }) => {
      await Promise.all([1, 2, 3].map((n) => given.put(["users", "ada"], `${word}-${n}`, { text: `Ada likes ${word}`, n })));
      return {};
    };
    const recall = async ({ asked }, { store: given }) => {
      const found = await given.search(["users"], { query: asked, filter: { n: { $gte: 2 } } });
      return { found: found.map(({ key, score }) => (assert.ok(score > 0), key)) };
    };
    const graph = new StateGraph(State)
      .addNode("tea", remember("tea"))
      .addNode("cars", remember("cars"))
      .addNode("recall", recall)
      .addEdge(START, "tea")
      .addEdge(START, "cars")
      .addEdge(["tea", "cars"], "recall")
      .compile({ store });
    const { found } = await graph.invoke({ asked: "who likes tea?" });
    assert.deepEqual(found.slice(0, 2).sort(), ["tea-2", "tea-3"]);
    assert.equal((await store.search(["users"], { limit: 100 })).length, 6);
  }));

test("the store answers as the one in memory of LangGraph does", (context) =>
  withStore(context, async (store) => {
    const both = [store, new InMemoryStore()];
    const same = async (ask, message) => {
      const [ours, theirs] = await Promise.all(both.map(ask));
      assert.deepEqual(ours, theirs, message);
      return ours;
    };
    const without = ({ createdAt, updatedAt, score, ...item }) => (assert.ok(createdAt instanceof Date && updatedAt instanceof Date), item);
    const byKey = (items) => items.map(without).sort((a, b) => (a.namespace.join() + a.key < b.namespace.join() + b.key ? -1 : 1));
    const puts = [
      [["docs", "a"], "1", { kind: "note", size: 5, meta: { lang: "en" } }],
      [["docs", "a"], "2", { kind: "task", size: 2.5 }],
      [["docs", "b"], "1", { kind: "note", size: 0.1 + 0.2, text: "ünï" }],
      [["users", "ada", "v1"], "p", { ok: true, none: null, list: [1, [2]] }],
    ];
    for (const put of puts) for (const one of both) await one.put(...put);
    for (const [namespace, key] of puts) await same(async (one) => without(await one.get(namespace, key)));
    assert.equal(await same((one) => one.get(["docs", "a"], "none")), null);
    for (const filter of [{}, { kind: "note" }, { size: { $gt: 2.5 } }, { size: { $gte: 2.5, $lt: 5 } }, { kind: { $ne: "note" } }, { kind: { $in: ["task"] } }, { kind: { $nin: ["task"] }, ok: true }, { size: { $lte: "5" } }]) {
      const found = await same(async (one) => byKey(await one.search([], { filter })), JSON.stringify(filter));
      assert.ok(found.length > 0, JSON.stringify(filter));
    }
    await same(async (one) => byKey(await one.search(["docs", "a"])));
    for (const options of [{}, { prefix: ["docs"] }, { suffix: ["v1"] }, { prefix: ["*", "a"] }, { maxDepth: 1 }, { prefix: ["docs"], maxDepth: 2, limit: 1, offset: 1 }]) {
      await same((one) => one.listNamespaces(options), JSON.stringify(options));
    }
    for (const one of both) {
      for (const [namespace, message] of [[[], /empty/], [["a", "b.c"], /periods/], [["a", ""], /empty/], [["langgraph", "a"], /langgraph/]]) {
        await assert.rejects(one.put(namespace, "k", {}), message);
      }
    }
    const operations = [
      { namespace: ["docs", "a"], key: "1", value: { changed: true } },
      { namespace: ["docs", "a"], key: "2" },
      { namespace: ["docs", "b"], key: "1", value: null },
      { namespacePrefix: ["docs", "b"] },
      { matchConditions: [{ matchType: "prefix", path: ["users"] }], limit: 10, offset: 0 },
      { namespace: ["langgraph", "own"], key: "k", value: { n: 1 } },
    ];
    await same(async (one) => {
      const [put, got, gone, found, listed, own] = await one.batch(operations);
      return [put ?? null, without(got).value, gone ?? null, found.map(without), listed, own ?? null];
    });
    assert.deepEqual((await same(async (one) => without(await one.get(["docs", "a"], "1")))).value, { changed: true });
    await same((one) => one.get(["docs", "b"], "1"));
    // Only on `AgentMemoryStore`: LangGraph's `InMemoryStore` returns its own object, which this batch would change.
    const [, before] = await store.batch([{ ...operations[0], value: { again: 1 } }, { namespace: ["docs", "a"], key: "1" }]);
    assert.deepEqual(before.value, { changed: true });
    for (const one of both) await one.delete(["langgraph", "own"], "k");
    assert.equal(await same((one) => one.get(["langgraph", "own"], "k")), null);
  }));

test("a store has times to live, a store of an agent its own namespaces, and a refusal rejects", (context) =>
  withStore(context, async (store, memory, AgentMemoryStore) => {
    const minute = 60_000;
    await store.put(["a"], "stays", { n: 1 });
    const short = new AgentMemoryStore(memory, { ttl: { defaultTtl: 2, refreshOnRead: false } });
    await short.put(["a"], "default", { n: 1 });
    await short.put(["a"], "own", { n: 1 }, undefined, { ttl: 90 });
    const expiry = async (key) => {
      const { result } = await memory.call("get_item", { namespace: ["a"], key });
      const { expires_at, updated_at } = result.item;
      return expires_at === undefined ? undefined : (Date.parse(expires_at) - Date.parse(updated_at)) / minute;
    };
    assert.deepEqual([await expiry("stays"), await expiry("default"), await expiry("own")], [undefined, 2, 90]);
    const before = await expiry("own");
    await short.get(["a"], "own");
    assert.equal(await expiry("own"), before, "it is not to be refreshed");
    const ofAda = new AgentMemoryStore(memory, { agent: "ada" });
    await ofAda.put(["notes"], "k", { text: "tea" }, false);
    assert.deepEqual(await ofAda.listNamespaces(), [["notes"]]);
    assert.deepEqual(await store.listNamespaces({ prefix: ["ada"] }), [["ada", "notes"]]);
    assert.deepEqual(await ofAda.search([], { query: "tea" }), [], "`index: false` leaves it out");
    await assert.rejects(store.search([], { filter: { n: { $regex: "1" } } }), /no operator/);
    await assert.rejects(store.put(["a"], "k", { text: "x".repeat(2 ** 20) }), /at most/);
    const other = await openMemory({ allow: [], toolsets: ["files"], dataDir: join(repository(context), "other") });
    assert.throws(() => new AgentMemoryStore(other), /toolset `items`/);
    await other.close();
  }));
