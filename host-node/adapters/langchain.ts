import { ToolMessage } from '@langchain/core/messages/tool'
import { DynamicStructuredTool } from '@langchain/core/tools'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools, passThrough } from './model-tools.ts'

export type { Application }

/** The tools of a memory for LangChain and LangGraph: `createAgent({ tools: memoryTools(memory, { agent: 'ada' }) })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): DynamicStructuredTool[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    return new DynamicStructuredTool({
      name,
      description,
      schema: passThrough(inputSchema) as any,
      func: async (input: unknown, _manager?: unknown, config?: { toolCall?: { id?: string } }) => {
        const { json, isError } = await call(input)
        const id = config?.toolCall?.id
        return isError && id !== undefined
          ? new ToolMessage({ content: json, status: 'error', tool_call_id: id, name })
          : json
      },
    })
  })
}
