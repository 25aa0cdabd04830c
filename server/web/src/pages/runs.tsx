// Runs as a list, with the filters of the API.
import { useEffect, useState } from 'preact/hooks'
import { get, getRuns, Problem, type Outcome, type Run, type RunPage } from '../api'
import { formatAgo, formatDateTime, shortSha } from '../format'
import { useLoad } from '../load'
import { compareHref, projectHref, runHref, setQuery, usePlace } from '../router'
import { outcomeNames, outcomes } from '../words'
import { Empty, Loading, ProblemBox, RunBadge, Select, Table } from '../ui'

/// The run that a run is best compared with: the newest of its baseline.
export const baselineRun = (run: Run) => run.verdict?.rules.find((rule) => rule.baseline)?.baseline?.last ?? null

export function RunTable({ project, runs, most }: { project: string; runs: readonly Run[]; most: number }) {
  return (
    <Table<Run> caption="Runs, newest first" rows={runs} most={most} stack columns={[
      { head: 'Verdict', cell: (run) => <RunBadge run={run} /> },
      { head: 'Commit', cell: (run) => <a href={runHref(project, run.id)}><code>{shortSha(run.commit)}</code></a> },
      { head: 'What it says', class: 'subject', cell: (run) => run.verdict?.summary ?? run.error?.detail ?? '' },
      { head: 'Branch', cell: (run) => <>{run.branch ?? '–'}{run.pr !== null && <span class="muted"> #{run.pr}</span>}{run.superseded && <span class="muted"> superseded</span>}</> },
      { head: 'Workload', cell: (run) => run.workload },
      { head: 'When', cell: (run) => <time class="nowrap" dateTime={run.uploaded_at} title={formatDateTime(Date.parse(run.uploaded_at))}>{formatAgo(Date.parse(run.uploaded_at))}</time> },
      { head: <span class="visually-hidden">Compare</span>, label: '', cell: (run) => { const base = baselineRun(run); return base && <a class="nowrap" href={compareHref(project, base, run.id)} aria-label={`Compare ${shortSha(run.commit)} with its baseline`}>compare</a> } },
    ]} />
  )
}

const filters = ['workload', 'branch', 'outcome', 'commit'] as const

export function RunsPage({ project }: { project: string }) {
  const { query } = usePlace()
  const filter = Object.fromEntries(filters.map((key) => [key, query.get(key)]))
  const first = useLoad(`runs ${project} ${JSON.stringify(filter)}`, (signal) => getRuns(project, { ...filter, limit: 40 }, signal))
  const [more, setMore] = useState<Run[]>([])
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    setMore([])
    setProblem(null)
    setNext(first.value?.next ?? null)
  }, [first.value])
  const load = () => get<RunPage>(next!).then((page) => {
    setMore([...more, ...page.runs])
    setNext(page.next)
  }, (error: unknown) => setProblem(error as Problem))
  const runs = [...(first.value?.runs ?? []), ...more]
  const field = (key: (typeof filters)[number], label: string, placeholder: string) => (
    <label class="field">{label}<input type="search" value={filter[key] ?? ''} placeholder={placeholder} onChange={(event) => setQuery({ [key]: event.currentTarget.value.trim() || null })} /></label>
  )
  return (
    <>
      <div class="page-head"><h1>Runs of {project}</h1><div class="actions"><a class="button" href={projectHref(project)}>History</a></div></div>
      <div class="toolbar">
        {field('workload', 'Workload', 'any')}
        {field('branch', 'Branch', 'any')}
        {field('commit', 'Commit', 'full id')}
        <Select label="Outcome" value={filter['outcome'] ?? ''} options={[['', 'any'], ...outcomes.map((word: Outcome): [string, string] => [word, outcomeNames[word]])]} onChange={(value) => setQuery({ outcome: value || null })} />
      </div>
      {first.problem ? <ProblemBox problem={first.problem} again={first.again} what="project" />
        : !first.value ? <Loading what="runs" />
        : runs.length === 0 ? <Empty title="No run is like that"><p><a href={`/projects/${encodeURIComponent(project)}/runs`}>Show all runs</a></p></Empty>
        : <RunTable project={project} runs={runs} most={1000} />}
      {problem && <ProblemBox problem={problem} what="page" />}
      {next && <button type="button" class="button more" onClick={load}>Older runs</button>}
    </>
  )
}
