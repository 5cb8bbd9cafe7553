import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { componentTools, workplace } from "./server.mjs";

const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));

/** The Inspector's exit status if the result of a tool is an error. */
const TOOL_ERROR = 5;

/** Runs the Inspector's command line once, and checks that the server has ended with status 0. */
async function inspect({ directory, server, exitStatus }, protocolEra, ...request) {
  const { status, output, stderr } = await ask(directory, protocolEra, [
    ...request,
    "--",
    server.command,
    ...server.args,
  ]);
  assert.equal(await exitStatus(), "0", stderr);
  return { status, output, stderr };
}

/** Runs the Inspector's command line once. */
async function ask(directory, protocolEra, request) {
  const options = ["--cli", "--protocol-era", protocolEra, "--format", "json", ...request];
  const run = promisify(execFile)(inspector, options, {
    cwd: directory,
    // The Inspector keeps its settings in the home directory.
    env: { HOME: directory, PATH: dirname(process.execPath) + delimiter + process.env.PATH },
  });
  const { code = 0, stdout, stderr } = await run.catch((failed) => failed);
  return { status: code, output: JSON.parse(stdout), stderr };
}

/** Calls `start_session`, always for the same agent and day. `more` has further arguments. */
function startSession(place, protocolEra, more = {}) {
  const session = { agent_name: "aristotle", repo_root: place.repository, date: "2025-01-20" };
  const input = JSON.stringify({ ...session, ...more });
  const tool = ["--tool-name", "start_session", "--tool-args-json", input];
  return inspect(place, protocolEra, "--method", "tools/call", ...tool);
}

/** The Inspector's names for the protocol versions up to 2025-11-25 and from 2026-07-28 on. */
const protocolEras = ["legacy", "modern"];

for (const protocolEra of protocolEras) {
  describe(`Inspector as \`${protocolEra}\``, () => {
    it("lists the component's tools, and finds nothing that a client could not accept", async () => {
      await using place = await workplace();
      const list = await inspect(place, protocolEra, "--method", "tools/list", "--strict");
      assert.equal(list.status, 0, list.stderr);
      assert.deepEqual(list.output.result.tools, await componentTools());
      assert.deepEqual(list.output.schemaFindings ?? [], []);
    });

    it("lists the same over HTTP", async () => {
      await using place = await workplace();
      using server = await place.serveHttp("--data-dir", place.directory);
      const request = ["--transport", "http", "--server-url", server.url.href];
      const method = ["--method", "tools/list", "--strict"];
      const list = await ask(place.directory, protocolEra, [...request, ...method]);
      assert.equal(list.status, 0, list.stderr);
      assert.deepEqual(list.output.result.tools, await componentTools());
      assert.deepEqual(list.output.schemaFindings ?? [], []);
      assert.equal(await server.stop(), "0");
    });

    it("calls a tool in the protocol version of the option", async () => {
      await using place = await workplace();
      const call = await startSession(place, protocolEra);
      assert.equal(call.status, 0, call.stderr);
      const { structuredContent, content, _meta } = call.output.result;
      assert.equal(structuredContent.created, true);
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      // The newer protocol version has no handshake: each result has the server's name.
      const server = _meta?.["io.modelcontextprotocol/serverInfo"]?.name;
      assert.equal(server, protocolEra === "modern" ? "agent-memory" : undefined);
    });

    it("gets a tool's error as a result that a model can read", async () => {
      await using place = await workplace();
      const call = await startSession(place, protocolEra, { mood: "calm" });
      assert.equal(call.status, TOOL_ERROR, call.stderr);
      assert.equal(call.output.result.isError, true);
      const { error, details } = JSON.parse(call.output.result.content[0].text);
      assert.equal(error, "InvalidInput");
      assert.deepEqual(details.map(({ pointer }) => pointer), ["/mood"]);
    });
  });
}
