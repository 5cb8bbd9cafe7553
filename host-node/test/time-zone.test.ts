import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machineZone, namedZone, receivedZone } from '../dist/time-zone.js'

function changesOf(name: string, year: number): [string, number][] {
  const changes = receivedZone(namedZone(name)!).changes.map(({ at, offsetMinutes }): [string, number] => {
    return [new Date(Number(at)).toISOString(), offsetMinutes]
  })
  return changes.filter(([at]) => at.startsWith(`${year}`))
}

test('a zone has the moments at which its offset changes', () => {
  const newYork = receivedZone(namedZone('America/New_York')!)
  assert.equal(newYork.offsetMinutes, -300)
  assert.ok(newYork.changes.length > 200 && newYork.changes.length < 300)
  assert.deepEqual(changesOf('America/New_York', 2026), [
    ['2026-03-08T07:00:00.000Z', -240],
    ['2026-11-01T06:00:00.000Z', -300],
  ])
  assert.deepEqual(changesOf('Pacific/Apia', 2011), [
    ['2011-04-02T14:00:00.000Z', -660],
    ['2011-09-24T14:00:00.000Z', -600],
    ['2011-12-30T10:00:00.000Z', 840],
  ])
  assert.deepEqual(changesOf('Australia/Lord_Howe', 2026), [
    ['2026-04-04T15:00:00.000Z', 630],
    ['2026-10-03T15:30:00.000Z', 660],
  ])
  assert.deepEqual(receivedZone(namedZone('UTC')!), { offsetMinutes: 0, changes: [] })
})

test('there is no zone of another name', () => {
  for (const name of ['', 'Mars/Olympus', '+05:00', 'New York']) assert.equal(namedZone(name), undefined, name)
})

test('the zone of the machine is that of `TZ`', () => {
  const before = process.env['TZ']
  try {
    for (const name of ['America/New_York', 'Asia/Kolkata', 'Europe/London']) {
      process.env['TZ'] = name
      assert.deepEqual(machineZone(), namedZone(name), name)
    }
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
})
