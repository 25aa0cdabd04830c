// One metric of the history: its plot or table, where its level changed, and how it stands now.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Problem, type Rule } from '../api'
import { formatDateTime, formatDelta, formatRelative, formatValue, plural, shortSha } from '../format'
import { layoutOf, slotOfRun, spotAt, type Layout, type Spot } from '../layout'
import { useLoad } from '../load'
import { Plot, type Limit, type View } from '../plot'
import { runHref } from '../router'
import { getSeries, flag, outcomeWords, policyOf, type ChangePoint, type Policy, type Series } from '../series'
import { betterName, isWorse, metricName, outcomeNames } from '../words'
import { Empty, Loading, OutcomeBadge, ProblemBox, Table } from '../ui'
import type { Change, Level } from '../draw'
import { historyPath, saveCsv, type Shared } from './history'
import { Overview } from './overview'

type CardProps = Shared & { metric: string }

interface Loaded {
  main: Series | null
  layout: Layout | null
  problem: Problem | null
  again: () => void
}

/// The series of all branches on one axis. Branches besides the first may lack the metric without spoiling the plot.
function useLayout(shared: Shared, metric: string, wanted: boolean): Loaded {
  const paths = shared.branches.map((branch) => historyPath(shared, metric, branch))
  const loaded = useLoad(wanted ? paths.join(' ') : null, () => Promise.all(paths.map((path) => getSeries(path))))
  const layout = useMemo(
    () => loaded.value && layoutOf(loaded.value.map((series, i) => ({ series, branch: shared.branches[i] ?? '' })), shared.environment),
    [loaded.value, shared.environment],
  )
  return { main: loaded.value?.[0] ?? null, layout, problem: loaded.problem, again: loaded.again }
}

function viewIn(layout: Layout, zoom: [string, string] | null): View {
  const whole = { low: 0, high: Math.max(0, layout.slots - 1) }
  if (!zoom) return whole
  const [low, high] = [slotOfRun(layout, zoom[0]), slotOfRun(layout, zoom[1])]
  return low >= 0 && high > low ? { low, high } : whole
}

const endsOf = (layout: Layout, view: View): [string, string] | null => {
  const run = (slot: number) => {
    const spot = spotAt(layout, slot)
    return spot ? spot.lane.series.text('run', spot.point) : ''
  }
  return view.low === 0 && view.high === layout.slots - 1 ? null : [run(view.low), run(view.high)]
}

const zoomBy = (shared: Shared, layout: Layout) => (view: View | null) => shared.onZoom(view ? endsOf(layout, view) : null)

function changesOf(layout: Layout, series: Series): Change[] {
  return series.columns.changePoints.flatMap((change) => {
    const slot = slotOfRun(layout, change.run)
    return slot < 0 ? [] : [{ slot, worse: change.better === null || change.better === undefined ? isWorse(change.after - change.before, series.columns.better) : !change.better, accepted: change.accepted ?? false }]
  })
}

function levelsOf(layout: Layout, series: Series): Level[] {
  return series.columns.segments.flatMap((segment) => {
    const [from, to] = [slotOfRun(layout, segment.first_run), slotOfRun(layout, segment.last_run)]
    return from < 0 || to < from ? [] : [{ from, to, value: segment.level }]
  })
}

function limitOf(rules: readonly Rule[], metric: string): Limit | null {
  const rule = rules.find((item) => item.metric === metric && item.limit !== null)
  return rule ? { value: rule.limit!, text: `limit ${rule.limit_text ?? formatValue(rule.limit, rule.unit)}` } : null
}

/// Only what comes into sight is loaded and drawn, one plot after the other, so that the page stays fluent.
function useSeen(): [preact.RefObject<HTMLDivElement>, boolean] {
  const ref = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: '300px' })
    if (ref.current) watch.observe(ref.current)
    return () => watch.disconnect()
  }, [])
  return [ref, seen]
}

