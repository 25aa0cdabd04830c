// build.mjs --work FOLDER [--out FOLDER] [--with-tests] [--check]
// Installs the packages of package-lock.json into FOLDER once (npm), and from there
//   --out     bundles the dashboard into a folder as it is served: index.html, assets/NAME-HASH.EXT
//   --check   checks the types of all sources
// --with-tests installs what the tests need, too. Nothing is written beside the sources. Node 18 is enough.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import * as path from 'node:path'
import { fileURLToPath } from 'node:url'

const source = path.dirname(fileURLToPath(import.meta.url))
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex')

function argument(name) {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}

function die(message) {
  console.error(`dashboard: ${message}`)
  process.exit(1)
}

/// Installs what the lock file names, unless that was done already; packages for tests are a superset.
function install(work, withTests) {
  const stamp = path.join(work, 'installed')
  const lock = hash(fs.readFileSync(path.join(source, 'package-lock.json')))
  const had = fs.existsSync(stamp) ? fs.readFileSync(stamp, 'utf8') : ''
  if (had === `${lock} all` || (!withTests && had === `${lock} build`)) return
  fs.mkdirSync(work, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) fs.copyFileSync(path.join(source, name), path.join(work, name))
  // No package may run a script of its own at installation; none of ours needs to.
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  try {
    execFileSync('npm', [...options, ...(withTests ? [] : ['--omit=dev'])], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] })
  } catch {
    die(`npm could not install the packages of server/web/package-lock.json into ${work}.
It needs npm's registry (or npm's cache) the first time. Without: cmake -DTRACEWEIR_WEB=OFF builds a service that has no dashboard.`)
  }
  fs.writeFileSync(stamp, `${lock} ${withTests ? 'all' : 'build'}`)
}

/// The sources beside node_modules, where every tool finds its packages.
function stage(work) {
  const staged = path.join(work, 'src')
  fs.rmSync(staged, { recursive: true, force: true })
  fs.cpSync(path.join(source, 'src'), staged, { recursive: true })
  fs.copyFileSync(path.join(source, 'tsconfig.json'), path.join(work, 'tsconfig.json'))
  return staged
}

/// Writes assets/NAME-HASH.EXT and returns its path as pages refer to it.
function keep(out, name, bytes) {
  const { name: stem, ext } = path.parse(name)
  const file = `assets/${stem}-${hash(bytes).slice(0, 12)}${ext}`
  fs.writeFileSync(path.join(out, file), bytes)
  return `/${file}`
}

async function bundle(work, out) {
  const staged = stage(work)
  const { build } = createRequire(path.join(work, 'package.json'))('esbuild')
  const common = { bundle: true, minify: true, write: false, format: 'esm', target: 'es2020', charset: 'utf8', legalComments: 'none',
    jsx: 'automatic', jsxImportSource: 'preact', logLevel: 'warning', absWorkingDir: work, outdir: '/out' }
  fs.rmSync(out, { recursive: true, force: true })
  fs.mkdirSync(path.join(out, 'assets'), { recursive: true })
  const worker = await build({ ...common, entryPoints: [path.join(staged, 'series_worker.ts')] })
  const workerPath = keep(out, 'worker.js', worker.outputFiles[0].contents)
  const app = await build({ ...common, entryPoints: [path.join(staged, 'app.tsx')], define: { WORKER_PATH: JSON.stringify(workerPath) } })
  const made = Object.fromEntries(app.outputFiles.map((file) => [path.extname(file.path), file.contents]))
  const icon = keep(out, 'icon.svg', fs.readFileSync(path.join(source, 'icon.svg')))
  const page = fs.readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('/app.css', keep(out, 'app.css', made['.css']))
    .replace('/app.js', keep(out, 'app.js', made['.js']))
    .replace('/icon.svg', icon)
  fs.writeFileSync(path.join(out, 'index.html'), page)
}

const work = path.resolve(argument('--work') ?? die('--work FOLDER is missing'))
if (Number(process.versions.node.split('.')[0]) < 18) die(`Node ${process.versions.node} is too old; 18 is enough`)
const check = process.argv.includes('--check')
install(work, check || process.argv.includes('--with-tests'))
if (check) {
  stage(work)
  try {
    execFileSync(process.execPath, [path.join(work, 'node_modules/typescript/bin/tsc'), '--project', work], { stdio: 'inherit' })
  } catch {
    die('the types do not fit')
  }
}
if (argument('--out')) await bundle(work, path.resolve(argument('--out')))
