// A project over time: any metrics as small multiples on one axis of commits.
import { useMemo, useState } from 'preact/hooks'
import { download, get, getRuns, projectPath, queryText, type Run } from '../api'
import { useLoad } from '../load'
import { go, runHref, runsHref, setQuery, usePlace } from '../router'
import { metricName } from '../words'
import { Choice, Empty, Loading, ProblemBox, RunBadge, Section, Select } from '../ui'
import { formatAgo, plural, shortSha } from '../format'
import { MetricCard, OverviewCard } from './metric_card'
import { RunTable } from './runs'

const builtIn = ['gpu.utilization', 'gpu.idle', 'step.time_p50', 'allreduce.time_mean', 'comm.exposed_per_step']

export interface Known {
  runs: Run[]
  workloads: string[]
  branches: string[] // of the workload, the baseline's first
  workload: string
  branch: string
  latest: Run | null // of that workload and branch
}

const distinct = (values: readonly (string | null | undefined)[]) => [...new Set(values.filter((value): value is string => !!value))]

/// The branch that others are compared with: what the runs say, else the usual names, else the newest run's.
function baselineBranch(runs: readonly Run[], branches: readonly string[]): string {
  const stated = runs.find((run) => run.base_branch && branches.includes(run.base_branch))?.base_branch
  return stated ?? ['main', 'master', 'trunk'].find((name) => branches.includes(name)) ?? branches[0] ?? ''
}

/// Workloads, those with the most runs first.
export function workloadsOf(runs: readonly Run[]): string[] {
  const counts = new Map<string, number>()
  for (const run of runs) counts.set(run.workload, (counts.get(run.workload) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name)
}

export function knownOf(runs: Run[], query: URLSearchParams): Known {
  const workloads = workloadsOf(runs)
  const workload = query.get('workload') ?? workloads[0] ?? 'default'
  const ofWorkload = runs.filter((run) => run.workload === workload)
  const found = distinct(ofWorkload.map((run) => run.branch))
  const base = baselineBranch(ofWorkload, found)
  const branches = distinct([base, ...found])
  const branch = query.get('branch') ?? base
  return { runs, workloads, branches, workload, branch, latest: ofWorkload.find((run) => (run.branch ?? '') === branch && run.verdict) ?? null }
}

/// The metrics that a verdict judged; those are what a team looks at.
export const gatedMetrics = (run: Run | null) =>
  distinct(run?.verdict?.rules.filter((rule) => rule.outcome !== null && !rule.metric.startsWith('findings.')).map((rule) => rule.metric) ?? [])

function useMetrics(known: Known, query: URLSearchParams): string[] {
  const wanted = query.get('metrics')
  return useMemo(() => {
    if (wanted) return distinct(wanted.split(','))
    const gated = gatedMetrics(known.latest)
    return gated.length > 0 ? gated : builtIn
  }, [wanted, known.latest])
}

/// All metrics that the newest run measured, to choose from.
function useChoices(latest: Run | null): string[] {
  const { value } = useLoad(latest ? `metrics ${latest.id}` : null, (signal) => get<Run>(latest!.links.self, signal))
  return value?.report?.run.measurements.filter((row) => row.value !== null).map((row) => row.metric) ?? []
}

function MetricChooser({ metrics, choices, onChange }: { metrics: readonly string[]; choices: readonly string[]; onChange: (metrics: string[]) => void }) {
  const [text, setText] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    const id = text.trim()
    if (id && !metrics.includes(id)) onChange([...metrics, id])
    setText('')
  }
  return (
    <div class="chips" role="group" aria-label="Metrics shown">
      {metrics.map((id) => (
        <span class="chip">
          {metricName(id)}
          {metrics.length > 1 && <button type="button" aria-label={`Remove ${metricName(id)}`} onClick={() => onChange(metrics.filter((other) => other !== id))}>✕</button>}
        </span>
      ))}
      <form class="chip-form" onSubmit={add}>
        <input list="metric-choices" aria-label="Add a metric" placeholder="Add a metric…" value={text} onInput={(event) => setText(event.currentTarget.value)} spellcheck={false} />
        <datalist id="metric-choices">{choices.filter((id) => !metrics.includes(id)).map((id) => <option value={id}>{metricName(id)}</option>)}</datalist>
        <button class="button small">Add</button>
      </form>
    </div>
  )
}

function viewOf(text: string | null): [string, string] | null {
  const parts = text?.split('..') ?? []
  return parts.length === 2 && parts[0] && parts[1] ? [parts[0], parts[1]] : null
}

function LatestLine({ run, project }: { run: Run | null; project: string }) {
  if (!run?.verdict) return null
  return (
    <a class={`latest ${run.verdict.outcome}`} href={runHref(project, run.id)}>
      <RunBadge run={run} />
      <span class="latest-text">{run.verdict.summary}</span>
      <span class="muted nowrap"><code>{shortSha(run.commit)}</code> · {formatAgo(Date.parse(run.uploaded_at))}</span>
    </a>
  )
}

function Marks() {
  return (
    <ul class="legend marks" aria-label="Marks in the plots">
      <li><span class="mark pass" />Pass</li><li><span class="mark warn" />Warning</li><li><span class="mark fail" />Fail</li><li><span class="mark inconclusive" />Inconclusive</li>
      <li><span class="mark held" />Held, the run did not pass</li>
      <li><span class="mark ring" />Accepted</li><li><span class="mark band" />Judged as unchanged</li><li><span class="mark level" />Level since the last change</li><li><span class="mark change" />Level changed</li><li><span class="mark limit" />Limit</li>
    </ul>
  )
}

