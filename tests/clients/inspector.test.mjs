import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { componentTools, workplace } from "./server.mjs";

const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));

/** The Inspector's exit status for a tool's result that is an error. */
const TOOL_ERROR = 5;

/** Runs the Inspector's command line once, by the end of which the server has ended with 0. */
async function inspect({ directory, server, exitStatus }, era, ...request) {
  const options = ["--cli", "--protocol-era", era, "--format", "json", ...request];
  const run = promisify(execFile)(inspector, [...options, "--", server.command, ...server.args], {
    cwd: directory,
    // The Inspector keeps its settings in the home directory.
    env: { HOME: directory, PATH: dirname(process.execPath) + delimiter + process.env.PATH },
  });
  const { code = 0, stdout, stderr } = await run.catch((failed) => failed);
  assert.equal(await exitStatus(), "0", stderr);
  return { status: code, output: JSON.parse(stdout), stderr };
}

/** Calls `start_session` for the same agent and day as ever. */
function startSession(place, era, further = {}) {
  const session = { agent_name: "aristotle", repo_root: place.repository, date: "2025-01-20" };
  const input = JSON.stringify({ ...session, ...further });
  const tool = ["--tool-name", "start_session", "--tool-args-json", input];
  return inspect(place, era, "--method", "tools/call", ...tool);
}

for (const era of ["legacy", "modern"]) {
  describe(`Inspector as \`${era}\``, () => {
    it("sees the component's tools, and nothing in them that a client could not take", async () => {
      await using place = await workplace();
      const list = await inspect(place, era, "--method", "tools/list", "--strict");
      assert.equal(list.status, 0, list.stderr);
      assert.deepEqual(list.output.result.tools, await componentTools());
      assert.deepEqual(list.output.schemaFindings ?? [], []);
    });

    it("calls a tool, in its era", async () => {
      await using place = await workplace();
      const call = await startSession(place, era);
      assert.equal(call.status, 0, call.stderr);
      const { structuredContent, content, _meta } = call.output.result;
      assert.equal(structuredContent.created, true);
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      // The newer era has no handshake: the server gives its name with each result.
      const server = _meta?.["io.modelcontextprotocol/serverInfo"]?.name;
      assert.equal(server, era === "modern" ? "agent-memory" : undefined);
    });

    it("gets a refusal as a result that a model can read", async () => {
      await using place = await workplace();
      const call = await startSession(place, era, { mood: "calm" });
      assert.equal(call.status, TOOL_ERROR, call.stderr);
      assert.equal(call.output.result.isError, true);
      const { error, details } = JSON.parse(call.output.result.content[0].text);
      assert.equal(error, "InvalidInput");
      assert.deepEqual(details.map(({ pointer }) => pointer), ["/mood"]);
    });
  });
}
