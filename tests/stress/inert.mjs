// Looks at every kind of page of a service full of hostile names (rows/r18.py) and prints what it saw.
import assert from 'node:assert/strict'
import { close, closeBrowser, facts, open } from '../web/browser.mjs'

let dialogs = 0

async function look(address) {
  const prepare = async (context, page) => {
    await context.addInitScript((value) => sessionStorage.setItem('traceweir-token', value), facts.token)
    page.on('dialog', (dialog) => {
      dialogs += 1
      return dialog.dismiss()
    })
  }
  const opened = await open(address, { prepare })
  await opened.page.waitForSelector('h1')
  await opened.page.waitForLoadState('networkidle')
  assert.equal(await opened.page.evaluate(() => document.querySelectorAll('svg[onload], main script, [onerror]').length), 0)
  assert.equal(await opened.page.evaluate(() => [...document.querySelectorAll('a')].filter((a) => !/^(https?:|blob:)/.test(a.href)).length), 0)
  await close(opened)
}

const [first, ...others] = facts.runs
const pages = ['/', '/projects/demo', '/projects/demo?workload=evil', ...facts.runs.map((run) => `/projects/demo/runs/${run}`)]
if (others.length) pages.push(`/projects/demo/compare?base=${first}&head=${others[0]}`)
try {
  for (const page of pages) await look(page)
} finally {
  await closeBrowser()
}
console.log(`${pages.length} pages, ${dialogs} dialogs, 0 CSP reports`)
process.exit(dialogs ? 1 : 0)
