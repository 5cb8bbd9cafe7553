import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const built = fileURLToPath(new URL("../../target/release/agent-memory", import.meta.url));
const binary = resolve(process.env.AGENT_MEMORY_BIN || built);

/** The tools that the component lists for models, as MCP lists them. */
export async function componentTools() {
  const { stdout } = await promisify(execFile)(binary, ["tools", "--json"]);
  return JSON.parse(stdout)
    .filter(({ audience }) => audience === "model")
    .map(({ audience, always_visible, ...tool }) =>
      always_visible ? { ...tool, _meta: { "anthropic/alwaysLoad": true } } : tool,
    );
}

/**
 * A new directory with an empty repository, and the command that starts a server there. With `granted: false`, the
 * command line does not grant the repository. `serveHttp` starts a server over HTTP.
 *
 * Clients do not give the exit status of a server. So a shell runs the server and writes the status to a file. A client
 * kills the shell 2 s after it has closed the input, and then there is no file.
 */
export async function workplace({ granted = true } = {}) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "agent-memory-clients-")));
  const repository = join(directory, "repository");
  await mkdir(join(repository, ".git"), { recursive: true });
  await writeFile(join(repository, ".git", "HEAD"), "ref: refs/heads/main\n");

  const exitStatus = join(directory, "exit-status");
  const serve = [binary, "serve", "--log-level", "ERROR"];
  const grant = granted ? ["--allow", repository] : [];
  return {
    directory,
    repository,
    server: {
      command: "/bin/sh",
      args: ["-c", '"$@"; echo $? >"$0"', exitStatus, ...serve, ...grant],
      cwd: directory,
    },
    serveHttp: (...more) =>
      serveHttp(["serve", "--http", "127.0.0.1:0", ...serve.slice(2), ...grant, ...more], directory),
    exitStatus: async () => {
      const status = await readFile(exitStatus, "utf8").catch(() => "none: the client killed the server");
      return status.trim();
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

/** Starts a server over HTTP. `stop` asks it to stop, and resolves to its exit status. */
async function serveHttp(args, cwd) {
  const server = spawn(binary, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  const [url] = await Promise.race([once(server.stdout.setEncoding("utf8"), "data"), ended]);
  return {
    url: new URL(url),
    stop: async () => {
      server.kill("SIGTERM");
      const [status] = await ended;
      return String(status);
    },
    [Symbol.dispose]: () => server.kill("SIGKILL"),
  };
}
