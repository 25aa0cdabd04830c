import assert from 'node:assert/strict'
import test from 'node:test'
import { accessible, close, facts, open, shot } from './browser.mjs'

test('a project that is not public asks for a token, keeps it in this tab and out of every address', async () => {
  const addresses = []
  const opened = await open('/projects/secret', { expectRefusals: true, prepare: (_, page) => page.on('request', (request) => addresses.push(request.url())) })
  const { page } = opened
  await page.waitForSelector('.token-form')
  await shot(page, 'token-wanted')
  await accessible(page, 'token wanted')
  await page.fill('.token-form input', 'twr_0000000000000000_nonsense')
  await page.click('text=Use it')
  await page.waitForSelector('text=The service does not know your token')
  await page.fill('.token-form input', facts.secret)
  await page.click('text=Use it')
  await page.waitForSelector('.plot canvas')
  const secret = facts.secret.split('_')[2]
  assert.ok(addresses.every((address) => !address.includes(secret)))
  assert.equal(await page.evaluate(() => localStorage.length), 0)
  assert.equal(await page.evaluate(() => document.cookie), '')
  await page.goto(`${facts.url}/projects/secret/runs/${facts.runs.secret}`)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download trace')])
  assert.ok(await download.path(), 'the trace comes with the token, which a link could not send')
  await page.click('text=Token set')
  await page.click('dialog >> text=Forget the one in use')
  await page.waitForSelector('text=This needs a token')
  await close(opened)
})

test('a token of another project is told so', async () => {
  const opened = await open('/projects/secret', { expectRefusals: true, prepare: (context) => context.addInitScript((value) => sessionStorage.setItem('traceweir-token', value), facts.token) })
  await opened.page.waitForSelector('text=Your token does not allow this')
  await close(opened)
})

test('a service that is away is told so, and asked again', async () => {
  let away = true
  const opened = await open('/projects/demo', { prepare: (context) => context.route('**/api/**', (route) => (away ? route.abort() : route.continue())) })
  const { page } = opened
  await page.waitForSelector('text=The service does not answer')
  opened.faults.splice(0)
  away = false
  await page.click('text=Try again')
  await page.waitForSelector('.plot canvas')
  await close(opened)
})

test('the first Tab skips to the page', async () => {
  const opened = await open('/')
  await opened.page.waitForSelector('h1')
  await opened.page.keyboard.press('Tab')
  assert.equal(await opened.page.evaluate(() => document.activeElement.textContent), 'Skip to the page')
  await close(opened)
})
