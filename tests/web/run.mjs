import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import test from 'node:test'
import { accessible, close, facts, fits, open, run, settled, shot } from './browser.mjs'

for (const [theme, width] of [['light', 1280], ['dark', 1280], ['light', 390]])
  test(`a failed run, ${theme}, ${width} px wide`, async () => {
    const opened = await open(run(24), { theme, width })
    const { page } = opened
    await page.waitForSelector('.device-bar')
    await settled(page)
    await shot(page, `run-failed-${theme}-${width}`)
    assert.equal(await page.locator('h1').innerText(), 'Fail')
    assert.match(await page.locator('.verdict-summary').innerText(), /gpu\.utilization fell from .*\s% to .*\s%/)
    assert.match(await page.locator('#rules').innerText(), /worse than the baseline/)
    assert.match(await page.locator('#idle').innerText(), /waiting for input in data_loading/)
    assert.match(await page.locator('#findings').innerText(), /input_bound/)
    assert.match(await page.locator('#collectives').innerText(), /allreduce[\s\S]*25\sMiB/)
    assert.match(await page.locator('#phases').innerText(), /backward/)
    assert.match(await page.locator('#environment').innerText(), /H100/)
    assert.equal(await page.locator('.steps-plot g').count(), 6, 'a bar for every step of the window')
    if (width > 600) await accessible(page, `run ${theme}`)
    await fits(page, `run ${width}`)
    await close(opened)
  })

test('the parts of every bar add up', async () => {
  const opened = await open(run(24))
  const { page } = opened
  await page.waitForSelector('.device-bar')
  const widths = await page.locator('.device-bar').first().locator('.part').evaluateAll((parts) => parts.reduce((sum, part) => sum + parseFloat(part.style.width), 0))
  assert.ok(Math.abs(widths - 100) < 0.01, `${widths} %`)
  const heights = await page.locator('.steps-plot g').evaluateAll((bars) => bars.map((bar) => [...bar.querySelectorAll('rect')].reduce((sum, part) => sum + Number(part.getAttribute('height')), 0)))
  assert.ok(Math.max(...heights) > 179.9 && Math.max(...heights) < 180.1, 'the longest step fills the plot')
  await page.click('#time button:text("Table")')
  assert.equal(await page.locator('#time tbody tr').count(), 6)
  await close(opened)
})

test('hostile names are text', async () => {
  const opened = await open(run(40))
  const { page } = opened
  await page.waitForSelector('#kernels')
  assert.match(await page.locator('#kernels').innerText(), /<img src=x onerror/)
  assert.match(await page.locator('#phases').innerText(), /<img src=x onerror/)
  await page.locator('#kernels summary', { hasText: '<img' }).click()
  await shot(page, 'run-hostile')
  await accessible(page, 'hostile run')
  await close(opened)
})

test('a run of two ranks shows each', async () => {
  const opened = await open(run('ranks'))
  const { page } = opened
  await page.waitForSelector('.device-bar')
  assert.equal(await page.locator('.device-bar').count(), 2)
  assert.match(await page.locator('#collectives').innerText(), /waiting for other ranks/)
  assert.equal(await page.locator('#findings code:text-is("serial_copies")').count(), 1, 'what both ranks have is said once')
  assert.match(await page.locator('#findings').innerText(), /all 2 ranks/)
  assert.equal(await page.locator('.verdict .actions .button:visible').count(), 2, 'the traces of the ranks are one menu')
  await page.click('.menu > summary')
  assert.equal(await page.locator('.menu li').count(), 2)
  await accessible(page, 'menu of traces')
  await page.click('.menu > summary')
  await page.selectOption('#time select', '1')
  await page.waitForFunction(() => location.search === '?rank=1')
  assert.match(await page.locator('#idle').innerText(), /of rank 1/)
  await shot(page, 'run-two-ranks')
  await accessible(page, 'two ranks')
  await close(opened)
})

test('an nsys run, one that waits, one that was rejected', async () => {
  for (const [name, text] of [['nsys', /nsys_sqlite/], ['pending', /waits for further ranks/], ['rejected', /traceEvents/]]) {
    const opened = await open(run(name))
    await opened.page.waitForSelector('.verdict')
    assert.match(await opened.page.locator('main').innerText(), text)
    if (name === 'nsys') assert.equal(await opened.page.locator('button:text("Open in Perfetto")').count(), 0, 'the viewer reads no exports of nsys')
    await accessible(opened.page, name)
    await close(opened)
  }
})

