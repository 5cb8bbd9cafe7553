import { type BaseToolWithCall, FunctionTool } from 'llamaindex'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'

export type { Application }

/** The tools of a memory for LlamaIndex: `agent({ tools: memoryTools(memory, { agent: 'ada' }) })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): BaseToolWithCall[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const run = async (input: unknown) => (await call(input)).json
    return FunctionTool.from(run, { name, description, parameters: inputSchema as any }) as BaseToolWithCall
  })
}
