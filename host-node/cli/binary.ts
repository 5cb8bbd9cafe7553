import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'

const require = createRequire(import.meta.url)

export function platform(): string {
  return `${process.platform}-${process.arch}`
}

/** The path of the native program. npm has installed the package of this platform. */
export function findBinary(): string | undefined {
  const file = process.platform === 'win32' ? 'agent-memory.exe' : 'agent-memory'
  try {
    return require.resolve(`@agent-memory/${platform()}/bin/${file}`)
  } catch {
    return undefined
  }
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Runs the native program in place of this one: it gets the signals, and this process ends as it does. */
export function runBinary(binary: string, args: readonly string[]): void {
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal)
  // Before the program starts: it may be ready, and sent a signal, before this process runs again.
  for (const signal of signals) process.on(signal, passOn)
  const child = spawn(binary, args, { stdio: 'inherit' })
  child.on('error', (error) => {
    console.error(`agent-memory: cannot start \`${binary}\`: ${error.message}`)
    process.exitCode = 3
  })
  child.on('exit', (status, signal) => {
    for (const signal of signals) process.off(signal, passOn)
    if (signal === null) process.exitCode = status ?? 1
    else endBy(signal)
  })
}

/** Ends this process by a signal. Where the signal does not end it, the status is the one of a shell. */
function endBy(signal: NodeJS.Signals): void {
  process.exitCode = 128 + constants.signals[signal]
  process.kill(process.pid, signal)
}
