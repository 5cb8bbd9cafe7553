export { MemoryCallError, type MemoryCallErrorCode, MemoryOpenError } from './errors.ts'
export {
  type Input,
  type Memory,
  openMemory,
  type Outcome,
  type Output,
  type Tool,
  type ToolError,
  type ToolName,
  type Tools,
} from './memory.ts'
export type { MemoryOptions } from './options.ts'
