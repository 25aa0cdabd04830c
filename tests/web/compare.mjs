import assert from 'node:assert/strict'
import test from 'node:test'
import { accessible, close, facts, fits, open, run, settled, shot } from './browser.mjs'

const pair = `/projects/demo/compare?base=${facts.runs[23]}&head=${facts.runs[24]}`

for (const [theme, width] of [['light', 1280], ['dark', 390]])
  test(`two runs, ${theme}, ${width} px wide`, async () => {
    const opened = await open(pair, { theme, width, expectRefusals: true })
    const { page } = opened
    await page.waitForSelector('#numbers')
    await settled(page)
    await shot(page, `compare-${theme}-${width}`)
    const first = page.locator('#numbers tbody tr').first()
    assert.equal(await first.getAttribute('class'), 'gated', 'what the gate looks at comes first')
    assert.match(await page.locator('#environment').innerText(), /Nothing differs/)
    await accessible(page, `compare ${theme}`)
    await fits(page, `compare ${width}`)
    await close(opened)
  })

test('what differs around the runs comes first', async () => {
  const opened = await open(`/projects/demo/compare?base=${facts.runs[23]}&head=${facts.runs.ranks}`, { expectRefusals: true })
  await opened.page.waitForSelector('#environment tbody tr')
  assert.match(await opened.page.locator('#environment').innerText(), /1[\s\S]*2/)
  const order = await opened.page.locator('section.section').evaluateAll((sections) => sections.map((section) => section.id))
  assert.equal(order[0], 'environment')
  await close(opened)
})

test('runs are chosen, swapped, and reached from a run', async () => {
  const opened = await open('/projects/demo/compare', { expectRefusals: true })
  const { page } = opened
  await page.waitForSelector('text=Choose two runs')
  await accessible(page, 'nothing chosen')
  await page.selectOption('select >> nth=0', facts.runs[39])
  await page.selectOption('select >> nth=1', facts.runs[40])
  await page.waitForSelector('#numbers')
  await page.click('text=Swap')
  await page.waitForFunction((id) => new URLSearchParams(location.search).get('base') === id, facts.runs[40])
  await page.goto(facts.url + run(24))
  await page.click('text=Compare with the baseline')
  await page.waitForSelector('#numbers')
  assert.match(page.url(), new RegExp(`head=${facts.runs[24]}`))
  await page.selectOption('label:text("Order") + select', 'name')
  await page.fill('#numbers input[type=search]', 'step.time')
  assert.ok((await page.locator('#numbers tbody tr').count()) >= 3)
  await close(opened)
})
