import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The directory of the package's sources. */
export const packageDirectory = path("../../host-node");

/** The directory into which `install.mjs` has installed the package. */
export const app = path("../../target/npm-app");

/** A program of this package's development dependencies. */
export const tool = (name) => path(`node_modules/.bin/${name}`);

/** An empty repository, which is removed when the test ends. */
export function repository(context) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "agent-memory-npm-")));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, ".git"));
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n");
  return directory;
}

/** Runs a program to its end. Resolves to its output and its exit status. */
export function run(command, args, { input, ...options } = {}) {
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd: app, maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, status: error ? (error.code ?? error.signal) : 0 });
    });
    child.stdin.end(input ?? "");
  });
}

/** Imports an entry point of the installed package. */
export function importInstalled(entry) {
  return import(pathToFileURL(createRequire(join(app, "package.json")).resolve(entry)));
}
