import type { Description } from './description.ts'
import { type EmbeddedModules, ModuleCache } from './modules.ts'
import { WorkerPool } from './pool.ts'

/** A component that is embedded in the package, as data. `scripts/embed.ts` generates it. */
export interface EmbeddedComponent {
  readonly description: Description
  readonly modules: EmbeddedModules
  /** The program of the worker threads that run the component: a script in CommonJS. */
  readonly worker: string
}

/** All data that is embedded in the package. */
export interface EmbeddedPackage extends EmbeddedComponent {
  /** The beginning of the instructions that a server gives to its clients. */
  readonly instructions: string
}

/** A component whose memories can be opened. They share its compiled modules and its worker threads. */
export class Component {
  readonly description: Description
  readonly modules: ModuleCache
  readonly pool: WorkerPool

  constructor({ description, modules, worker }: EmbeddedComponent) {
    this.description = description
    this.modules = new ModuleCache(modules)
    this.pool = new WorkerPool(worker)
  }
}
