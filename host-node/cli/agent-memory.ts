#!/usr/bin/env node
// The command line of the npm package: the native program of this platform, or else its `serve` in WebAssembly.
import { findBinary, runBinary } from './binary.ts'

const args = process.argv.slice(2)
const binary = findBinary()
if (binary !== undefined) runBinary(binary, args)
else {
  try {
    await import('agent-memory')
  } catch (error) {
    // This Node is too old.
    console.error((error as Error).message)
    process.exit(1)
  }
  const { run } = await import('./serve.ts')
  process.exitCode = await run(args)
}