export function HistoryPage({ project }: { project: string }) {
  const runs = useLoad(`runs ${project}`, (signal) => getRuns(project, { limit: 200 }, signal))
  if (runs.problem) return <><h1>{project}</h1><ProblemBox problem={runs.problem} again={runs.again} what="project" /></>
  if (!runs.value) return <><h1>{project}</h1><Loading what="history" /></>
  if (runs.value.runs.length === 0) return <FirstRun project={project} />
  return <History project={project} runs={runs.value.runs} />
}

function FirstRun({ project }: { project: string }) {
  return (
    <>
      <h1>{project}</h1>
      <Empty title="No runs yet">
        <p>The first upload starts the history. From a CI job, or from here:</p>
        <pre tabIndex={0}><code>{`curl --fail-with-body -H "Authorization: Bearer $TRACEWEIR_TOKEN" --data-binary @trace.json \\\n  "${location.origin}${projectPath(project)}/runs?commit=$(git rev-parse HEAD)&branch=main"`}</code></pre>
        <p>After five runs on the main branch a baseline stands, and changes are judged.</p>
      </Empty>
    </>
  )
}

function Controls({ known, overlay, axis, environments, environment }: { known: Known; overlay: string[]; axis: string; environments: readonly string[]; environment: string }) {
  const others = known.branches.filter((name) => name !== known.branch && !overlay.includes(name))
  return (
    <div class="toolbar">
      <Select label="Workload" value={known.workload} options={distinct([known.workload, ...known.workloads]).sort().map((name) => [name, name])} onChange={(value) => setQuery({ workload: value, branch: null, overlay: null, metrics: null, zoom: null, env: null })} />
      <Select label="Branch" value={known.branch} options={distinct([known.branch, ...known.branches]).map((name) => [name, name])} onChange={(value) => setQuery({ branch: value, overlay: null, zoom: null })} />
      {(others.length > 0 || overlay.length > 0) && (
        <Select label="Overlay" value="" options={[['', overlay.length ? 'add a branch…' : 'none'], ...others.map((name): [string, string] => [name, name])]} onChange={(value) => value && setQuery({ overlay: [...overlay, value].slice(-3).join(','), zoom: null })} />
      )}
      {overlay.map((name) => <span class="chip">{name}<button type="button" aria-label={`Remove branch ${name}`} onClick={() => setQuery({ overlay: overlay.filter((other) => other !== name).join(',') || null, zoom: null })}>✕</button></span>)}
      {environments.length > 1 && <Select label="Environment" value={environment} options={[['', `all ${environments.length} classes`], ...environments.map((name): [string, string] => [name, name])]} onChange={(value) => setQuery({ env: value || null, zoom: null })} />}
      <Choice label="Value axis" value={axis} options={[['fit', 'Fitted'], ['zero', 'From zero']]} onChange={(value) => setQuery({ y: value === 'fit' ? null : value })} />
    </div>
  )
}

function History({ project, runs }: { project: string; runs: Run[] }) {
  const { query } = usePlace()
  const known = knownOf(runs, query)
  const metrics = useMetrics(known, query)
  const choices = useChoices(known.latest)
  const [environments, setEnvironments] = useState<readonly string[]>([])
  const overlay = query.get('overlay')?.split(',').filter(Boolean) ?? []
  const axis = query.get('y') === 'zero' ? 'zero' : 'fit'
  const shared = {
    project, workload: known.workload, branches: [known.branch, ...overlay], environment: query.get('env') ?? '', axis: axis as 'zero' | 'fit',
    zoom: viewOf(query.get('zoom')), table: query.get('view') === 'table', latest: known.latest,
    onOpen: (run: string) => go(runHref(project, run)),
    onZoom: (ends: [string, string] | null) => setQuery({ zoom: ends ? ends.join('..') : null }),
  }
  const listed = runs.filter((run) => run.workload === known.workload && [known.branch, ...overlay].includes(run.branch ?? ''))
  return (
    <>
      <div class="page-head">
        <h1>{project}</h1>
        <div class="actions"><a class="button" href={runsHref(project, { workload: known.workload })}>All runs</a></div>
      </div>
      <LatestLine run={known.latest} project={project} />
      <Controls known={known} overlay={overlay} axis={axis} environments={environments} environment={shared.environment} />
      <MetricChooser metrics={metrics} choices={choices} onChange={(next) => setQuery({ metrics: next.join(',') })} />
      <OverviewCard key={`overview ${metrics[0]}`} {...shared} metric={metrics[0]!} onEnvironments={setEnvironments} />
      <div class="plots-head">
        <Marks />
        <Choice label="Show as" value={shared.table ? 'table' : 'plot'} options={[['plot', 'Plots'], ['table', 'Tables']]} onChange={(value) => setQuery({ view: value === 'plot' ? null : value })} />
      </div>
      <div class={`plots${metrics.length === 1 ? ' single' : ''}${shared.table ? ' tables' : ''}`}>{metrics.map((metric) => <MetricCard key={metric} {...shared} metric={metric} />)}</div>
      <Section title="Latest runs" hint={`${plural(listed.length, 'run')} of ${known.workload} on ${[known.branch, ...overlay].join(', ')}`}>
        <RunTable project={project} runs={listed} most={10} />
      </Section>
    </>
  )
}

export interface Shared {
  project: string; workload: string; branches: string[]; environment: string; axis: 'zero' | 'fit'
  zoom: [string, string] | null; table: boolean; latest: Run | null
  onOpen: (run: string) => void
  onZoom: (ends: [string, string] | null) => void
}

export const historyPath = (shared: Shared, metric: string, branch: string) => `${projectPath(shared.project)}/history${queryText({ metric, branch, workload: shared.workload })}`

export const saveCsv = (shared: Shared, metric: string) =>
  download(historyPath(shared, metric, shared.branches[0]!), `${shared.project}-${shared.workload}-${metric}.csv`, { Accept: 'text/csv' })
