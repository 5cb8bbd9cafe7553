// Node under Wine cannot open pipes as streams. So the standard streams are read and written as files.
import { createReadStream, writeSync } from 'node:fs'
import { Writable } from 'node:stream'

function output(descriptor) {
  const write = (chunk, _, done) => {
    writeSync(descriptor, chunk)
    done()
  }
  return new Writable({ write })
}

const streams = { stdin: createReadStream('', { fd: 0 }), stdout: output(1), stderr: output(2) }
for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value })
