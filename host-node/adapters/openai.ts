import { type FunctionTool, tool } from '@openai/agents'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'

export type { Application }

/** The tools of a memory for the OpenAI Agents SDK: `new Agent({ tools: memoryTools(memory, { agent: 'ada' }) })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): FunctionTool[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    // A thrown error would lose its message, and strict mode makes every argument required.
    const execute = async (input: unknown) => (await call(input)).json
    return tool({ name, description, parameters: inputSchema as any, strict: false, execute })
  })
}
