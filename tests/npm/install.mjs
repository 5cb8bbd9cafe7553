// Packs the npm package, and installs the tarball into an empty directory, as its users do.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { app, packageDirectory } from "./installed.mjs";

rmSync(app, { recursive: true, force: true });
mkdirSync(app, { recursive: true });
writeFileSync(join(app, "package.json"), '{ "type": "module" }\n');
const npm = (args, cwd) => execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const [{ filename }] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", app], packageDirectory));
const quiet = ["--offline", "--no-audit", "--no-fund", "--omit=optional", "--omit=peer", "--loglevel=error"];
npm(["install", ...quiet, `./${filename}`], app);