function Now({ series, policy }: { series: Series; policy: Policy }) {
  const last = series.count - 1
  if (last < 0) return null
  const { unit } = series.columns
  const value = series.columns.value[last]!
  const level = series.columns.level[last]!
  const delta = value - level
  return (
    <div class="now">
      <span class="now-value">{formatValue(value, unit)}</span>
      {Number.isFinite(level) && <span class={`delta ${series.toneAt(last, policy)}`}>{unit === 'ratio' || level === 0 ? formatDelta(delta, unit) : formatRelative(delta / level)}</span>}
    </div>
  )
}

function Changes({ series, project }: { series: Series; project: string }) {
  const { unit, changePoints, better } = series.columns
  if (changePoints.length === 0) return null
  const words = (change: ChangePoint) => `${formatValue(change.before, unit)} → ${formatValue(change.after, unit)}`
  return (
    <details class="changes">
      <summary>{plural(changePoints.length, 'change')} of the level</summary>
      <ul>
        {[...changePoints].reverse().map((change) => {
          const delta = change.after - change.before
          const worse = isWorse(delta, better)
          return (
            <li>
              <span class={`delta ${worse === null ? 'neutral' : worse ? 'worse' : 'improved'}`}>{formatDelta(delta, unit)}{change.before !== 0 && unit !== 'ratio' ? ` (${formatRelative(delta / change.before)})` : ''}</span>{' '}
              {words(change)}, first at <a href={runHref(project, change.run)}><code>{shortSha(change.commit)}</code></a>
              {change.previous_commit && <> after <code>{shortSha(change.previous_commit)}</code></>}
              {change.accepted && <span class="badge accepted">Accepted</span>}
            </li>
          )
        })}
      </ul>
    </details>
  )
}

function SeriesTable({ layout, view, unit, project, metric, policy }: { layout: Layout; view: View; unit: string; project: string; metric: string; policy: Policy }) {
  const spots: Spot[] = []
  for (let slot = view.high; slot >= view.low; slot--) {
    const spot = spotAt(layout, slot)
    if (spot) spots.push(spot)
  }
  return (
    <Table<Spot> caption={`${metricName(metric)} by commit, newest first`} rows={spots} most={12} stack columns={[
      { head: 'Commit', cell: ({ lane, point }) => <a href={runHref(project, lane.series.text('run', point))}><code>{shortSha(lane.series.text('commit', point))}</code></a> },
      { head: 'Value', number: true, cell: ({ lane, point }) => formatValue(lane.series.columns.value[point], unit) },
      { head: 'Against its baseline', number: true, cell: ({ lane, point }) => <span class={`delta ${lane.series.toneAt(point, policy)}`}>{formatDelta(lane.series.columns.value[point]! - lane.series.columns.level[point]!, unit)}</span> },
      { head: 'Outcome', cell: ({ lane, point }) => {
        const word = outcomeWords[lane.series.columns.outcome[point]!]
        const held = lane.series.markAt(point, policy) === 'held'
        return <>{held ? <span class="badge none" title={`This metric held; the run as a whole: ${outcomeNames[word!]}`}>Held; run: {outcomeNames[word!]}</span> : word ? <OutcomeBadge outcome={word} /> : '–'}{lane.series.has(point, flag.accepted) && ' accepted'}</>
      } },
      { head: 'When', cell: ({ lane, point }) => <span class="nowrap">{formatDateTime(lane.series.time(point))}</span> },
      { head: 'Subject', class: 'subject', cell: ({ lane, point }) => lane.series.text('subject', point) },
    ]} />
  )
}

