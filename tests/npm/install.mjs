// Packs the npm package, and installs the tarball into an empty directory, as its users do.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { app, packageDirectory } from "./installed.mjs";

rmSync(app, { recursive: true, force: true });
mkdirSync(app, { recursive: true });
writeFileSync(join(app, "package.json"), '{ "type": "module" }\n');
const run = (command, args) => execFileSync(command, args, { cwd: app, stdio: ["ignore", "ignore", "inherit"] });
run(process.execPath, [join(packageDirectory, "scripts/pack.ts"), app]);
const [tarball] = readdirSync(app).filter((name) => name.endsWith(".tgz"));
const quiet = ["--offline", "--no-audit", "--no-fund", "--omit=optional", "--omit=peer", "--loglevel=error"];
run("npm", ["install", ...quiet, `./${tarball}`]);

// Links the frameworks of the adapters from the tests' dependencies. Those in `large/` may not be installed.
const manifest = JSON.parse(readFileSync(join(app, "node_modules/agent-memory/package.json"), "utf8"));
// The last two are not dependencies of the adapters, but users pass an adapter's tools to them.
const frameworks = [...Object.keys(manifest.peerDependencies), "@ai-sdk/anthropic", "langchain"];
for (const name of frameworks) {
  const places = ["", "large/"].map((place) => fileURLToPath(new URL(`${place}node_modules/${name}`, import.meta.url)));
  const framework = places.find((place) => existsSync(place));
  if (framework === undefined) continue;
  const link = join(app, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(framework, link);
}
