import { type MemoryOptions, MemoryOpenError, openMemory } from 'agent-memory'
import { platform } from './binary.ts'
import { serveStdio, version } from './mcp.ts'
import { memoryOptions, optionNames, remedy, UsageError } from './options.ts'

/** Runs the commands that need no native program. Resolves to the exit status. */
export async function run(args: readonly string[]): Promise<number> {
  const [command, ...options] = args
  if (command === undefined) {
    console.error(help())
    return 2
  }
  if (['--version', '-V'].includes(command)) {
    console.log(`agent-memory ${version}`)
    return 0
  }
  if (command === 'help' || args.some((arg) => ['--help', '-h'].includes(arg))) {
    console.log(help())
    return 0
  }
  if (command !== 'serve') {
    console.error(`agent-memory: only \`serve\` runs without the native program for ${platform()}: ${remedy}`)
    return 2
  }
  console.error(`agent-memory: no native program for ${platform()} is installed, so this runs in WebAssembly`)
  return serve(options)
}

/** Serves the tools over MCP on standard input and output. */
async function serve(args: readonly string[]): Promise<number> {
  try {
    const options: MemoryOptions = memoryOptions(args, process.env, process.cwd())
    const memory = await openMemory(options)
    await serveStdio(memory, process.stdin, process.stdout)
    await memory.close()
    return 0
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof MemoryOpenError)) throw error
    console.error(`agent-memory: ${error.message}`)
    return 2
  }
}

function help(): string {
  return `Memory for AI agents: tools that keep what an agent learns in files of its repository

Usage: agent-memory serve [OPTIONS]

Serves the tools over MCP, on standard input and output. This runs in WebAssembly.

Options, each with a variable such as AGENT_MEMORY_TOOLSET:
${optionNames.map((name) => `  --${name}`).join('\n')}

Other commands and options need the native program for ${platform()}: ${remedy}.`
}
