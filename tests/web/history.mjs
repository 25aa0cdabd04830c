import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import test from 'node:test'
import { accessible, close, facts, fits, open, settled, shot } from './browser.mjs'

const branch = 'try/<img src=x onerror="window.hostile=\'branch\'">'
const card = (page, metric) => page.locator('section.card', { has: page.locator(`code:text-is("${metric}")`) })

/// Plots are loaded as they come into sight.
async function shown(page) {
  await page.waitForSelector('.plot canvas')
  for (const one of await page.locator('.plots .card').all()) await one.scrollIntoViewIfNeeded()
  await settled(page)
  await page.evaluate(() => scrollTo(0, 0))
}

for (const [theme, width] of [['light', 1280], ['dark', 1280], ['dark', 390]])
  test(`history, ${theme}, ${width} px wide`, async () => {
    const opened = await open('/projects/demo', { theme, width })
    const { page } = opened
    await shown(page)
    assert.equal(await page.locator('.plot canvas').count(), 5)
    await shot(page, `history-${theme}-${width}`)
    assert.equal(await page.locator('.latest .badge').innerText(), 'Pass')
    if (width > 600) await accessible(page, `history ${theme}`)
    await fits(page, `history ${width}`)
    await close(opened)
  })

test('hovering a commit tells what it was; a click opens it', async () => {
  const opened = await open('/projects/demo?metrics=gpu.utilization')
  const { page } = opened
  await shown(page)
  const over = page.locator('.plot .u-over')
  const box = await over.boundingBox()
  const at = (commit) => [box.x + ((commit - 1 + 0.6) / (facts.commits - 1 + 1.2)) * box.width, box.y + box.height / 2]
  await page.mouse.move(...at(24))
  await page.waitForSelector('.tip')
  const tip = await page.locator('.tip').innerText()
  assert.match(tip, /Fail/)
  assert.match(tip, /data: decode images in the training process/)
  assert.match(tip, /Ada/)
  assert.match(tip, /−\d+\.\d\spp against \d+\.\d\s%/, 'the difference to the level of its baseline')
  await page.mouse.move(...at(31))
  await page.waitForFunction(() => document.querySelector('.tip-subject')?.textContent.includes('<img src=x'))
  await shot(page, 'history-hover')
  await page.mouse.click(...at(24))
  await page.waitForSelector('.verdict.fail')
  assert.ok(page.url().endsWith(`/projects/demo/runs/${facts.runs[24]}`))
  await close(opened)
})

test('a metric that held is not told as failed, though its run did', async () => {
  const opened = await open('/projects/demo?metrics=allreduce.time_mean,gpu.utilization&view=table')
  const { page } = opened
  const row = (metric) => card(page, metric).locator('tbody tr', { hasText: 'data: decode images in the training process', hasNotText: 'Revert' }).first()
  for (const metric of ['gpu.utilization', 'allreduce.time_mean']) {
    await card(page, metric).locator('tbody tr').first().waitFor()
    await card(page, metric).locator('button.more').click()
  }
  assert.match(await row('gpu.utilization').innerText(), /Fail/)
  assert.equal(await row('gpu.utilization').locator('.badge.fail').count(), 1)
  assert.match(await row('allreduce.time_mean').innerText(), /Held; run: Fail/)
  assert.equal(await row('allreduce.time_mean').locator('.badge.fail, .delta.worse').count(), 0)
  for (const red of await page.locator('.delta.worse').allInnerTexts()) assert.doesNotMatch(red, /[+−]0(\.0\d)?\s/, 'nothing is red inside its tolerance')
  await accessible(page, 'held metrics')
  await close(opened)
})

test('dragging zooms, the address keeps it, Escape shows all', async () => {
  const opened = await open('/projects/demo')
  const { page } = opened
  await shown(page)
  const box = await page.locator('.plot .u-over').first().boundingBox()
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await page.waitForFunction(() => location.search.includes('zoom='))
  assert.ok(await page.locator('.overview .u-select').evaluate((mark) => mark.offsetWidth > 50), 'the brush shows the part')
  await page.reload()
  await shown(page)
  assert.ok(page.url().includes('zoom='))
  await page.locator('.plot').first().press('Escape')
  await page.waitForFunction(() => !location.search.includes('zoom='))
  await page.click('.overview-row button:text("Last 30")')
  await page.waitForFunction(() => location.search.includes('zoom='))
  const before = page.url()
  const brush = await page.locator('.overview .u-over').boundingBox()
  await page.mouse.move(brush.x + brush.width * 0.1, brush.y + 20)
  await page.mouse.down()
  await page.mouse.move(brush.x + brush.width * 0.4, brush.y + 20, { steps: 4 })
  await page.mouse.up()
  await page.waitForFunction((before) => location.href !== before && location.search.includes('zoom='), before)
  await close(opened)
})

