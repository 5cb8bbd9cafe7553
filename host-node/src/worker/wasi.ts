const mostComplaint = 4096

/** The inert part of WASI that Rust's standard library imports: no authority, and no input. */
export function inertWasi(): { complaint: () => string; imports: object } {
  let complaint = ''
  const decoder = new TextDecoder()

  class Pollable {
    block(): void {}
    ready(): boolean {
      return true
    }
  }
  class InputStream {}
  class OutputStream {
    readonly #heard: boolean

    constructor(heard: boolean) {
      this.#heard = heard
    }
    checkWrite(): bigint {
      return 65536n
    }
    write(bytes: Uint8Array): void {
      if (this.#heard) complaint = (complaint + decoder.decode(bytes, { stream: true })).slice(0, mostComplaint)
    }
    blockingWriteAndFlush(bytes: Uint8Array): void {
      this.write(bytes)
    }
    blockingFlush(): void {}
    flush(): void {}
    subscribe(): Pollable {
      return new Pollable()
    }
  }

  return {
    // What the guest wrote to its standard error: why it panicked.
    complaint: () => complaint.trim(),
    imports: {
      'wasi:cli/environment': { getEnvironment: () => [], getArguments: () => [], initialCwd: () => undefined },
      'wasi:cli/exit': {
        exit() {
          throw new WebAssembly.RuntimeError('the component exited')
        },
      },
      'wasi:cli/stdin': { getStdin: () => new InputStream() },
      'wasi:cli/stdout': { getStdout: () => new OutputStream(false) },
      'wasi:cli/stderr': { getStderr: () => new OutputStream(true) },
      'wasi:cli/terminal-input': { TerminalInput: class {} },
      'wasi:cli/terminal-output': { TerminalOutput: class {} },
      'wasi:cli/terminal-stdin': { getTerminalStdin: () => undefined },
      'wasi:cli/terminal-stdout': { getTerminalStdout: () => undefined },
      'wasi:cli/terminal-stderr': { getTerminalStderr: () => undefined },
      'wasi:io/error': { Error: class {} },
      'wasi:io/poll': { Pollable },
      'wasi:io/streams': { InputStream, OutputStream },
    },
  }
}
