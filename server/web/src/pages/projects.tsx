// All projects that the caller may read: how each workload stands, and how its gated metrics went.
import { useEffect, useState } from 'preact/hooks'
import { get, getRuns, projectPath, queryText, token, type Project, type Run } from '../api'
import { formatAgo, formatValue, shortSha } from '../format'
import { useLoad } from '../load'
import { projectHref, runHref } from '../router'
import { getSeries, policyOf, type Policy, type Series } from '../series'
import { metricName } from '../words'
import { Empty, Loading, OutcomeIcon, ProblemBox, RunBadge, TokenForm } from '../ui'
import { gatedMetrics, knownOf, workloadsOf } from './history'

const sparkPoints = 40
const sparksMax = 5

/// A series in a line: no axes, only its way, with its last value marked by how this metric did.
function Spark({ series, policy }: { series: Series; policy: Policy }) {
  const { value, count } = series.columns
  if (count === 0) return null
  const [width, height] = [120, 28]
  const values = Array.from(value.slice(-sparkPoints))
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (i: number) => (values.length > 1 ? 3 + (i / (values.length - 1)) * (width - 8) : width / 2)
  const y = (v: number) => (high > low ? height - 5 - ((v - low) / (high - low)) * (height - 10) : height / 2)
  const last = values.length - 1
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <polyline points={values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(' ')} />
      <circle class={series.markAt(count - 1, policy) ?? 'none'} cx={x(last)} cy={y(values[last]!)} r="3" />
    </svg>
  )
}

function SparkCell({ project, workload, branch, metric, policy }: { project: string; workload: string; branch: string; metric: string; policy: Policy }) {
  const path = `${projectPath(project)}/history${queryText({ metric, branch, workload, limit: sparkPoints })}`
  const { value: series } = useLoad(path, () => getSeries(path))
  const last = series && series.count > 0 ? series.columns.value[series.count - 1]! : null
  return (
    <a class="spark-cell" href={projectHref(project, { workload, branch, metrics: metric })}>
      <span class="spark-name">{metricName(metric)}</span>
      <span class="spark-line">{series ? <Spark series={series} policy={policy} /> : <span class="spark" />}<span class="spark-value">{last === null ? '' : formatValue(last, series!.columns.unit)}</span></span>
    </a>
  )
}

/// The newest run of each other branch of a workload.
function otherBranches(runs: readonly Run[], workload: string, branch: string): Run[] {
  const newest = new Map<string, Run>()
  for (const run of runs) if (run.workload === workload && run.branch && run.branch !== branch && !newest.has(run.branch)) newest.set(run.branch, run)
  return [...newest.values()].slice(0, 6)
}

function WorkloadRow({ project, runs, workload }: { project: string; runs: Run[]; workload: string }) {
  const known = knownOf(runs, new URLSearchParams({ workload }))
  const newest = runs.find((run) => run.workload === workload && (run.branch ?? '') === known.branch) ?? runs.find((run) => run.workload === workload)!
  const others = otherBranches(runs, workload, known.branch)
  return (
    <div class="workload">
      <div class="workload-head">
        <RunBadge run={newest} />
        <h3><a href={projectHref(project, { workload })}>{workload}</a></h3>
        <span class="muted">{known.branch || 'no branch'} · <a href={runHref(project, newest.id)}><code>{shortSha(newest.commit)}</code></a> · {formatAgo(Date.parse(newest.uploaded_at))}</span>
      </div>
      <p class="workload-summary">{newest.verdict?.summary ?? newest.error?.detail ?? ''}</p>
      <div class="sparks">{gatedMetrics(known.latest).slice(0, sparksMax).map((metric) => <SparkCell key={metric} project={project} workload={workload} branch={known.branch} metric={metric} policy={policyOf(known.latest?.verdict?.rules ?? [], metric)} />)}</div>
      {others.length > 0 && (
        <p class="branches">Other branches: {others.map((run) => (
          <a class="branch" href={runHref(project, run.id)}>{run.verdict && <OutcomeIcon outcome={run.verdict.outcome} />}<span class="visually-hidden">{run.verdict?.outcome ?? run.status} on </span>{run.branch}</a>
        ))}</p>
      )}
    </div>
  )
}

/// How soon somebody should look at a project: what fails first, what is empty last.
function urgency(runs: Run[]): number {
  const words = workloadsOf(runs).map((workload) => knownOf(runs, new URLSearchParams({ workload })).latest?.verdict?.outcome ?? 'none')
  const order = ['fail', 'inconclusive', 'warn', 'pass', 'none']
  return Math.min(order.length, ...words.map((word) => order.indexOf(word)))
}

function ProjectCard({ project, onUrgency }: { project: Project; onUrgency: (name: string, urgency: number) => void }) {
  const runs = useLoad(`card ${project.name}`, (signal) => getRuns(project.name, { limit: 100 }, signal))
  const workloads = workloadsOf(runs.value?.runs ?? [])
  useEffect(() => { if (runs.value) onUrgency(project.name, urgency(runs.value.runs)) }, [runs.value])
  return (
    <section class="card project" aria-label={project.name}>
      <div class="card-head">
        <h2><a href={projectHref(project.name)}>{project.name}</a></h2>
        <span class="tags">{project.mode === 'observe' && <span class="badge none">observes only</span>}{project.read_access === 'public' && <span class="badge none">public</span>}</span>
      </div>
      {runs.problem ? <ProblemBox problem={runs.problem} again={runs.again} what="project" />
        : !runs.value ? <Loading what={project.name} />
        : workloads.length === 0 ? <p class="hint">No runs yet. <a href={projectHref(project.name)}>How to upload the first</a></p>
        : workloads.map((workload) => <WorkloadRow key={workload} project={project.name} runs={runs.value!.runs} workload={workload} />)}
    </section>
  )
}

export function ProjectsPage() {
  const projects = useLoad('projects', (signal) => get<{ projects: Project[] }>('/api/v1/projects', signal))
  const [known, setKnown] = useState<ReadonlyMap<string, number>>(new Map())
  const onUrgency = (name: string, value: number) => setKnown((before) => new Map(before).set(name, value))
  const unknown = 3 // beside what passes, until its runs are there
  const list = projects.value && [...projects.value.projects].sort((a, b) => (known.get(a.name) ?? unknown) - (known.get(b.name) ?? unknown))
  return (
    <>
      <div class="page-head"><h1>Projects</h1><div class="actions"><a class="button" href="/analyze">Look at a trace</a></div></div>
      {projects.problem ? <ProblemBox problem={projects.problem} again={projects.again} what="page" />
        : !list ? <Loading what="projects" />
        : list.length > 0 ? <div class="projects">{list.map((project) => <ProjectCard key={project.name} project={project} onUrgency={onUrgency} />)}</div>
        : token() === null ? (
          <Empty title="No public project"><p>Enter a token to see the projects that it may read. On the service's machine:</p><pre tabIndex={0}><code>traceweird token create --project NAME --scope read</code></pre><TokenForm /></Empty>
        ) : (
          <Empty title="No project yet"><p>The first token makes one:</p><pre tabIndex={0}><code>traceweird token create --project NAME --scope upload,read</code></pre></Empty>
        )}
    </>
  )
}
