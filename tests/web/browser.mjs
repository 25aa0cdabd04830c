// A real browser for the tests: Debian's chromium, its pages watched for everything that must not happen.
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import * as path from 'node:path'

const packages = createRequire(path.join(process.env.TRACEWEIR_WEB_WORK, 'package.json'))
const { chromium } = packages('playwright-core')
const axe = fs.readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8')
const shots = process.env.TRACEWEIR_WEB_SHOTS
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

export const facts = JSON.parse(fs.readFileSync(process.env.TRACEWEIR_WEB_FACTS, 'utf8'))
fs.mkdirSync(shots, { recursive: true })
const browser = await chromium.launch({ executablePath: process.env.TRACEWEIR_CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags })
export const closeBrowser = () => browser.close()

/// What the browser says of an answer that a page asked for and was refused: expected where a test refuses something.
const refused = /Failed to load resource: the server responded with a status of (4\d\d|503)/

/// A page of its own (own storage), whose faults are collected. `expectRefusals`: 4xx answers are part of the test.
export async function open(address, { width = 1280, height = 900, theme = 'light', expectRefusals = false, prepare } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const faults = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!(expectRefusals && refused.test(message.text()))) faults.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`exception: ${error.stack}`))
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`)))
  if (prepare) await prepare(context, page)
  await page.goto(facts.url + address)
  return { page, context, faults }
}

/// Closes the page; nothing may have gone wrong on it, and no name may have become markup.
export async function close({ page, context, faults }) {
  const hostile = await page.evaluate(() => [window.hostile ?? null, document.querySelectorAll('img, iframe, object, embed').length])
  assert.deepEqual(hostile, [null, 0], 'a name from outside became markup')
  assert.deepEqual(faults, [])
  await context.close()
}

export async function shot(page, name) {
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true })
}

/// What a keyboard or a screen reader cannot use. The checker comes in beside the page, past its policy, and leaves nothing behind.
export async function accessible(page, what) {
  await page.evaluate(axe)
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  const words = found.violations.map((rule) => `${rule.id}: ${rule.help}: ${rule.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} ${node.failureSummary}`).join(' | ')}`)
  assert.deepEqual(words, [], `${what}: axe-core`)
}

/// Runs `work` and tells how long the page's main thread was busy without a break, at most: CPU time, so that other programs on
/// the machine do not count. Units: ms.
export async function longestTask(page, work) {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  await work()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString())
  const main = new Set(traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid} ${event.tid}`))
  const tasks = traceEvents.filter((event) => event.ph === 'X' && /RunTask$/.test(event.name) && main.has(`${event.pid} ${event.tid}`) && event.tdur !== undefined)
  assert.ok(tasks.length > 20, 'the browser traced its tasks')
  return Math.max(...tasks.map((event) => event.tdur)) / 1000
}

/// The page has no more width than the window: nothing but tables and code scrolls sideways.
export async function fits(page, what) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  assert.ok(wide <= window, `${what}: ${wide} px wide in a window of ${window}`)
}

/// Waits until every plot and list is there.
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('.loading'))
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}

export const run = (name) => `/projects/demo/runs/${facts.runs[name]}`
