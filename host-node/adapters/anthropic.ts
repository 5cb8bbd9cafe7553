import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type FilesApplication, memoryCommands } from './memory-files.ts'
import { type Application, modelTools } from './model-tools.ts'

export type { Application, FilesApplication }

/** The tools of a memory for `client.beta.messages.toolRunner({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): BetaRunnableTool[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const run = async (input: unknown) => {
      const { json, isError } = await call(input)
      if (isError) throw new ToolError(json)
      return json
    }
    return { name, description, input_schema: inputSchema as any, run, parse: (input: unknown) => input }
  })
}

/** What `betaMemoryTool` takes: a function for each command. */
export type MemoryHandlers = Record<
  'view' | 'create' | 'str_replace' | 'insert' | 'delete' | 'rename',
  (command: { command: string }) => Promise<string>
>

/**
 * The commands of Anthropic's memory tool over the toolset `files`, for `betaMemoryTool(memoryFiles(memory, { agent: 'ada' }))`.
 * Of two edits of one file in one turn, both stand.
 */
export function memoryFiles(memory: AgentMemory | MemoryView, application?: FilesApplication): MemoryHandlers {
  const execute = memoryCommands(memory, application)
  const run = async (command: { command: string }) => {
    const { text, isError } = await execute(command)
    if (isError) throw new ToolError(text)
    return text
  }
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run }
}
