import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { standIn } from "./stand-in.mjs";

const built = fileURLToPath(new URL("../../../target/release/agent-memory", import.meta.url));
const binary = resolve(process.env.AGENT_MEMORY_BIN || built);
const client = fileURLToPath(new URL("node_modules/.bin/claude", import.meta.url));

/** A decision that is stored before the client starts. */
const DECISION = "Keep the cache in SQLite.";

/** Makes a home directory and the repositories `main` and `other`. `linked` is a second worktree of `main`. */
async function scene() {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "agent-memory-client-")));
  const home = join(directory, "home");
  await mkdir(home);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_API_KEY: "a-key-of-the-stand-in",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const run = async (command, args, place = "", more = {}) => {
    const started = promisify(execFile)(command, args, { cwd: join(directory, place), env: { ...env, ...more } });
    started.child.stdin.end();
    return (await started).stdout;
  };
  for (const name of ["main", "other"]) {
    await run("git", ["init", "--quiet", name]);
    const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    await run("git", [...author, "commit", "--quiet", "--allow-empty", "--message=first"], name);
  }
  await run("git", ["worktree", "add", "--quiet", "../linked"], "main");
  return { directory, home, run, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

test("a session tells the model what the last one of its project decided", async () => {
  await using model = await standIn();
  await using place = await scene();
  const install = (command, ...more) => place.run(binary, [command, "claude-code", ...more]);
  await install("install", "--hooks=all", "--agent-from=project", "--toolset=all");
  const call = (tool, input) =>
    place.run(binary, ["call", "--agent-from=project", "--toolset=all", tool, JSON.stringify(input)], "main");
  await call("store_memory", { type: "core", content: DECISION });

  for (const [name, isTold] of Object.entries({ main: true, linked: true, other: false })) {
    const answer = await place.run(client, ["--print", "go on"], name, { ANTHROPIC_BASE_URL: model.url });
    assert.equal(answer.trim(), "ok");
    assert.ok(model.requests.length > 0, "the client asked no model");
    assert.equal(model.requests.splice(0).some((request) => request.includes(DECISION)), isTold, name);
  }

  const listed = await place.run(client, ["mcp", "list"], "main");
  assert.match(listed, /agent-memory: .*agent-memory serve .*Connected/);
  await install("uninstall");
  const settings = join(place.home, ".claude/settings.json");
  assert.doesNotMatch(await readFile(settings, "utf8").catch(() => ""), /agent-memory/);
  assert.doesNotMatch(await readFile(join(place.home, ".claude.json"), "utf8"), /agent-memory/);
});
