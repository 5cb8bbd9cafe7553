// The parts of the frameworks that the adapters use, so that the build needs none of them. `tests/npm` compiles the
// adapters' types against the frameworks themselves.

declare module 'ai' {
  export interface Tool {
    description?: string
    inputSchema: unknown
    execute?(input: any, options: any): Promise<unknown>
  }
  export type ToolSet = Record<string, Tool>
  export function jsonSchema(schema: object): unknown
  export function dynamicTool(tool: Tool): Tool
  interface CallOptions {
    prompt: ({ role: 'system'; content: string } | { role: 'user' | 'assistant' | 'tool' })[]
  }
  export interface LanguageModelMiddleware {
    transformParams?(call: { params: CallOptions }): Promise<CallOptions>
  }
}

declare module '@langchain/core/messages/tool' {
  export class ToolMessage {
    constructor(fields: { content: string; status: 'error'; tool_call_id: string; name: string })
  }
}

declare module '@langchain/core/tools' {
  export class DynamicStructuredTool {
    constructor(fields: {
      name: string
      description: string
      schema: unknown
      extras?: Record<string, unknown>
      func(input: any, manager?: unknown, config?: { toolCall?: { id?: string } }): Promise<unknown>
    })
  }
}

declare module '@langchain/langgraph' {
  export interface Item {
    value: Record<string, any>
    key: string
    namespace: string[]
    createdAt: Date
    updatedAt: Date
  }
  export interface GetOperation {
    namespace: string[]
    key: string
  }
  export interface SearchOperation {
    namespacePrefix: string[]
    filter?: Record<string, any>
    limit?: number
    offset?: number
    query?: string
  }
  export interface PutOperation {
    namespace: string[]
    key: string
    value: Record<string, any> | null
    index?: false | string[]
  }
  export interface ListNamespacesOperation {
    matchConditions?: { matchType: 'prefix' | 'suffix'; path: string[] }[]
    maxDepth?: number
    limit: number
    offset: number
  }
  export type Operation = GetOperation | SearchOperation | PutOperation | ListNamespacesOperation
  export type OperationResults<Tuple extends readonly Operation[]> = { [At in keyof Tuple]: any }
  export abstract class BaseStore {
    abstract batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>>
    put(namespace: string[], key: string, value: Record<string, any>, index?: false | string[]): Promise<void>
  }
}

declare module '@openai/agents' {
  export interface FunctionTool {
    name: string
  }
  export function tool(options: {
    name: string
    description: string
    parameters: unknown
    strict: false
    execute(input: unknown): Promise<string>
  }): FunctionTool
}

declare module '@anthropic-ai/sdk/lib/tools/BetaRunnableTool' {
  export interface BetaRunnableTool<Input = any> {
    name: string
    description?: string
    input_schema: unknown
    run(input: Input): Promise<string>
    parse(input: unknown): Input
  }
}

declare module '@anthropic-ai/sdk/lib/tools/ToolError' {
  export class ToolError extends Error {
    constructor(content: string)
  }
}

declare module '@modelcontextprotocol/sdk/types.js' {
  export const ListToolsRequestSchema: unique symbol
  export const CallToolRequestSchema: unique symbol
}

declare module '@modelcontextprotocol/sdk/server/mcp.js' {
  export class McpServer {
    constructor(implementation: { name: string; version: string }, options: { capabilities: object })
    readonly server: {
      setRequestHandler(
        schema: symbol,
        handler: (request: { params: { name: string; arguments?: object } }) => object | Promise<object>,
      ): void
    }
  }
}

declare module '@mastra/core/processors' {
  export interface ProcessInputResultWithSystemMessages {
    messages: unknown[]
    systemMessages: { role: 'system'; content: string }[]
  }
  export type ProcessInputArgs = ProcessInputResultWithSystemMessages
}

declare module '@mastra/core/tools' {
  export interface ToolAction<Input = any, Output = any> {
    execute?(input: Input): Promise<Output>
  }
  export function createTool(options: {
    id: string
    description: string
    inputSchema: unknown
    execute(input: unknown): Promise<unknown>
  }): ToolAction
}

declare module 'llamaindex' {
  export interface BaseToolWithCall {
    call(input: any): unknown
  }
  export const FunctionTool: {
    from(
      run: (input: unknown) => Promise<string>,
      metadata: { name: string; description: string; parameters: any },
    ): BaseToolWithCall
  }
}

declare module 'genkit' {
  export interface ToolAction {
    __action: { inputJsonSchema?: any }
  }
  export function dynamicTool(
    config: { name: string; description: string },
    run: (input: unknown) => Promise<unknown>,
  ): ToolAction
}

declare module '@google/adk' {
  export abstract class BaseTool {
    constructor(params: { name: string; description: string })
    readonly name: string
    readonly description: string
  }
}
