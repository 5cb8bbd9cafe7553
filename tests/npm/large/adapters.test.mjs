// As in `../adapters.test.mjs`, for the frameworks that bring hundreds of packages.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BaseLlm, InMemoryRunner, LlmAgent } from "@google/adk";
import { genkit } from "genkit";
import { calls, checkSchema, isRefusal, withSession } from "../agents.mjs";
import { app, importInstalled, run, tool } from "../installed.mjs";

/** The calls that a model makes at once. The last one has an argument of the wrong type. */
const asked = [...calls, ["append_entry", { section: 5 }]];

test("Genkit runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/genkit");
    const sent = [];
    const ai = genkit({});
    const model = ai.defineModel({ name: "scripted", supports: { tools: true } }, async (request) => {
      sent.push(request);
      const requests = asked.map(([name, input], index) => ({ toolRequest: { name, input, ref: `call-${index}` } }));
      const content = sent.length === 1 ? requests : [{ text: "Done." }];
      return { message: { role: "model", content }, finishReason: "stop" };
    });
    const { text } = await ai.generate({ model, tools: memoryTools(memory, application), prompt: "Remember." });
    assert.equal(text, "Done.");
    checkSchema(sent[0].tools.find(({ name }) => name === "append_entry").inputSchema);
    const results = sent[1].messages.at(-1).content.map(({ toolResponse }) => toolResponse);
    const output = (index) => results.find(({ ref }) => ref === `call-${index}`).output;
    assert.deepEqual([0, 1, 2, 3].map((index) => "error" in output(index)), [false, false, true, true]);
    isRefusal(JSON.stringify(output(2)));
    assert.match(output(3).message, /section/, "the memory says what is wrong");
  }));

test("Google's ADK runs the tools", (context) =>
  withSession(context, async (memory, application) => {
    const { memoryTools } = await importInstalled("agent-memory/adk");
    const sent = [];
    class Scripted extends BaseLlm {
      async *generateContentAsync(request) {
        sent.push(structuredClone({ contents: request.contents, tools: request.config.tools }));
        const requests = asked.map(([name, args], index) => ({ functionCall: { name, args, id: `call-${index}` } }));
        yield { content: { role: "model", parts: sent.length === 1 ? requests : [{ text: "Done." }] } };
      }
    }
    const agent = new LlmAgent({ name: "ada", model: new Scripted({ model: "scripted" }), tools: memoryTools(memory, application) });
    const runner = new InMemoryRunner({ agent });
    const newMessage = { role: "user", parts: [{ text: "Remember." }] };
    for await (const _ of runner.runEphemeral({ userId: "user", newMessage }));
    const [{ functionDeclarations }] = sent[0].tools;
    checkSchema(functionDeclarations.find(({ name }) => name === "append_entry").parametersJsonSchema);
    const results = sent[1].contents.at(-1).parts.map(({ functionResponse }) => functionResponse.response);
    assert.deepEqual(results.map((result) => "error" in result), [false, false, true, true]);
    isRefusal(JSON.stringify(results[2]));
    assert.match(results[3].message, /section/, "the memory says what is wrong");
  }));

test("the types of the adapters are those of the frameworks", async () => {
  const program = `
    import { openMemory } from 'agent-memory'
    import { memoryTools as genkit } from 'agent-memory/genkit'
    import { memoryTools as adk } from 'agent-memory/adk'
    import type { ToolArgument } from 'genkit'
    import type { BaseTool } from '@google/adk'
    const memory = await openMemory({ allow: [] })
    const ada = { agent: 'ada' }
    export const one: ToolArgument[] = genkit(memory, ada)
    export const two: BaseTool[] = adk(memory, ada)
  `;
  writeFileSync(join(app, "large.ts"), program);
  // The frameworks' own types need more than a strict compiler takes.
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024", "--types", "", "--ignoreConfig"];
  const { stdout, status } = await run(tool("tsc"), [...options, "large.ts"]);
  assert.deepEqual([status, stdout], [0, ""]);
});
