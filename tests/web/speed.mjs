import assert from 'node:assert/strict'
import test from 'node:test'
import { close, facts, longestTask, open, settled } from './browser.mjs'

const points = 10_000
const taskMax = 50 // ms; what people do not notice
const tries = 3
const fluent = (one) => one.loading <= taskMax && one.redrawing <= taskMax
const firstLoadMax = 120_000 // bytes, gzip

/// Ten thousand commits, with everything that a point can have.
function history(metric) {
  const list = Array.from({ length: points }, (_, i) => {
    const level = i < 6000 ? 0.88 : 0.84
    const value = level + 0.01 * Math.sin(i * 12.9898) * Math.cos(i * 4.1414) - (i % 997 === 0 ? 0.1 : 0)
    return {
      run: `0197a3b4-0000-7000-8000-${String(i).padStart(12, '0')}`, commit: i.toString(16).padStart(40, '0'), branch: 'main', subject: `commit number ${i} of a long history`, author: 'Ada',
      committed_at: new Date(1.7e12 + i * 6e5).toISOString(), uploaded_at: new Date(1.7e12 + i * 6e5).toISOString(), value, outcome: i % 997 === 0 ? 'fail' : 'pass',
      environment: 'gpu=H100;gpu_count=8', superseded: false, accepted: false, in_baseline: true, band: { level, low: level - 0.02, high: level + 0.02 },
    }
  })
  const change = { run: list[6000].run, commit: list[6000].commit, previous_commit: list[5999].commit, environment: '', before: 0.88, after: 0.84, magnitude: 0.04, p: 1e-9, better: false, accepted: false }
  return JSON.stringify({ metric, unit: 'ratio', better: 'higher', points: list, change_points: [change], segments: [], next: null })
}

async function load() {
  const bodies = new Map(['gpu.utilization', 'gpu.idle', 'step.time_p50', 'allreduce.time_mean', 'comm.exposed_per_step'].map((metric) => [metric, history(metric)]))
  const opened = await open('/projects/empty', {
    prepare: (context) => context.route('**/history?**', (route) => route.fulfill({ contentType: 'application/json', body: bodies.get(new URL(route.request().url()).searchParams.get('metric')) })),
  })
  const { page } = opened
  const loading = await longestTask(page, async () => {
    await page.goto(`${facts.url}/projects/demo`)
    await page.waitForSelector(`text=All ${points}`)
    for (const card of await page.locator('.plots .card').all()) await card.scrollIntoViewIfNeeded()
    await page.waitForFunction(() => document.querySelectorAll('.plot canvas').length === 5)
    await settled(page)
  })
  const redrawing = await longestTask(page, async () => {
    for (const name of ['From zero', 'Fitted', 'Last 1000', `All ${points}`]) await page.click(`.choice button:text("${name}")`)
    await page.hover('.plot .u-over')
    await page.waitForSelector('.tip')
  })
  await close(opened)
  return { loading, redrawing }
}

test(`${points} points in each of five plots without a task that is felt`, async (t) => {
  const loads = []
  while (loads.length < tries && !loads.some(fluent)) loads.push(await load())
  const words = loads.map((one) => `${one.loading.toFixed(1)} ms, ${one.redrawing.toFixed(1)} ms`).join('; ')
  t.diagnostic(`longest task while loading, and while zooming, changing the axis, hovering: ${words}`)
  assert.ok(loads.some(fluent), words)
})

test('the first load is small, cached, and nothing comes from elsewhere', async (t) => {
  const sizes = []
  const opened = await open('/', { prepare: (_, page) => page.on('response', (answer) => sizes.push(answer)) })
  await opened.page.waitForSelector('.spark polyline')
  let bytes = 0
  for (const answer of sizes) {
    const { pathname, origin } = new URL(answer.url())
    assert.equal(origin, facts.url)
    if (pathname.startsWith('/api/')) continue
    const headers = await answer.allHeaders()
    bytes += Number(headers['content-length'])
    if (pathname !== '/assets/icon' && !pathname.endsWith('.svg')) assert.equal(headers['content-encoding'], 'gzip', pathname)
    assert.equal(headers['cache-control'], pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
  }
  t.diagnostic(`first load: ${bytes} bytes, gzip`)
  assert.ok(bytes > 10_000 && bytes < firstLoadMax, `${bytes} bytes`)
  await close(opened)
})
