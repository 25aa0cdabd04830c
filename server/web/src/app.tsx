// The frame around every page, and which page an address means.
import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import 'uplot/dist/uPlot.min.css'
import './app.css'
import { followLinks, projectHref, usePlace, type Place } from './router'
import { choose, chosen, type Choice } from './theme'
import { Dialog, Empty, TokenForm, useToken } from './ui'
import { AnalyzePage } from './pages/analyze'
import { ComparePage } from './pages/compare'
import { HistoryPage } from './pages/history'
import { ProjectsPage } from './pages/projects'
import { RunPage } from './pages/run'
import { RunsPage } from './pages/runs'
import { shortSha } from './format'

interface Page {
  title: string
  key: string
  project?: string
  trail: string[]
  show: () => preact.JSX.Element
}

function pageOf({ path }: Place): Page {
  const [first, project, kind, id] = path
  if (path.length === 0 || (first === 'projects' && path.length === 1)) return { title: 'Projects', key: 'projects', trail: [], show: () => <ProjectsPage /> }
  if (first === 'analyze' && path.length === 1) return { title: 'Look at a trace', key: 'analyze', trail: ['Look at a trace'], show: () => <AnalyzePage /> }
  if (first === 'projects' && project) {
    const within = (title: string, trail: string[], show: () => preact.JSX.Element): Page => ({ title: `${title} · ${project}`, key: path.join('/'), project, trail, show })
    if (path.length === 2) return within('History', [], () => <HistoryPage project={project} />)
    if (kind === 'runs' && path.length === 3) return within('Runs', ['Runs'], () => <RunsPage project={project} />)
    if (kind === 'runs' && path.length === 4) return within(`Run ${shortSha(id!.slice(-9))}`, [`Run ${id!.slice(-8)}`], () => <RunPage project={project} id={id!} />)
    if (kind === 'compare' && path.length === 3) return within('Compare', ['Compare'], () => <ComparePage project={project} />)
  }
  return { title: 'Not found', key: 'none', trail: [], show: () => <><h1>Not found</h1><Empty title="There is no page at this address"><p><a href="/">All projects</a></p></Empty></> }
}

const themes: readonly (readonly [Choice, string])[] = [['auto', 'System'], ['light', 'Light'], ['dark', 'Dark']]

function ThemeButton() {
  const [choice, setChoice] = useState(chosen)
  const next = () => {
    const at = themes.findIndex(([key]) => key === choice)
    const [key] = themes[(at + 1) % themes.length]!
    choose(key)
    setChoice(key)
  }
  const name = themes.find(([key]) => key === choice)![1]
  return <button type="button" class="button quiet" onClick={next} aria-label={`Colours: ${name}`} title={`Colours: ${name}`}><span aria-hidden="true">{choice === 'auto' ? '◐' : choice === 'light' ? '☀' : '☾'}</span></button>
}

function Header({ page }: { page: Page }) {
  const [asking, setAsking] = useState(false)
  const token = useToken()
  return (
    <header class="top">
      <nav aria-label="Where you are">
        <a class="brand" href="/"><svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><rect width="32" height="32" rx="7" /><path d="M5 19c3 0 3-8 6-8s3 10 6 10 3-8 5-8 2 4 5 4" /><path class="gate" d="M22 5v22" /></svg>Traceweir</a>
        {page.project && <><span class="slash" aria-hidden="true">/</span><a href={projectHref(page.project)}>{page.project}</a></>}
        {page.trail.map((name) => <><span class="slash" aria-hidden="true">/</span><span>{name}</span></>)}
      </nav>
      <div class="top-actions">
        <a class="button quiet" href="/analyze">Look at a trace</a>
        <button type="button" class="button quiet" onClick={() => setAsking(true)}>{token ? 'Token set' : 'Token'}</button>
        <ThemeButton />
      </div>
      {asking && <Dialog title="Token" onClose={() => setAsking(false)}><TokenForm onDone={() => setAsking(false)} /></Dialog>}
    </header>
  )
}

function App() {
  const here = usePlace()
  const page = pageOf(here)
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => {
    document.title = page.key === 'projects' ? 'Traceweir' : `${page.title} · Traceweir`
    // Whoever moves by keyboard or hears the page begins at its top after each move.
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
  }, [page.key])
  return (
    <div onClick={followLinks}>
      <a class="skip" href="#main">Skip to the page</a>
      <Header page={page} />
      <main id="main" ref={main} tabIndex={-1} key={page.key}>{page.show()}</main>
    </div>
  )
}

render(<App />, document.getElementById('app')!)
