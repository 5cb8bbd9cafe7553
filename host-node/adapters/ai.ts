import type { AgentMemory, MemoryView } from 'agent-memory'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { type Application, modelTools } from './model-tools.ts'

export type { Application }

/** The tools of a memory for the AI SDK: `generateText({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): ToolSet {
  const tools = modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const execute = async (input: unknown) => {
      const { json, isError } = await call(input)
      // The model reads the message.
      if (isError) throw new Error(json)
      return JSON.parse(json)
    }
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })] as const
  })
  return Object.fromEntries(tools)
}
