import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { clients, connected } from "./sdk.mjs";
import { componentTools } from "./server.mjs";

const date = "2025-01-20";

for (const kind of clients) {
  describe(kind.name, () => {
    it("sees the component's tools, whole and unchanged", () =>
      connected(kind, async ({ client }) => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools, await componentTools());
      }));

    it("calls tools, and their results meet their output schemas", () =>
      connected(kind, async ({ client, repository, validator }) => {
        await client.listTools();
        const agent = { agent_name: "aristotle", repo_root: repository };
        const call = async (name, rest) => {
          const result = await client.callTool({ name, arguments: { ...agent, ...rest } });
          assert.ok(!result.isError, JSON.stringify(result));
          assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
          return result.structuredContent;
        };

        const started = await call("start_session", { date });
        assert.equal(started.created, true);
        const entry = { section: "Decisions", content: "Virtue is a habit." };
        const appended = await call("append_entry", { date, ...entry });
        assert.equal(appended.session_file, started.session_file);
        const read = await call("read_summary");
        assert.match(read.summary, /^## Key Knowledge$/m);

        assert.equal(validator.checked, 3);
        const log = await readFile(join(repository, started.session_file), "utf8");
        assert.match(log, /^## Decisions\n\nVirtue is a habit\.$/m);
      }));

    it("gets a refusal as a result that a model can read", () =>
      connected(kind, async ({ client, repository }) => {
        await client.listTools();
        const agent = { agent_name: "aristotle", repo_root: repository };
        const refusal = async (name, rest) => {
          const result = await client.callTool({ name, arguments: { ...agent, ...rest } });
          assert.equal(result.isError, true, JSON.stringify(result));
          assert.equal(result.structuredContent, undefined);
          return JSON.parse(result.content[0].text);
        };

        const invalid = await refusal("start_session", { date: "2025-02-30", mood: "calm" });
        assert.equal(invalid.error, "InvalidInput");
        assert.deepEqual(invalid.details.map(({ pointer }) => pointer).sort(), ["/date", "/mood"]);
        const early = await refusal("append_entry", { date, section: "Decisions", content: "x" });
        assert.equal(early.error, "SessionNotFound");
      }));

    it("is told by a JSON-RPC error that a tool does not exist", () =>
      connected(kind, async ({ client }) => {
        const call = client.callTool({ name: "forget_everything", arguments: {} });
        await assert.rejects(call, { code: -32602, message: /forget_everything/ });
      }));

    if (kind.era === "legacy") {
      it("has its roots granted, and is asked for them once", () =>
        connected(
          kind,
          async ({ client, repository, asked }) => {
            for (const created of [true, false]) {
              const result = await startSession(client, repository);
              assert.equal(result.structuredContent?.created, created, JSON.stringify(result));
            }
            assert.equal(asked.forRoots, 1);
          },
          { throughRoots: true },
        ));
    } else {
      it("is not asked for roots, and learns how to grant the repository", () =>
        connected(
          kind,
          async ({ client, repository, asked }) => {
            const result = await startSession(client, repository);
            assert.equal(result.isError, true);
            const { error, message } = JSON.parse(result.content[0].text);
            assert.equal(error, "RepositoryNotAllowed");
            assert.match(message, /--allow/);
            assert.equal(asked.forRoots, 0);
          },
          { throughRoots: true },
        ));

      it("leaves with a subscription open", () =>
        connected(kind, async ({ client }) => {
          await client.listen({ toolsListChanged: true });
        }));
    }
  });
}

function startSession(client, repository) {
  const session = { agent_name: "aristotle", repo_root: repository, date };
  return client.callTool({ name: "start_session", arguments: session });
}
