import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { workplace } from "./server.mjs";

const suite = fileURLToPath(
  new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);

for (const version of ["2025-11-25", "2026-07-28"]) {
  describe(`The conformance suite of MCP ${version}`, () => {
    it("finds a fault only where it needs the tools of its own example server", async () => {
      await using place = await workplace();
      using server = await place.serveHttp("--toolset", "all", "--data-dir", place.directory);
      const baseline = fileURLToPath(new URL(`conformance-${version}.yml`, import.meta.url));
      const options = ["--requirements", version, "--expected-failures", baseline];
      const args = [suite, "server", "--url", server.url.href, ...options];
      const run = promisify(execFile)(process.execPath, args, { cwd: place.directory });
      const { code = 0, stdout, stderr } = await run.catch((failed) => failed);
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, /✓ dns-rebinding-protection: 2 passed, 0 failed/);
      assert.equal(await server.stop(), "0");
    });
  });
}
