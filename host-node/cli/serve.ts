import { type MemoryOptions, MemoryOpenError, openMemory } from 'agent-memory'
import { memoryOptions, UsageError } from './options.ts'
import { serveStdio } from './mcp.ts'

/** Serves the tools over MCP on standard input and output. Resolves to the exit status. */
export async function runServe([command, ...args]: readonly string[]): Promise<number> {
  try {
    if (command !== 'serve') throw new UsageError(`only \`serve\` runs in WebAssembly, and not \`${command ?? ''}\``)
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
