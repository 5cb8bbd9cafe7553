import assert from "node:assert/strict";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { app, packageDirectory, repository, run, tool } from "./installed.mjs";

const installed = join(app, "node_modules/agent-memory");
const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));

before(() => copyFileSync(fileURLToPath(new URL("app.mjs", import.meta.url)), join(app, "app.mjs")));

const otherNode = (name) => fileURLToPath(new URL(`node_modules/${name}/bin/node`, import.meta.url));
const runtimes = [
  ["Node", process.execPath, []],
  ["the oldest Node", otherNode("oldest-node"), []],
  ["Bun", tool("bun"), []],
  ["Deno", tool("deno"), ["run", "--allow-all"]],
];

for (const [name, command, args] of runtimes) {
  const skip = existsSync(command) ? false : `${name} is not installed`;
  test(`the installed package works in ${name}`, { skip }, async (context) => {
    const { stdout, stderr } = await run(command, [...args, "app.mjs", repository(context)]);
    assert.deepEqual([stdout, stderr], ['[["Use SQLite","Use Rust"],true,true]\n', ""]);
  });
}

const tooOld = otherNode("too-old-node");
const skipsOld = existsSync(tooOld) ? false : "an older Node is not installed";

test("an older Node is told in one sentence which Node it has to be", { skip: skipsOld }, async () => {
  const program = "import('agent-memory').catch(({ message }) => console.log(message))";
  const { stdout } = await run(tooOld, ["--eval", program]);
  const sentence = "agent-memory needs Node 22.18 or newer, and this is Node 20.20.2\n";
  assert.equal(stdout, sentence);
  for (const args of [["serve"], ["--version"]]) {
    const launched = await run(tooOld, [join(installed, manifest.bin["agent-memory"]), ...args]);
    assert.deepEqual(launched, { stdout: "", stderr: sentence, status: 1 });
  }
});

test("the package is for everybody, with its licence, and starts nothing when it is installed", () => {
  const { name, private: isPrivate, license, engines, scripts } = manifest;
  assert.deepEqual([name, isPrivate, license, engines.node], ["agent-memory", undefined, "Apache-2.0", ">=22.18"]);
  assert.equal(scripts, undefined);
  for (const file of ["LICENSE", "NOTICE", "README.md"]) assert.ok(existsSync(join(installed, file)), file);
});

/** A file of the package and the files that it imports, also through other files. */
function neededBy(file, needed = new Set()) {
  if (needed.has(file)) return needed;
  needed.add(file);
  if (file.includes("/generated/") && file.endsWith(".js")) return needed;
  const text = readFileSync(join(installed, file), "utf8");
  for (const [, path] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
    const target = join(dirname(file), path);
    neededBy(file.endsWith(".d.ts") ? target.replace(/\.[jt]s$/, ".d.ts") : target, needed);
  }
  return needed;
}

test("the package has the files that its entry points need, and no others", () => {
  const entries = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : Object.values(entry)));
  const bin = Object.values(manifest.bin ?? {});
  const needed = new Set([...entries, ...bin].flatMap((entry) => [...neededBy(join(entry))]));
  const shipped = readdirSync(join(installed, "dist"), { recursive: true })
    .map((name) => join("dist", name))
    .filter((name) => statSync(join(installed, name)).isFile());
  assert.deepEqual(shipped.sort(), [...needed].filter((file) => file.startsWith("dist")).sort());
});

test("the package is at most 2.3 MB to download", () => {
  const [tarball] = readdirSync(app).filter((name) => name.endsWith(".tgz"));
  assert.ok(statSync(join(app, tarball)).size <= 2_300_000, `${statSync(join(app, tarball)).size}`);
});

test("its types compile strictly without the types of Node", async () => {
  const program = `
    import { type AgentMemory, MemoryCallError, openMemory, type Tool } from 'agent-memory'
    export async function main(): Promise<string> {
      await using memory: AgentMemory = await openMemory({ allow: [], toolsets: ['all'] })
      const outcome = await memory.call('append_entry', { agent_name: 'a', section: 'b', content: 'c' })
      const schemas: { type: 'object'; required?: readonly string[] }[] = memory.tools.map((tool: Tool) => tool.inputSchema)
      if (outcome.isError) throw new MemoryCallError('trap', outcome.error.message + schemas.length)
      return outcome.result.session_file
    }`;
  writeFileSync(join(app, "typed.ts"), program);
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "", "--ignoreConfig"];
  const { stdout, status } = await run(tool("tsc"), [...options, "typed.ts"]);
  assert.deepEqual([status, stdout], [0, ""]);
});