test('evidence has its unit, the commit its subject', async () => {
  const opened = await open(run(24))
  const { page } = opened
  await page.waitForSelector('#findings .evidence')
  const evidence = await page.locator('#findings .evidence').allInnerTexts()
  assert.ok(evidence.some((text) => /idle\s+\d+\.\d\s%/.test(text)), evidence.join('; '))
  assert.ok(evidence.every((text) => !/\b(ns|ratio|bytes)\b/.test(text)), evidence.join('; '))
  await page.waitForSelector('.facts >> text=data: decode images in the training process')
  assert.match(await page.locator('.facts.inline').innerText(), /Ada/)
  await close(opened)
})

test('evidence in nanoseconds is a time, and a page opens with the rank that is blamed', async () => {
  const blame = (json) => {
    json.report.run.findings = [{ code: 'straggler', severity: 'warning', count: 1, advice: 'Rank 1 is late.', evidence: { rank: 1, waited_ns: 61439673, calls_ratio: 1 } }]
    return json
  }
  const opened = await open(run('ranks'), { prepare: withRun('ranks', blame) })
  const { page } = opened
  await page.waitForSelector('#findings .evidence')
  assert.match(await page.locator('#findings .evidence').first().innerText(), /rank\s+1[\s\S]*waited\s+61\.4\d*\sms[\s\S]*calls\s+100\.0\s%/)
  assert.match(await page.locator('#idle').innerText(), /of rank 1/)
  await close(opened)
})

test('nothing of the rules is cut, whatever the width and however long a name', async () => {
  const long = (json) => {
    json.verdict.rules[0].next = `Look at ${'flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel'.repeat(3)} first.`
    return json
  }
  for (const width of [1280, 1200, 1100, 900, 390]) {
    const opened = await open(run(24), { width, prepare: withRun(24, long) })
    await opened.page.waitForSelector('#rules tbody')
    const [wide, room] = await opened.page.locator('#rules .table-wrap').evaluate((wrap) => [wrap.scrollWidth, wrap.clientWidth])
    assert.ok(wide <= room, `${width}: ${wide} px in ${room}`)
    await close(opened)
  }
})

test('filtering the measurements', async () => {
  const opened = await open(run(24))
  const { page } = opened
  await page.waitForSelector('#measurements')
  await page.fill('#measurements input[type=search]', 'allreduce.busbw')
  assert.equal(await page.locator('#measurements tbody tr').count(), 1)
  await page.fill('#measurements input[type=search]', 'alltoall.busbw')
  assert.equal(await page.locator('#measurements tbody tr').count(), 0)
  await page.check('#measurements input[type=checkbox]')
  assert.match(await page.locator('#measurements tbody').innerText(), /no communication/)
  await close(opened)
})

test('the raw trace is downloaded as it was sent', async () => {
  const opened = await open(run(24))
  const { page } = opened
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download trace')])
  assert.equal(download.suggestedFilename(), 'rank0-24.json')
  assert.ok(JSON.parse(fs.readFileSync(await download.path(), 'utf8')).traceEvents.length > 100)
  await close(opened)
})

const viewer = `<!doctype html><title>waiting</title><script>
  let pings = 0
  addEventListener('message', (event) => {
    if (event.data === 'PING' && ++pings > 2) event.source.postMessage('PONG', event.origin)
    if (event.data.perfetto) document.title = JSON.stringify([event.data.perfetto.title, event.data.perfetto.buffer.byteLength, event.origin])
  })
</script>`

test('open in Perfetto: the viewer gets the trace by message', async () => {
  const opened = await open(run(24), { prepare: (context) => context.route('https://ui.perfetto.dev/**', (route) => route.fulfill({ contentType: 'text/html', body: viewer })) })
  const { page, context } = opened
  const [popup] = await Promise.all([context.waitForEvent('page'), page.click('text=Open in Perfetto')])
  await popup.waitForFunction(() => document.title.startsWith('['))
  const [title, bytes, origin] = JSON.parse(await popup.title())
  assert.match(title, /^demo [0-9a-f]{9} rank 0$/)
  assert.ok(bytes > 10_000)
  assert.equal(origin, facts.url)
  await popup.close()
  await close(opened)
})

