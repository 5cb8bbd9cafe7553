// The launcher of the plugins: which program it starts, in which directory, and how it ends.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const launcher = new URL("../../bundles/launch.mjs", import.meta.url);
const root = realpathSync(mkdtempSync(join(tmpdir(), "launch-")));
after(() => rmSync(root, { recursive: true }));
const [plugin, project, home, path] = ["plugin", "project", "home", "path"].map((name) =>
  join(root, name),
);
for (const directory of [plugin, project, home, path]) mkdirSync(directory);
copyFileSync(launcher, join(plugin, "launch.mjs"));

/** Writes a shell script into the directory of PATH, as a stand-in for a program. */
function program(name, script) {
  writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(path, name), 0o755);
}

function launch(args, { cwd = project, pwd = cwd, paths = path } = {}) {
  const env = { PATH: paths, HOME: home, PWD: pwd };
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [join(plugin, "launch.mjs"), ...args],
    {
      cwd,
      env,
      encoding: "utf8",
    },
  );
  return { status, signal, stdout, stderr };
}

const skip = process.platform === "win32" && "the stand-ins are scripts of the shell";

test("the program in PATH is started in the project, with all arguments", { skip }, () => {
  program("agent-memory", 'pwd; echo "$@"; exit 7');
  const { status, stdout } = launch(["serve", "--toolset=sessions,records"]);
  assert.deepEqual([status, stdout], [7, `${project}\nserve --toolset=sessions,records\n`]);
});

test("the directory of the plugin is no project", { skip }, () => {
  program("agent-memory", "pwd");
  assert.equal(launch(["serve"], { cwd: plugin }).stdout, `${home}\n`);
  assert.equal(launch(["serve"], { cwd: plugin, pwd: project }).stdout, `${project}\n`);
});

test("without the program, npx gets this version", { skip }, () => {
  rmSync(join(path, "agent-memory"), { force: true });
  program("npx", 'echo "$@"');
  assert.match(launch(["serve"]).stdout, /^--yes agent-memory@\S+ serve\n$/);
});

test("a hook that cannot start stops no session", { skip }, () => {
  const paths = join(root, "nothing");
  assert.equal(launch(["hook", "codex", "session-start"], { paths }).status, 0);
  const { status, stderr } = launch(["serve"], { paths });
  assert.equal(status, 1);
  assert.match(stderr, /^agent-memory: neither it nor npx can be started: /);
  program("agent-memory", "exit 3");
  assert.equal(launch(["hook", "codex", "session-start"]).status, 0);
});
