import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import test from 'node:test'
import { accessible, close, facts, fits, open, settled, shot } from './browser.mjs'

const withToken = (token) => (context) => context.addInitScript((value) => sessionStorage.setItem('traceweir-token', value), token)

test('a dropped trace is analysed and not kept', async () => {
  const before = await (await fetch(`${facts.url}/api/v1/projects/demo/runs?limit=200`)).text()
  const opened = await open('/analyze', { prepare: withToken(facts.token) })
  const { page } = opened
  await shot(page, 'analyze-empty')
  await accessible(page, 'nothing dropped')
  const text = fs.readFileSync(facts.trace, 'utf8')
  await page.evaluate((content) => {
    const files = new DataTransfer()
    files.items.add(new File([content], '<img src=x onerror="window.hostile=1">.json'))
    const zone = document.querySelector('.drop')
    zone.dispatchEvent(new DragEvent('dragover', { dataTransfer: files, bubbles: true, cancelable: true }))
    zone.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }))
  }, text)
  await page.waitForSelector('.done-line')
  await settled(page)
  assert.match(await page.locator('.tiles').innerText(), /GPU utilization/)
  assert.match(await page.locator('.done-line').innerText(), /<img src=x/)
  assert.ok(await page.locator('.device-bar').count())
  await shot(page, 'analyze-done')
  await accessible(page, 'analysed')
  assert.equal(await (await fetch(`${facts.url}/api/v1/projects/demo/runs?limit=200`)).text(), before, 'no run came of it')
  await close(opened)
})

test('a chosen file that is no trace is refused in words', async () => {
  const opened = await open('/analyze', { width: 390, expectRefusals: true, prepare: withToken(facts.token) })
  const { page } = opened
  await page.setInputFiles('input[type=file]', { name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"a": 1}') })
  await page.waitForSelector('.problem')
  assert.match(await page.locator('.problem').innerText(), /traceEvents/)
  await fits(page, 'analyze')
  await accessible(page, 'refused')
  await close(opened)
})

test('without a token it asks for one', async () => {
  const opened = await open('/analyze', { expectRefusals: true })
  await opened.page.setInputFiles('input[type=file]', facts.trace)
  await opened.page.waitForSelector('.token-form')
  await close(opened)
})