test('every plot is drawn once for each change', async () => {
  const counted = () => {
    window.drawings = 0
    const { clearRect } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      if (this.canvas.closest('.plot')) window.drawings++
      return clearRect.apply(this, box)
    }
  }
  const opened = await open('/projects/demo', { prepare: (_, page) => page.addInitScript(counted) })
  const { page } = opened
  const drawn = async (count, what) => {
    await page.waitForFunction((count) => window.drawings >= count, count)
    await settled(page)
    assert.equal(await page.evaluate(() => window.drawings), count, what)
    await page.evaluate(() => (window.drawings = 0))
  }
  await shown(page)
  await drawn(5, 'at first')
  for (const name of ['From zero', 'Fitted', 'Last 30', `All ${facts.commits}`]) {
    await page.click(`.choice button:text("${name}")`)
    await drawn(5, name)
  }
  await close(opened)
})

test('by keyboard: arrows move over the runs, Enter opens one', async () => {
  const opened = await open('/projects/demo?metrics=gpu.idle')
  const { page } = opened
  await shown(page)
  await page.locator('.plot').focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  await page.waitForFunction(() => /commit [0-9a-f]{9} loss: log it every step/.test(document.querySelector('.plot [aria-live]')?.textContent ?? ''))
  await page.keyboard.press('Enter')
  await page.waitForSelector('.verdict')
  assert.ok(page.url().endsWith(facts.runs[39]))
  await close(opened)
})

test('where the level changed stands below the plot', async () => {
  const opened = await open('/projects/demo?metrics=step.time_p50')
  const { page } = opened
  await shown(page)
  await page.click('.changes summary')
  const words = await page.locator('.changes li').first().innerText()
  assert.match(words, /^−.*ms \(−.*%\) .*ms → .*ms, first at [0-9a-f]{9} after [0-9a-f]{9}$/)
  await shot(page, 'history-changes')
  await page.click('.changes li a')
  await page.waitForSelector('.verdict')
  assert.ok(page.url().endsWith(facts.runs[13]), 'the first commit of the new level')
  await close(opened)
})

test('metrics are chosen, and the address keeps them', async () => {
  const opened = await open('/projects/demo?metrics=gpu.utilization')
  const { page } = opened
  await shown(page)
  await page.fill('.chip-form input', 'launch.count_per_step')
  await page.click('.chip-form button')
  await page.waitForSelector('section[aria-label="launch.count_per_step"] .plot canvas')
  assert.match(page.url(), /metrics=gpu.utilization%2Claunch.count_per_step/)
  await page.click('button[aria-label="Remove GPU utilization"]')
  await page.waitForFunction(() => document.querySelectorAll('.plots .card').length === 1)
  await page.fill('.chip-form input', 'no.such')
  await page.click('.chip-form button')
  await page.waitForSelector('.problem')
  opened.faults.splice(0) // the refusal of the unknown metric
  await close(opened)
})

test('another branch over it, from zero, as a table, as CSV', async () => {
  const opened = await open('/projects/demo')
  const { page } = opened
  await shown(page)
  await page.selectOption('label:text("Overlay") + select', branch)
  await page.waitForFunction(() => document.querySelectorAll('.plots .legend .lane').length >= 2)
  assert.match(await card(page, 'gpu.utilization').innerText(), /try\/<img src=x/)
  await page.click('button:text("From zero")')
  await page.waitForFunction(() => location.search.includes('y=zero'))
  await settled(page)
  await shot(page, 'history-overlay-from-zero')
  await page.click('button:text("Tables")')
  const rows = card(page, 'gpu.utilization').locator('tbody tr')
  await rows.first().waitFor()
  assert.match(await rows.first().innerText(), /%/)
  await accessible(page, 'history as tables')
  await shot(page, 'history-tables')
  const [download] = await Promise.all([page.waitForEvent('download'), card(page, 'gpu.utilization').locator('button:text("CSV")').click()])
  const csv = fs.readFileSync(await download.path(), 'utf8')
  assert.equal(csv.trim().split('\n').length, facts.commits + 1)
  assert.match(download.suggestedFilename(), /demo-ddp-8gpu-gpu.utilization.csv/)
  await close(opened)
})

test('dark and light are chosen, and kept', async () => {
  const opened = await open('/projects/demo?metrics=gpu.utilization')
  const { page } = opened
  await shown(page)
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.click('button[aria-label^="Colours"]')
  await page.click('button[aria-label^="Colours"]')
  assert.notEqual(await background(), light)
  await page.reload()
  await shown(page)
  assert.notEqual(await background(), light)
  await close(opened)
})

test('the list of runs: filters, and older ones', async () => {
  const opened = await open('/projects/demo/runs')
  const { page } = opened
  await page.waitForSelector('tbody tr')
  await page.click('button:text("Older runs")')
  await page.waitForFunction(() => !document.querySelector('button.more'))
  await accessible(page, 'runs')
  await page.selectOption('select', 'fail')
  await page.waitForFunction(() => [...document.querySelectorAll('tbody .badge')].every((badge) => badge.classList.contains('fail')))
  assert.match(page.url(), /outcome=fail/)
  await shot(page, 'runs-failed')
  await page.fill('input[type=search] >> nth=1', 'nobody')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=No run is like that')
  await close(opened)
})
