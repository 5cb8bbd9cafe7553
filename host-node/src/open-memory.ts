import { openComponent } from './agent-memory.ts'
import { Component } from './component.ts'
import { embedded } from './generated/component/embedded.js'
import type { AgentMemory } from './memory.ts'
import type { MemoryOptions } from './options.ts'

const component = new Component(embedded)

/**
 * Opens a memory. It starts no thread: worker threads start with the first call.
 *
 * Rejects with a `MemoryOpenError` if an option is wrong or the component cannot be loaded.
 *
 * @example
 * await using memory = await openMemory({ allow: ['/home/me/project'] })
 */
export function openMemory(options: MemoryOptions): Promise<AgentMemory> {
  return openComponent(component, options)
}
