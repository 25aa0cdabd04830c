import assert from 'node:assert/strict'
import test from 'node:test'
import { accessible, close, facts, fits, open, settled, shot } from './browser.mjs'

for (const [theme, width] of [['light', 1280], ['dark', 1280], ['light', 390]])
  test(`projects, ${theme}, ${width} px wide`, async () => {
    const opened = await open('/', { theme, width })
    const { page } = opened
    await page.waitForSelector('.spark polyline')
    await settled(page)
    await shot(page, `projects-${theme}-${width}`)
    const main = page.locator('section[aria-label="demo"] .workload').first()
    assert.equal(await main.locator('h3').innerText(), 'ddp-8gpu')
    assert.equal(await main.locator('.spark polyline').count(), 5, 'a line for every gated metric')
    assert.match(await main.locator('.branches').innerText(), /try\/<img src=x/)
    assert.equal(await page.locator('section[aria-label="secret"]').count(), 0, 'a project that is not public is not named')
    assert.match(await page.locator('section[aria-label="empty"]').innerText(), /No runs yet/)
    await page.waitForFunction(() => [...document.querySelectorAll('.project')].pop()?.getAttribute('aria-label') === 'empty')
    if (width > 600) await accessible(page, `projects ${theme}`)
    await fits(page, `projects ${width}`)
    await close(opened)
  })

test('from the projects to the history, and back', async () => {
  const opened = await open('/')
  const { page } = opened
  await page.click('h3 a:text("ddp-8gpu")')
  await page.waitForSelector('.plot canvas')
  assert.match(page.url(), /\/projects\/demo\?workload=ddp-8gpu$/)
  assert.equal(await page.title(), 'History · demo · Traceweir')
  await page.goBack()
  await page.waitForSelector('h1:text("Projects")')
  await close(opened)
})

test('a project without runs says how to begin', async () => {
  const opened = await open('/projects/empty')
  await opened.page.waitForSelector('text=No runs yet')
  assert.match(await opened.page.locator('pre').innerText(), /curl .*\n.*\/api\/v1\/projects\/empty\/runs\?commit=/)
  await accessible(opened.page, 'empty project')
  await close(opened)
})

test('an address that is none says so', async () => {
  const opened = await open('/projects/demo/nothing', { expectRefusals: true })
  assert.match(await opened.page.locator('body').innerText(), /no such path/, 'the service knows its pages')
  await opened.context.close()
  const unknown = await open(`/projects/demo/runs/nobody`, { expectRefusals: true })
  await unknown.page.waitForSelector('text=There is no such run')
  assert.equal((await unknown.page.locator('main').innerText()).match(/there is no such run/gi).length, 1, 'said once')
  await accessible(unknown.page, 'no such run')
  await close(unknown)
  assert.ok(facts.url)
})
