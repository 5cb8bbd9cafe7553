#!/usr/bin/env node
// Starts agent-memory for a plugin: the program in PATH, or else this version from npm. For clients that start
// plugins in Node, whatever the system is.
import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { constants as system, homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = 'agent-memory@@VERSION@'
const isWindows = process.platform === 'win32'
const args = process.argv.slice(2)

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => isAbsolute(directory))
const name = isWindows ? 'agent-memory.exe' : 'agent-memory'
const program = directories.map((directory) => join(directory, name)).find(isProgram)

const plugin = dirname(fileURLToPath(import.meta.url))

function isProject(directory) {
  if (directory === undefined || !isAbsolute(directory)) return false
  const path = relative(plugin, directory)
  return isAbsolute(path) || path.startsWith('..')
}

// Some clients start a plugin in its own directory, which may be a clone with a `.git`. It is no project. The
// directory in which such a client was started may be one.
const cwd = [process.cwd(), process.env.PWD].find(isProject) ?? homedir()

function start() {
  const options = { stdio: 'inherit', cwd }
  if (program !== undefined) return spawn(program, args, options)
  const npx = ['--yes', PACKAGE, ...args]
  // Only `cmd` starts the file `npx.cmd`.
  if (isWindows) return spawn('cmd', ['/d', '/c', 'npx', ...npx], options)
  return spawn('npx', npx, options)
}

// A hook that cannot start must not stop a session.
const failed = args[0] === 'hook' ? 0 : 1
const child = start()
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => void child.kill(signal))
child.on('error', (error) => {
  console.error(`agent-memory: neither it nor npx can be started: ${error.message}`)
  process.exitCode = failed
})
child.on('exit', (status, signal) => {
  if (signal !== null) process.exitCode = 128 + system.signals[signal]
  else process.exitCode = status === 0 ? 0 : failed && status
})
