import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { SharedState } from '../shared-state.ts'
import type { RegistryFormat } from '../storage/registry.ts'

/**
 * The format of registries, by pure functions of the component. Each runs in an instance of its own with nothing
 * granted, while a call's instance waits for it. Its time counts as the call's.
 */
export class ComponentFormat implements RegistryFormat {
  readonly #sharedState: SharedState
  readonly #toolbox: () => typeof Toolbox

  constructor(sharedState: SharedState, toolbox: () => typeof Toolbox) {
    this.#sharedState = sharedState
    this.#toolbox = toolbox
  }

  parse(text: string): string {
    return this.#run((toolbox) => toolbox.parseRegistry(text))
  }

  edit(text: string, change: string): string {
    return this.#run((toolbox) => toolbox.editRegistry(text, change))
  }

  #run(work: (toolbox: typeof Toolbox) => string): string {
    this.#sharedState.enterGuest()
    try {
      return work(this.#toolbox())
    } finally {
      this.#sharedState.leaveGuest()
    }
  }
}