const explained = {
  explanations: [{
    metric: 'gpu.utilization', unit: 'ratio', against_run: 'x', base: 0.878, head: 0.69, delta: -0.188, sentence: 'GPU utilization fell: 17.9 of 18.8 points are idle time in data_loading',
    contributions: [{ cause: 'idle.input', name: 'idle.input', phase: 'data_loading <b>', delta: -0.179 }, { cause: 'exposed_memory', name: 'h2d', delta: -0.012 }, { cause: 'other', name: 'other', delta: 0.003 }],
  }],
  facts: ['24 kernels a step, as before'], workload_changed: { sentence: 'Twice as many kernels run in a step.', reasons: ['<i>batch</i> 32 → 64'] },
  cost: { gpus: 8, gpu_hour: 2.5, idle_per_hour: 1, exposed_per_hour: 1, delta_per_hour: 3.4, sentence: 'This costs 3.40 more an hour on 8 GPUs.' },
}

/// Answers as the service does, with parts of the run replaced.
const withRun = (name, change) => async (context) => {
  await context.route(`**/api/v1/projects/demo/runs/${facts.runs[name]}`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: change(await answer.json()) })
  })
}

test('the waterfall adds up, and says what else is known', async () => {
  const opened = await open(run(24), { prepare: withRun(24, (json) => ({ ...json, verdict: { ...json.verdict, ...explained } })) })
  const { page } = opened
  await page.waitForSelector('.waterfall')
  const why = await page.locator('#why').innerText()
  assert.match(why, /3 parts add up to −18\.8\spp/)
  assert.match(why, /in data_loading <b>/)
  assert.match(why, /The workload itself changed/)
  assert.match(why, /3\.40 more an hour/)
  const bars = await page.locator('.waterfall .bar').evaluateAll((list) => list.map((bar) => bar.getBoundingClientRect()).map(({ left, right }) => [left, right]))
  assert.equal(bars.length, 5)
  for (let i = 1; i < bars.length; i++) {
    const touch = bars[i].some((edge) => bars[i - 1].some((other) => Math.abs(edge - other) < 2.5))
    assert.ok(touch, `bar ${i} begins where the one before ends`)
  }
  await shot(page, 'run-why')
  await accessible(page, 'why')
  await close(opened)
})

const withToken = (token) => (context) => context.addInitScript((value) => sessionStorage.setItem('traceweir-token', value), token)

test('a regression is accepted with a reason, which is shown, marked in the history, and undone', async () => {
  const reason = 'a <b>larger</b> model'
  const opened = await open(run(24), { prepare: withToken(facts.admin) })
  const { page } = opened
  await page.click('text=Accept…')
  await page.waitForSelector('dialog[open]')
  await accessible(page, 'accept dialog')
  await shot(page, 'run-accept')
  assert.ok(await page.locator('dialog button.primary').isDisabled(), 'a reason is needed')
  await page.fill('dialog textarea', reason)
  await page.fill('dialog input[maxlength]', 'Ada')
  await page.fill('dialog input[type=date]', '2099-12-31')
  await page.uncheck('dialog label:has-text("GPU idle") input')
  await page.click('dialog button.primary')
  await page.waitForSelector('.notice.accepted')
  const notice = await page.locator('.notice.accepted').innerText()
  assert.match(notice, /Ada[\s\S]*a <b>larger<\/b> model/)
  assert.match(notice, /GPU utilization, Step time, median, until 31 Dec 2099/)
  await shot(page, 'run-accepted')
  await accessible(page, 'accepted run')
  const history = await (await fetch(`${facts.url}/api/v1/projects/demo/history?metric=gpu.utilization&branch=main&workload=ddp-8gpu`)).json()
  assert.equal(history.points.find((point) => point.run === facts.runs[24]).accepted, true)
  await page.goto(`${facts.url}/projects/demo?metrics=gpu.utilization`)
  await page.waitForSelector('.plot canvas')
  await settled(page)
  await shot(page, 'history-accepted')
  await page.goto(facts.url + run(24))
  await page.click('text=Undo')
  await page.waitForSelector('.past')
  assert.match(await page.locator('.past').innerText(), /Ada[\s\S]*undone on/)
  assert.equal(await page.locator('.notice.accepted').count(), 0)
  await close(opened)
})

test('accepting without the right asks for a token', async () => {
  const opened = await open(run(24), { expectRefusals: true, prepare: (context) => context.route('**/accept', (route) => route.fulfill({ status: 401, json: { type: 'unauthorized', title: 'A valid token is required', status: 401, detail: 'a valid token is needed', request_id: 'x' } })) })
  const { page } = opened
  await page.click('text=Accept…')
  await page.fill('dialog textarea', 'because')
  await page.click('dialog button.primary')
  await page.waitForSelector('dialog .token-form')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !document.querySelector('dialog'))
  await close(opened)
})
