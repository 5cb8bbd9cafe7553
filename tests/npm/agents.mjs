// What the tests of the adapters have in common: what a model asks for, and what the memory holds afterwards.
import assert from "node:assert/strict";
import { importInstalled, repository } from "./installed.mjs";

const { openMemory } = await importInstalled("agent-memory");

const append = (content) => ["append_entry", { section: "Decisions", content }];
/** What a model asks for at once: two changes of one document, and one that is refused. */
export const calls = [append("- Use SQLite."), append("- Use Rust."), append("# A heading")];

/** Opens a memory with a session, and checks afterwards what it holds. */
export async function withSession(context, use) {
  const repo_root = repository(context);
  const memory = await openMemory({ allow: [repo_root] });
  try {
    const log = { agent_name: "ada", repo_root };
    await memory.call("start_session", log);
    await use(memory, { agent: "ada", repository: repo_root });
    const { result } = await memory.call("read_session", { ...log, section: "Decisions" });
    assert.match(result.text, /Use SQLite/);
    assert.match(result.text, /Use Rust/);
    assert.doesNotMatch(result.text, /A heading/);
  } finally {
    await memory.close();
  }
}

/** No schema has what the application sets. */
export function checkSchema(schema) {
  assert.deepEqual(Object.keys(schema.properties).sort(), ["content", "date", "section"]);
  assert.deepEqual(schema.required, ["section", "content"]);
}

/** A message of a model of Anthropic. */
export const answer = (content, stop_reason) => ({ id: "msg", type: "message", role: "assistant", model: "m", content, stop_reason, usage: { input_tokens: 1, output_tokens: 1 } });

/** The memory has said why it refuses a heading. */
export const isRefusal = (text) => assert.match(text, /INVALID|heading/i);
