export { MemoryCallError, type MemoryCallErrorCode, MemoryOpenError } from './errors.ts'
export {
  type Input,
  type Memory,
  openMemory,
  type Outcome,
  type Output,
  type Resource,
  type ResourceContents,
  type ResourceTemplate,
  type Tool,
  type ToolError,
  type ToolName,
  type Tools,
} from './memory.ts'
export type { MemoryOptions } from './options.ts'
