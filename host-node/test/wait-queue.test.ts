import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockReply } from '../dist/shared-state.js'
import { WaitQueue } from '../dist/wait-queue.js'

const timeout = 60_000

test('the first writer goes at once, and the next writer of the same place after it', async () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  const isNext = queue.wait(second)
  queue.leave(first)
  await isNext
  assert.equal(queue.request(second, 'a'), LockReply.acquire)
})

test('a writer waits for an earlier writer that has not requested a lock yet', async () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(second, 'b'), LockReply.retry)
  const isNext = queue.wait(second)
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  await isNext
  assert.equal(queue.request(second, 'b'), LockReply.acquire)
})

test('a writer that requests a lock first waits for an earlier writer of the same place', async () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'a'), LockReply.retry)
})

test('writers of different places do not wait for each other', () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'b'), LockReply.acquire)
})

test('a writer that times out is told so, and the writers behind it go on', async () => {
  const queue = new WaitQueue(0)
  const [first, second, third] = [queue.enter(), queue.enter(), queue.enter()]
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  await queue.wait(second)
  assert.equal(queue.request(second, 'a'), LockReply.timeout)
  queue.leave(second)
  queue.leave(first)
  assert.equal(queue.request(third, 'a'), LockReply.acquire)
})

test('a call keeps its place until it ends, however often it requests the lock', async () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  assert.equal(queue.request(first, 'a'), LockReply.acquire)
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  queue.leave(first)
  assert.equal(queue.request(second, 'a'), LockReply.acquire)
})

test('a call that ends without a lock lets later calls go on', async () => {
  const queue = new WaitQueue(timeout)
  const [first, second] = [queue.enter(), queue.enter()]
  assert.equal(queue.request(second, 'a'), LockReply.retry)
  const isNext = queue.wait(second)
  queue.leave(first)
  await isNext
  assert.equal(queue.request(second, 'a'), LockReply.acquire)
})

test('a writer that wants another lock in a later run takes its place in that queue', () => {
  const queue = new WaitQueue(timeout)
  const [first, second, third] = [queue.enter(), queue.enter(), queue.enter()]
  queue.request(first, 'a')
  queue.request(second, 'a')
  assert.equal(queue.request(third, 'b'), LockReply.acquire)
  assert.equal(queue.request(second, 'b'), LockReply.acquire)
  assert.equal(queue.request(third, 'b'), LockReply.retry)
})
