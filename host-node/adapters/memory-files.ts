// The commands of Anthropic's memory tool over the toolset `files`. The adapters make what their framework takes of it.
import { type AgentMemory, MemoryCallError, type MemoryView } from 'agent-memory'
import { forModels } from './model-tools.ts'

/** What the application sets. No model sees or sets it. */
export interface FilesApplication {
  /** The name of the agent whose directory the model sees as `/memories`. Without it, `/memories` is the whole directory. */
  readonly agent?: string
}

/** What the model gets: the text that it is trained on. */
export interface CommandAnswer {
  readonly text: string
  readonly isError: boolean
}

/**
 * Carries out a command of the memory tool (`memory_20250818`) with its arguments. A refusal is an answer. Throws a
 * `TypeError` if the toolset `files` is not mounted. What it returns rejects with a `MemoryCallError` for an error of the
 * application, such as a closed memory.
 */
export function memoryCommands(
  memory: AgentMemory | MemoryView,
  { agent }: FilesApplication = {},
): (command: { command: string }) => Promise<CommandAnswer> {
  const names = new Set(memory.tools.map(({ name }) => name))
  if (!names.has(toolOf('view'))) throw new TypeError("mount the toolset `files`: `toolsets: ['files']`")
  const bound = agent === undefined ? memory : memory.withReach({ agents: [agent] })
  return async ({ command, ...given }) => {
    // Some SDKs name an argument that the model has left out.
    const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null))
    const tool = toolOf(command)
    if (!names.has(tool)) return { text: `Error: there is no command \`${command}\``, isError: true }
    try {
      const { isError, result } = await bound.call(tool, args)
      const { text, error } = result as { text?: string; error?: { message: string } }
      return { text: text ?? error?.message ?? '', isError }
    } catch (error) {
      if (!(error instanceof MemoryCallError) || !forModels.includes(error.code)) throw error
      return { text: error.message, isError: true }
    }
  }
}

function toolOf(command: string): string {
  return `${command}_memory_file`
}
