import { createTool, type ToolAction } from '@mastra/core/tools'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools, passThrough } from './model-tools.ts'

export type { Application }

/** The tools of a memory for Mastra: `new Agent({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(
  memory: AgentMemory | MemoryView,
  application: Application,
): Record<string, ToolAction<any, any>> {
  const tools = modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const execute = async (input: unknown) => {
      const { json, isError } = await call(input)
      // The model reads the message.
      if (isError) throw new Error(json)
      return JSON.parse(json)
    }
    const schema = passThrough(inputSchema) as any
    return [name, createTool({ id: name, description, inputSchema: schema, execute }) as ToolAction<any, any>] as const
  })
  return Object.fromEntries(tools)
}
