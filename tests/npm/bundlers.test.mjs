// Each bundler bundles `app.mjs` without any configuration for the package.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import webpack from "webpack";
import { app, repository, run, tool } from "./installed.mjs";

const source = join(app, "bundled.mjs");
// The package cannot be found from this directory, so a bundle runs here only if it is complete.
const outside = join(app, "../npm-bundles");

before(() => {
  copyFileSync(fileURLToPath(new URL("app.mjs", import.meta.url)), source);
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "package.json"), "{}\n");
});

async function works(context, command, args) {
  const { stdout, stderr } = await run(command, [...args, repository(context)], { cwd: outside });
  assert.equal(stdout, '[["Use SQLite","Use Rust"],true,true]\n', stderr);
}

for (const [format, extension] of [["esm", "mjs"], ["cjs", "cjs"]]) {
  test(`a bundle of esbuild works as ${format}`, async (context) => {
    const outfile = join(outside, `esbuild.${extension}`);
    await esbuild({ entryPoints: [source], bundle: true, platform: "node", format, outfile, logLevel: "error" });
    await works(context, process.execPath, [outfile]);
  });
}

test("a server bundle of Vite works", async (context) => {
  const outDir = join(outside, "vite");
  const ssr = { noExternal: true };
  await vite({ root: app, configFile: false, logLevel: "error", ssr, build: { ssr: source, outDir } });
  await works(context, process.execPath, [join(outDir, readdirSync(outDir).find((name) => /\.m?js$/.test(name)))]);
});

test("a bundle of webpack works", async (context) => {
  const output = { path: join(outside, "webpack"), filename: "app.cjs" };
  const options = { context: app, entry: source, target: "node", mode: "production", output };
  const stats = await new Promise((resolve, reject) => {
    webpack(options, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
  assert.deepEqual(stats.toJson({ errors: true }).errors, []);
  await works(context, process.execPath, [join(output.path, output.filename)]);
});

test("a single executable of Bun works", async (context) => {
  const outfile = join(outside, "app");
  const { status, stderr } = await run(tool("bun"), ["build", "--compile", source, "--outfile", outfile]);
  assert.equal(status, 0, stderr);
  await works(context, outfile, []);
});
