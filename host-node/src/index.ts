export { MemoryCallError, type MemoryCallErrorCode, MemoryOpenError } from './errors.ts'
export type { Resource, ResourceTemplate, Tool } from './description.ts'
export type { Category } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
export {
  type Input,
  type AgentMemory,
  openMemory,
  type Outcome,
  type Output,
  type ResourceContents,
  type ToolError,
  type ToolName,
  type Tools,
  type ToolsetSettings,
} from './agent-memory.ts'
export type { MemoryOptions } from './options.ts'
