// Shared by the tests of the adapters: the calls of a model, and the check of the memory afterwards.
import assert from "node:assert/strict";
import { importInstalled, repository } from "./installed.mjs";

const { openMemory } = await importInstalled("agent-memory");

const append = (content) => ["append_entry", { section: "Decisions", content }];
/** The calls that a model makes at once: two changes of one document, and one that is refused. */
export const calls = [append("- Use SQLite."), append("- Use Rust."), append("# A heading")];

/** Opens a memory with a session, runs `use`, and checks the session's log. */
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

/** Checks that the schema for a model lacks the arguments that the application sets. */
export function checkSchema(schema) {
  assert.deepEqual(Object.keys(schema.properties).sort(), ["content", "date", "section"]);
  assert.deepEqual(schema.required, ["section", "content"]);
}

/** A message of a model, as Anthropic's API sends it. */
export const answer = (content, stop_reason) => ({ id: "msg", type: "message", role: "assistant", model: "m", content, stop_reason, usage: { input_tokens: 1, output_tokens: 1 } });

/** Checks that a text is the memory's refusal of a heading. */
export const isRefusal = (text) => assert.match(text, /INVALID|heading/i);
