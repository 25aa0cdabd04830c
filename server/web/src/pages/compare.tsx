// Two runs side by side: what differs around them first, then what moved and why.
import { useState } from 'preact/hooks'
import { get, getRuns, Problem, projectPath, queryText, runPath, type Better, type Diff, type Measurement, type Run } from '../api'
import { formatAgo, formatDelta, formatRelative, formatValue, shortSha } from '../format'
import { useLoad } from '../load'
import { runHref, setQuery, usePlace } from '../router'
import { isWorse } from '../words'
import { Empty, Loading, ProblemBox, RunBadge, Section, Select, Table } from '../ui'
import { WhySection } from './told'

interface Pair { base: Run; head: Run; diff: Diff | null }

/// Both runs, and the comparison of the service; one that cannot compare still shows both.
async function loadPair(project: string, base: string, head: string, signal: AbortSignal): Promise<Pair> {
  const diff = get<Diff>(`${projectPath(project)}/compare${queryText({ base, head })}`, signal).catch((error: unknown) => {
    if (error instanceof Problem && (error.status === 404 || error.status === 501 || error.status === 422)) return null
    throw error
  })
  const [one, other, told] = await Promise.all([get<Run>(runPath(project, base), signal), get<Run>(runPath(project, head), signal), diff])
  return { base: one, head: other, diff: told }
}

const shown = (value: unknown) => (value === null || value === undefined ? '–' : Array.isArray(value) ? value.join(', ') : String(value))

function environmentOf(run: Run): Record<string, string> {
  const rank = run.report?.ranks[0]
  return { ...Object.fromEntries(Object.entries(rank?.environment ?? {}).map(([key, value]) => [key, shown(value)])), ranks: String(run.report?.ranks.length ?? 0), ...run.environment }
}

function differences(pair: Pair): { key: string; base: string; head: string }[] {
  if (pair.diff) return pair.diff.environment.map((row) => ({ key: row.key, base: shown(row.base), head: shown(row.head) }))
  const [base, head] = [environmentOf(pair.base), environmentOf(pair.head)]
  return [...new Set([...Object.keys(base), ...Object.keys(head)])].filter((key) => base[key] !== head[key]).map((key) => ({ key, base: shown(base[key]), head: shown(head[key]) }))
}

interface Row { metric: string; unit: string; better: Better; base: number | null; head: number | null }

function rowsOf(pair: Pair): Row[] {
  const measured = (run: Run) => new Map((run.report?.run.measurements ?? []).map((row): [string, Measurement] => [row.metric, row]))
  const [base, head] = [measured(pair.base), measured(pair.head)]
  return [...new Set([...base.keys(), ...head.keys()])].map((metric) => {
    const about = (head.get(metric) ?? base.get(metric))!
    return { metric, unit: about.unit, better: about.better, base: base.get(metric)?.value ?? null, head: head.get(metric)?.value ?? null }
  }).filter((row) => row.base !== null || row.head !== null)
}

const deltaOf = (row: Row) => (row.base === null || row.head === null ? null : row.head - row.base)
const ratioOf = (row: Row) => (row.base ? (deltaOf(row) ?? 0) / Math.abs(row.base) : 0)

/// Two runs of the same code differ by as much: no colour should say that one is worse.
const isSmall = (row: Row) => (row.unit === 'ratio' ? Math.abs(deltaOf(row) ?? 0) < 0.005 : Math.abs(ratioOf(row)) < 0.01)

function toneOf(row: Row): string {
  const delta = deltaOf(row)
  const worse = delta === null || isSmall(row) ? null : isWorse(delta, row.better)
  return worse === null ? 'neutral' : worse ? 'worse' : 'improved'
}

function Numbers({ rows, gated }: { rows: readonly Row[]; gated: ReadonlySet<string> }) {
  const [filter, setFilter] = useState('')
  const [order, setOrder] = useState('change')
  const wanted = rows.filter((row) => row.metric.includes(filter.trim().toLowerCase()))
  const sorted = order === 'name' ? wanted : [...wanted].sort((a, b) => Number(gated.has(b.metric)) - Number(gated.has(a.metric)) || Math.abs(ratioOf(b)) - Math.abs(ratioOf(a)))
  return (
    <>
      <div class="toolbar">
        <input type="search" aria-label="Filter metrics" placeholder="Filter, for example step" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <Select label="Order" value={order} options={[['change', 'gated first, then by change'], ['name', 'as measured']]} onChange={setOrder} />
      </div>
      <Table<Row> caption="Measurements of both runs" rows={sorted} most={20} rowClass={(row) => (gated.has(row.metric) ? 'gated' : '')} columns={[
        { head: 'Metric', class: 'metric', cell: (row) => <><code>{row.metric.split(/(?<=[._])/).map((part) => <>{part}<wbr /></>)}</code>{gated.has(row.metric) && <span class="badge none">gated</span>}</> },
        { head: 'Base', number: true, cell: (row) => formatValue(row.base, row.unit) },
        { head: 'Head', number: true, cell: (row) => formatValue(row.head, row.unit) },
        { head: 'Change', number: true, cell: (row) => <span class={`delta ${toneOf(row)}`}>{formatDelta(deltaOf(row), row.unit)}</span> },
        { head: 'Relative', number: true, class: 'wide-only', cell: (row) => <span class={`delta ${toneOf(row)}`}>{row.base ? formatRelative(ratioOf(row)) : ''}</span> },
      ]} />
    </>
  )
}

