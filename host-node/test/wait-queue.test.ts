import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turn } from '../dist/shared-state.js'
import { WriterOrder } from '../dist/wait-queue.js'

const patience = 60_000

test('the first writer goes at once, and a later one for the same tree when it has left', async () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'a'), Turn.later)
  const turn = order.turn(second)
  order.leave(first)
  await turn
  assert.equal(order.ask(second, 'a'), Turn.now)
})

test('a writer waits for an earlier one of which it is not known what it wants', async () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(second, 'b'), Turn.later)
  const turn = order.turn(second)
  assert.equal(order.ask(first, 'a'), Turn.now)
  await turn
  assert.equal(order.ask(second, 'b'), Turn.now)
})

test('a writer that asks first goes after an earlier one for the same tree', async () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(second, 'a'), Turn.later)
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'a'), Turn.later)
})

test('writers of different trees do not wait for each other', () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'b'), Turn.now)
})

test('a writer whose patience is over is told so, and those behind it go on', async () => {
  const order = new WriterOrder(0)
  const [first, second, third] = [order.enter(), order.enter(), order.enter()]
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'a'), Turn.later)
  await order.turn(second)
  assert.equal(order.ask(second, 'a'), Turn.never)
  order.leave(second)
  order.leave(first)
  assert.equal(order.ask(third, 'a'), Turn.now)
})

test('a call keeps its place until it ends, however often it asks', async () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'a'), Turn.later)
  assert.equal(order.ask(first, 'a'), Turn.now)
  assert.equal(order.ask(second, 'a'), Turn.later)
  order.leave(first)
  assert.equal(order.ask(second, 'a'), Turn.now)
})

test('a call that ends without a lock holds up nobody', async () => {
  const order = new WriterOrder(patience)
  const [first, second] = [order.enter(), order.enter()]
  assert.equal(order.ask(second, 'a'), Turn.later)
  const turn = order.turn(second)
  order.leave(first)
  await turn
  assert.equal(order.ask(second, 'a'), Turn.now)
})

test('a writer that wants another tree when it is run again takes its place there', () => {
  const order = new WriterOrder(patience)
  const [first, second, third] = [order.enter(), order.enter(), order.enter()]
  order.ask(first, 'a')
  order.ask(second, 'a')
  assert.equal(order.ask(third, 'b'), Turn.now)
  assert.equal(order.ask(second, 'b'), Turn.now)
  assert.equal(order.ask(third, 'b'), Turn.later)
})
