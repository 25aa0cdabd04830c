// Every page and every interaction of the dashboard, in one browser. Started by dashboard_test.py.
import { after } from 'node:test'
import { closeBrowser } from './browser.mjs'
import './projects.mjs'
import './history.mjs'
import './run.mjs'
import './compare.mjs'
import './analyze.mjs'
import './access.mjs'
import './speed.mjs'

after(closeBrowser)
