import { BaseTool } from '@google/adk'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, type ModelTool, modelTools } from './model-tools.ts'

export type { Application }

/** The tools of a memory for Google's ADK: `new LlmAgent({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): BaseTool[] {
  return modelTools(memory, application).map((tool) => new MemoryTool(tool))
}

class MemoryTool extends BaseTool {
  readonly #tool: ModelTool

  constructor(tool: ModelTool) {
    super({ name: tool.name, description: tool.description })
    this.#tool = tool
  }

  _getDeclaration() {
    const { name, description, inputSchema } = this.#tool
    return { name, description, parametersJsonSchema: inputSchema }
  }

  /** A refusal is an object with `error`. */
  async runAsync({ args }: { args: unknown }): Promise<unknown> {
    return JSON.parse((await this.#tool.call(args)).json)
  }
}
