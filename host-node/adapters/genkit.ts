import type { AgentMemory, MemoryView } from 'agent-memory'
import { dynamicTool, type ToolAction } from 'genkit'
import { type Application, modelTools } from './model-tools.ts'

export type { Application }

/** The tools of a memory for Genkit: `ai.generate({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): ToolAction[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const run = async (input: unknown) => JSON.parse((await call(input)).json)
    const tool: ToolAction = dynamicTool({ name, description }, run)
    // Genkit would end the run of a model whose arguments do not fit. So it does not check them, and the memory answers.
    tool.__action.inputJsonSchema = inputSchema
    return tool
  })
}
