import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'

export type { Application }

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