function SideCard({ name, run }: { name: string; run: Run }) {
  return (
    <div class="side">
      <p class="side-name">{name}</p>
      <p><RunBadge run={run} /> <a href={runHref(run.project, run.id)}><code>{shortSha(run.commit)}</code></a></p>
      <p class="muted">{run.branch ?? 'no branch'} · {run.workload} · {formatAgo(Date.parse(run.uploaded_at))}</p>
    </div>
  )
}

function PairView({ pair }: { pair: Pair }) {
  const rows = rowsOf(pair)
  const around = differences(pair)
  const gated = new Set(pair.head.verdict?.rules.filter((rule) => rule.outcome !== null).map((rule) => rule.metric))
  const betterOf = (metric: string) => rows.find((row) => row.metric === metric)?.better
  const explanations = (pair.diff?.explanations ?? []).map((item) => {
    const sides = pair.diff?.metrics.find((row) => row.metric === item.metric)
    return { ...item, base: item.base ?? sides?.base ?? 0, head: item.head ?? sides?.head ?? 0 }
  })
  return (
    <>
      <div class="sides"><SideCard name="Base" run={pair.base} /><span class="arrow" aria-hidden="true">→</span><SideCard name="Head" run={pair.head} /></div>
      {pair.diff?.summary && <p class="verdict-summary">{pair.diff.summary}</p>}
      <Section title="Environment" id="environment" hint="What differs around the code comes first: it explains more than any kernel.">
        {around.length === 0 ? <p>Nothing differs in what the traces say of their environment.</p> : (
          <Table caption="Differences of the environment" rows={around} columns={[{ head: 'What', cell: (row) => row.key.replace(/_/g, ' ') }, { head: 'Base', cell: (row) => row.base }, { head: 'Head', cell: (row) => row.head }]} />
        )}
      </Section>
      {pair.diff && <WhySection explanations={explanations} betterOf={betterOf} baseName="Base" headName="Head" told={pair.diff} hint="From base to head, cause by cause." />}
      {!pair.diff && <p class="hint">This service does not explain differences; both runs' numbers stand below.</p>}
      <Section title="Numbers" id="numbers"><Numbers rows={rows} gated={gated} /></Section>
    </>
  )
}

/// Which runs: chosen from the latest, or given by the address.
function Chooser({ project, base, head }: { project: string; base: string; head: string }) {
  const runs = useLoad(`runs ${project} to compare`, (signal) => getRuns(project, { limit: 100 }, signal))
  const known = runs.value?.runs.filter((run) => run.status === 'judged') ?? []
  const name = (run: Run) => `${shortSha(run.commit)} · ${run.verdict?.outcome ?? run.status} · ${run.workload} · ${run.branch ?? '–'}`
  const options = (chosen: string): [string, string][] => [
    ...(chosen === '' ? [['', 'choose…'] as [string, string]] : known.some((run) => run.id === chosen) ? [] : [[chosen, chosen] as [string, string]]),
    ...known.map((run): [string, string] => [run.id, name(run)]),
  ]
  return (
    <div class="toolbar pair">
      <Select label="Base" value={base} options={options(base)} onChange={(value) => setQuery({ base: value })} />
      <Select label="Head" value={head} options={options(head)} onChange={(value) => setQuery({ head: value })} />
      {base && head && <button type="button" class="button small" onClick={() => setQuery({ base: head, head: base })}>Swap</button>}
    </div>
  )
}

export function ComparePage({ project }: { project: string }) {
  const { query } = usePlace()
  const [base, head] = [query.get('base') ?? '', query.get('head') ?? '']
  const pair = useLoad(base && head ? `pair ${project} ${base} ${head}` : null, (signal) => loadPair(project, base, head, signal))
  return (
    <>
      <div class="page-head"><h1>Compare two runs</h1></div>
      <Chooser project={project} base={base} head={head} />
      {!base || !head ? <Empty title="Choose two runs"><p>Or open a run and follow “Compare with the baseline”.</p></Empty>
        : pair.problem ? <ProblemBox problem={pair.problem} again={pair.again} what="run" />
        : pair.value ? <PairView pair={pair.value} /> : <Loading what="both runs" />}
    </>
  )
}
