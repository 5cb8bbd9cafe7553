#!/usr/bin/env node
// The command line of the npm package: the native program of this platform, or else its `serve` in WebAssembly.
import { findBinary, platform, runBinary } from './binary.ts'

const args = process.argv.slice(2)
const binary = findBinary()
if (binary !== undefined) runBinary(binary, args)
else {
  console.error(`agent-memory: no native program for ${platform()} is installed, so this runs in WebAssembly`)
  const { runServe } = await import('./serve.ts')
  process.exitCode = await runServe(args)
}
