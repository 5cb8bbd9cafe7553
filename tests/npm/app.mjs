// A program that uses the package: `node app.mjs REPOSITORY`. It prints which of its entries were stored.
import { openMemory } from "agent-memory";

const [repo_root] = process.argv.slice(-1);
// Not at the top level, since bundles in CommonJS have no `await` there.
async function main() {
  const memory = await openMemory({
    allow: [repo_root],
    toolsets: ["sessions", "records"],
    settings: { records: { directory: `${repo_root}/records`, format: "sqlite" } },
  });
  const log = { agent_name: "ada", repo_root };
  await memory.call("start_session", log);
  const append = (content) => memory.call("append_entry", { ...log, section: "Decisions", content });
  await Promise.all([append("- Use SQLite."), append("- Use Rust.")]);
  await memory.call("add_core_memory", { agent_id: "ada", content: "The sky is blue." });
  const refused = await append("# A heading");
  const { result: session } = await memory.call("read_session", { ...log, section: "Decisions" });
  const { result: core } = await memory.call("query_memories", { agent_id: "ada" });
  await memory.close();
  const kept = ["Use SQLite", "Use Rust"].filter((text) => session.text.includes(text));
  console.log(JSON.stringify([kept, JSON.stringify(core).includes("The sky is blue."), refused.isError]));
}

main();
