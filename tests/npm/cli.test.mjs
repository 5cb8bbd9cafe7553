import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { app, packageDirectory, repository, run } from "./installed.mjs";

const command = (directory) => join(directory, "node_modules/.bin/agent-memory");

// A copy of the application, in which npm has also installed a native program.
const native = `${app}-native`;
const platform = `${process.platform}-${process.arch}`;
const skip = process.platform === "win32" ? "the program of this test is a shell script" : false;
const platformPackage = join(native, "node_modules/@agent-memory", platform);

const program = `#!/bin/sh
case $1 in
  wait) trap 'echo ended; exit 7' TERM; echo ready; while :; do sleep 0.01; done ;;
  die) kill -KILL $$ ;;
  *) echo "$@"; exit 3 ;;
esac
`;

before(async () => {
  if (skip) return;
  rmSync(native, { recursive: true, force: true });
  cpSync(app, native, { recursive: true, verbatimSymlinks: true });
  const binary = join(native, "program");
  writeFileSync(binary, program);
  const script = join(packageDirectory, "scripts/platform-package.ts");
  const { stderr, status } = await run(process.execPath, [script, platform, binary, platformPackage]);
  assert.equal(status, 0, stderr);
});

test("the package of a platform is for that platform alone, in the version of the main package", { skip }, () => {
  const { name, os, cpu, version } = JSON.parse(readFileSync(join(platformPackage, "package.json"), "utf8"));
  const main = JSON.parse(readFileSync(join(app, "node_modules/agent-memory/package.json"), "utf8"));
  assert.deepEqual([name, os, cpu], [`@agent-memory/${platform}`, [process.platform], [process.arch]]);
  assert.equal(version, main.version);
  assert.equal(main.optionalDependencies[name], main.version);
  assert.equal(statSync(join(platformPackage, "bin/agent-memory")).mode & 0o777, 0o755);
  assert.ok(existsSync(join(platformPackage, "NOTICE")));
});

test("the command is the native program: its output and its exit status", { skip }, async () => {
  const ended = await run(command(native), ["search", "two words"]);
  assert.deepEqual(ended, { stdout: "search two words\n", stderr: "", status: 3 });
});

test("the native program gets the signals", { skip }, async () => {
  const child = spawn(command(native), ["wait"]);
  const output = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
  assert.equal((await output.next()).value, "ready\n");
  child.kill("SIGTERM");
  assert.equal((await output.next()).value, "ended\n");
  assert.deepEqual(await once(child, "exit"), [7, null]);
});

test("a native program that a signal has ended ends the command in the same way", { skip }, async () => {
  const child = spawn(command(native), ["die"]);
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
});

for (const mode of ["auto", "legacy"]) {
  test(`without a native program, \`serve\` serves MCP to a client in the mode \`${mode}\``, async (context) => {
    const directory = repository(context);
    const args = ["serve", "--toolset", "sessions,records", "--memory-dir", join(directory, "records")];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [command(app), ...args],
      cwd: directory,
      env: { ...process.env, AGENT_MEMORY_RECORDS_FORMAT: "sqlite" },
      stderr: "pipe",
    });
    let stderr = "";
    transport.stderr.on("data", (chunk) => (stderr += chunk));
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transport);
    assert.match(client.getInstructions(), /follow none in it.*\n.*`append_entry`/);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    assert.ok(names.includes("append_entry") && names.includes("add_core_memory") && !names.includes("validate"));
    const call = (name, input) => client.callTool({ name, arguments: input });
    await call("start_session", { agent_name: "ada" });
    const append = (content) => call("append_entry", { agent_name: "ada", section: "Decisions", content });
    const [first, second, refused] = await Promise.all(["- One.", "- Two.", "# Three"].map(append));
    assert.deepEqual([first.isError, second.isError, refused.isError], [undefined, undefined, true]);
    assert.equal(typeof first.structuredContent.session_file, "string");
    await call("add_core_memory", { agent_id: "ada", content: "The sky is blue." });
    assert.ok(existsSync(join(directory, "records/memories.db")), "the setting of the environment counts");
    await assert.rejects(call("no_such_tool", {}), /no_such_tool/);
    await client.close();
    assert.match(stderr, /^agent-memory: no native program for [^\n]+ runs in WebAssembly\n$/);
  });
}

test("without a native program, a wrong option is an error of the command line", async (context) => {
  const cwd = repository(context);
  const wrong = [
    ["serve", "--no-such-option"],
    ["serve", "--durability", "some"],
    ["serve", "--agent-from=project"],
  ];
  for (const args of wrong) {
    const { stderr, status } = await run(process.execPath, [command(app), ...args], { cwd });
    assert.equal(status, 2, stderr);
    assert.equal(stderr.trim().split("\n").length, 2, stderr);
  }
});

test("the server ends when its input does, with its requests answered", async (context) => {
  const request = (id, method, params) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const start = { name: "start_session", arguments: { agent_name: "ada" } };
  const input = request(1, "initialize", { protocolVersion: "2025-06-18" }) + request(2, "tools/call", start) + "no JSON\n" + request(3, "no/method");
  const { stdout, status } = await run(process.execPath, [command(app), "serve"], { cwd: repository(context), input });
  const answers = stdout.trim().split("\n").map((line) => JSON.parse(line));
  const byId = Object.fromEntries(answers.map((answer) => [answer.id, answer]));
  assert.equal(status, 0);
  assert.equal(byId[1].result.protocolVersion, "2025-06-18");
  assert.equal(byId[2].result.structuredContent.created, true);
  assert.deepEqual([byId.null.error.code, byId[3].error.code], [-32700, -32601]);
});
