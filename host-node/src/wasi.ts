const maxStderrLength = 4096

/**
 * The functions of WASI that Rust's standard library imports, without effects: the guest gets no input and no access.
 */
export function inertWasi(): { stderr: () => string; imports: object } {
  let stderrText = ''
  const decoder = new TextDecoder()

  class Pollable {
    block(): void {}
    ready(): boolean {
      return true
    }
  }
  class InputStream {}
  class OutputStream {
    readonly #isStderr: boolean

    constructor(isStderr: boolean) {
      this.#isStderr = isStderr
    }
    checkWrite(): bigint {
      return 65536n
    }
    write(bytes: Uint8Array): void {
      if (this.#isStderr) stderrText = (stderrText + decoder.decode(bytes, { stream: true })).slice(0, maxStderrLength)
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
    /** The text that the guest has written to its standard error, such as the message of a panic. */
    stderr: () => stderrText.trim(),
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
      'wasi:random/insecure-seed': { insecureSeed: () => [0n, 0n], getInsecureSeed: () => [0n, 0n] },
      'wasi:io/error': { Error: class {} },
      'wasi:io/poll': { Pollable },
      'wasi:io/streams': { InputStream, OutputStream },
    },
  }
}
