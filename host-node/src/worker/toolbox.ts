import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'

/** The function that jco generates to instantiate the component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
  instantiateCore?: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
) => { toolbox: typeof Toolbox }

/** Whether the component returned a `failure`, which jco throws as a plain record. A trap throws an `Error`. */
export function isFailure(error: unknown): error is Toolbox.Failure {
  return (
    !(error instanceof Error) && typeof error === 'object' && error !== null && 'code' in error && 'message' in error
  )
}