function Body(props: CardProps & { layout: Layout; main: Series; policy: Policy }) {
  const { layout, main, metric } = props
  const view = useMemo(() => viewIn(layout, props.zoom), [layout, props.zoom?.join()])
  const changes = useMemo(() => changesOf(layout, main), [layout, main])
  const levels = useMemo(() => levelsOf(layout, main), [layout, main])
  const limit = useMemo(() => limitOf(props.latest?.verdict?.rules ?? [], metric), [props.latest, metric])
  const [csvProblem, setCsvProblem] = useState('')
  if (layout.slots === 0) return <Empty title="No run measured this"><p>On {props.branches.join(', ')}, workload {props.workload}. <code>traceweir metrics</code> tells what a metric needs.</p></Empty>
  return (
    <>
      {props.table
        ? <SeriesTable layout={layout} view={view} unit={main.columns.unit} project={props.project} metric={metric} policy={props.policy} />
        : <Plot layout={layout} view={view} axis={props.axis} changes={changes} levels={levels} limit={limit} policy={props.policy} label={`${metricName(metric)} over ${plural(layout.slots, 'run')}`}
            onZoom={zoomBy(props, layout)} onOpen={(spot) => props.onOpen(spot.lane.series.text('run', spot.point))} />}
      {layout.lanes.length > 1 && !props.table && <LaneLegend layout={layout} />}
      <div class="card-foot">
        <Changes series={main} project={props.project} />
        <button type="button" class="button quiet small" aria-label={`${metricName(metric)} as CSV`} onClick={() => saveCsv(props, metric).catch((error: Error) => setCsvProblem(error.message))}>CSV</button>
      </div>
      {csvProblem && <p class="hint" role="alert">{csvProblem}</p>}
    </>
  )
}

function LaneLegend({ layout }: { layout: Layout }) {
  const several = new Set(layout.lanes.map((lane) => lane.environment)).size > 1
  return <ul class="legend">{layout.lanes.map((lane, i) => <li><span class={`lane lane-${(i % 4) + 1}`} />{lane.branch || 'no branch'}{several && <span class="muted environment"> {lane.environment}</span>}</li>)}</ul>
}

export function MetricCard(props: CardProps) {
  const [ref, seen] = useSeen()
  const { main, layout, problem, again } = useLayout(props, props.metric, seen)
  const policy = useMemo(() => policyOf(props.latest?.verdict?.rules ?? [], props.metric), [props.latest, props.metric])
  return (
    <section class="card" ref={ref} aria-label={metricName(props.metric)}>
      <div class="card-head">
        <div>
          <h2>{metricName(props.metric)}</h2>
          <p class="hint"><code>{props.metric}</code>{main && main.columns.better !== 'none' && ` · ${betterName[main.columns.better]}`}</p>
        </div>
        {main && <Now series={main} policy={policy} />}
      </div>
      {problem ? <ProblemBox problem={problem} again={again} what="metric" /> : layout && main ? <Body {...props} layout={layout} main={main} policy={policy} /> : <Loading what={metricName(props.metric)} />}
    </section>
  )
}

const recents = [30, 100, 1000]

/// The whole history in small, on which a range is drawn.
export function OverviewCard(props: CardProps & { onEnvironments: (names: readonly string[]) => void }) {
  const { layout, main } = useLayout(props, props.metric, true)
  const names = main?.columns.environments
  useEffect(() => names && props.onEnvironments(names), [names])
  if (!layout) return <div class="overview-row"><div class="overview" /></div> // its place, so that nothing jumps
  if (layout.slots < 3) return null
  const view = viewIn(layout, props.zoom)
  const count = view.high - view.low + 1
  const zoom = zoomBy(props, layout)
  const last = (size: number) => () => zoom({ low: Math.max(0, layout.slots - size), high: layout.slots - 1 })
  const offered = recents.filter((size) => size < layout.slots)
  return (
    <div class="overview-row">
      <Overview layout={layout} view={view} onZoom={zoom} />
      <div class="choice" role="group" aria-label="Range">
        <button type="button" aria-pressed={count === layout.slots} onClick={() => zoom(null)}>All {layout.slots}</button>
        {offered.map((size) => <button type="button" aria-pressed={count === size && view.high === layout.slots - 1} onClick={last(size)}>Last {size}</button>)}
      </div>
    </div>
  )
}
