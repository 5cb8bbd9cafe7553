import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { clients, withClient } from "./sdk.mjs";
import { componentTools } from "./server.mjs";

const date = "2025-01-20";

for (const kind of clients) {
  describe(kind.name, () => {
    it("lists the component's tools unchanged", () =>
      withClient(kind, async ({ client }) => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools, await componentTools());
      }));

    it("calls tools, and their results match their output schemas", () =>
      withClient(kind, async ({ client, repository, validator }) => {
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

    it("gets a tool's error as a result that a model can read", () =>
      withClient(kind, async ({ client, repository }) => {
        await client.listTools();
        const agent = { agent_name: "aristotle", repo_root: repository };
        const errorOf = async (name, rest) => {
          const result = await client.callTool({ name, arguments: { ...agent, ...rest } });
          assert.equal(result.isError, true, JSON.stringify(result));
          assert.equal(result.structuredContent, undefined);
          return JSON.parse(result.content[0].text);
        };

        const invalid = await errorOf("start_session", { date: "2025-02-30", mood: "calm" });
        assert.equal(invalid.error, "InvalidInput");
        assert.deepEqual(invalid.details.map(({ pointer }) => pointer).sort(), ["/date", "/mood"]);
        const early = await errorOf("append_entry", { date, section: "Decisions", content: "x" });
        assert.equal(early.error, "SessionNotFound");
      }));

    it("gets a JSON-RPC error for a tool that does not exist", () =>
      withClient(kind, async ({ client }) => {
        const call = client.callTool({ name: "forget_everything", arguments: {} });
        await assert.rejects(call, { code: -32602, message: /forget_everything/ });
      }));

    if (kind.protocolEra === "legacy" && !kind.overHttp) {
      it("is asked for its roots once, and they are granted", () =>
        withClient(
          kind,
          async ({ client, repository, requests }) => {
            for (const created of [true, false]) {
              const result = await startSession(client, repository);
              assert.equal(result.structuredContent?.created, created, JSON.stringify(result));
            }
            assert.equal(requests.roots, 1);
          },
          { throughRoots: true },
        ));
    } else {
      it("is not asked for roots, and the error tells how to grant the repository", () =>
        withClient(
          kind,
          async ({ client, repository, requests }) => {
            const result = await startSession(client, repository);
            assert.equal(result.isError, true);
            const { error, message } = JSON.parse(result.content[0].text);
            assert.equal(error, "RepositoryNotAllowed");
            assert.match(message, /--allow/);
            assert.equal(requests.roots, 0);
          },
          { throughRoots: true },
        ));

    }

    if (kind.protocolEra === "modern") {
      it("disconnects while a subscription is open", () =>
        withClient(kind, async ({ client }) => {
          await client.listen({ toolsListChanged: true });
        }));
    }
  });
}

function startSession(client, repository) {
  const session = { agent_name: "aristotle", repo_root: repository, date };
  return client.callTool({ name: "start_session", arguments: session });
}
