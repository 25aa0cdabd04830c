// One metric over commits on a canvas: lines, band, marks; hover, keyboard, zoom. What is under the pointer is told in words.
import uPlot from 'uplot'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatAgo, formatClock, formatDateTime, formatDay, formatDelta, formatRelative, formatValue, scaleFor, shortSha } from './format'
import { colorsOf, drawBand, drawChanges, drawLevels, drawLimit, drawMarks, fit, notableOf, type Change, type Colors, type Level } from './draw'
import { spotAt, type Lane, type Layout, type Spot } from './layout'
import { flag, outcomeWords, type Policy } from './series'
import { OutcomeBadge } from './ui'
import { useTheme } from './theme'

export interface View {
  low: number
  high: number
}
export type Axis = 'fit' | 'zero'
export interface Limit {
  value: number
  text: string
}
export interface PlotOptions {
  layout: Layout
  view: View
  axis: Axis
  changes: readonly Change[]
  levels: readonly Level[]
  limit: Limit | null
  policy: Policy
  label: string
  onZoom: (view: View | null) => void
  onOpen: (spot: Spot) => void
}

/// x, then the values of every lane.
function dataOf(layout: Layout): uPlot.AlignedData {
  const xs = Array.from({ length: layout.slots }, (_, i) => i)
  const lanes = layout.lanes.map((lane) => {
    const { value } = lane.series.columns
    return xs.map((slot) => {
      const point = lane.pointAt[slot]!
      return point < 0 || Number.isNaN(value[point]!) ? null : value[point]!
    })
  })
  return [xs, ...lanes]
}

/// Each plot draws in a task of its own: many at once would be felt. Gives what calls it off.
function inOwnTask(work: () => void): () => void {
  const timer = setTimeout(work)
  return () => clearTimeout(timer)
}

/// A band is only as much of the picture as it does not flatten what was measured.
const bandShare = 0.9

function rangeOf(layout: Layout, view: View, axis: Axis, ratio: boolean): [number, number] {
  let low = Infinity
  let high = -Infinity
  const take = (lane: Lane, values: Float64Array, least = -Infinity, most = Infinity) => {
    for (let slot = view.low; slot <= view.high; slot++) {
      const value = values[lane.pointAt[slot]!] // of no point: undefined
      if (value === undefined || Number.isNaN(value)) continue
      if (value < low) low = Math.max(value, least)
      if (value > high) high = Math.min(value, most)
    }
  }
  for (const lane of layout.lanes) take(lane, lane.series.columns.value)
  if (low > high) return [0, 1]
  const span = high - low || Math.abs(high) * 0.1 || 1
  const [least, most] = [low - span * bandShare, high + span * bandShare]
  const { columns } = layout.lanes[0]!.series
  take(layout.lanes[0]!, columns.low, least, most)
  take(layout.lanes[0]!, columns.high, least, most)
  const pad = (high - low || span) * 0.12
  const [from, to] = axis === 'zero' ? [Math.min(0, low - (low < 0 ? pad : 0)), high + pad] : [low - pad, high + pad]
  return ratio && low >= 0 && high <= 1 ? [Math.max(0, from), Math.min(1, to)] : [low >= 0 ? Math.max(0, from) : from, to]
}

function axesOf(layout: Layout, unit: string, colors: Colors): uPlot.Axis[] {
  const font = '12px system-ui, sans-serif'
  const timeAt = (slot: number) => {
    const spot = spotAt(layout, slot)
    return spot ? spot.lane.series.time(spot.point) : NaN
  }
  const oneDay = formatDay(timeAt(0), true) === formatDay(timeAt(layout.slots - 1), true)
  const day = (slot: number) => {
    const spot = Number.isInteger(slot) ? spotAt(layout, slot) : null
    return spot ? (oneDay ? formatClock : (ms: number) => formatDay(ms, layout.slots > 300))(spot.lane.series.time(spot.point)) : ''
  }
  const common = { stroke: colors.text, font, ticks: { show: false } }
  return [
    { ...common, grid: { show: false }, space: 72, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], values: (_, splits) => splits.map(day), size: 32, gap: 9 },
    {
      ...common,
      grid: { stroke: colors.grid, width: 1 },
      space: 34,
      size: 66,
      values: (u, splits) => {
        const scale = scaleFor(Math.max(Math.abs(u.scales.y!.min ?? 0), Math.abs(u.scales.y!.max ?? 0)), unit)
        const step = splits.length > 1 ? Math.abs(splits[1]! - splits[0]!) / scale.factor : 1
        const decimals = [0, 1, 2, 3, 4, 5].find((n) => Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) < 1e-6 * 10 ** n) ?? 6
        return splits.map((value) => `${(value / scale.factor).toFixed(decimals)}${scale.unit ? ` ${scale.unit}` : ''}`)
      },
    },
  ]
}

const seriesOf = (layout: Layout, colors: Colors): uPlot.Series[] => [
  {},
  ...layout.lanes.map((_, index) => ({ points: { show: false }, spanGaps: true, auto: false, stroke: colors.lanes[index % colors.lanes.length]!, width: index === 0 ? 1.6 : 1.2 })),
]

const sizeOf = (element: HTMLElement) => ({ width: Math.max(120, element.clientWidth), height: element.clientHeight })

/// Turns presses, drags and keys on the plot into what they mean.
function makePlot(root: HTMLElement, options: { current: PlotOptions }, colors: Colors, onHover: (slot: number | null) => void): uPlot {
  const { layout, changes, levels, limit, policy } = options.current
  const first = layout.lanes[0]
  const notable = notableOf(layout, policy)
  const unit = first?.series.columns.unit ?? ''
  const view = () => options.current.view
  let pressedAt = 0
  const plot = new uPlot({
    ...sizeOf(root),
    legend: { show: false },
    padding: [10, 12, 0, 0],
    scales: { x: { time: false, range: () => [view().low - 0.6, view().high + 0.6] }, y: { range: () => rangeOf(layout, view(), options.current.axis, unit === 'ratio') } },
    axes: axesOf(layout, unit, colors),
    series: seriesOf(layout, colors),
    cursor: {
      y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 6 }, sync: { key: 'history', setSeries: false },
      bind: { dblclick: () => () => null }, // a click opens a run; the brush and Escape show all again
    },
    hooks: {
      drawAxes: [(u) => first && drawBand(u, first, colors)],
      draw: [(u) => { drawLevels(u, levels, colors); drawChanges(u, changes, colors); if (limit) drawLimit(u, limit.value, limit.text, colors); drawMarks(u, layout, policy, notable, colors) }],
      setCursor: [(u) => onHover(u.cursor.left! >= 0 ? (u.cursor.idx ?? null) : null)],
      setSelect: [(u) => {
        if (u.select.width < 6) return
        const [from, to] = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        const low = Math.max(0, Math.ceil(from))
        const high = Math.min(layout.slots - 1, Math.floor(to))
        if (high > low) options.current.onZoom({ low, high })
      }],
    },
  }, dataOf(layout), root)
  plot.over.addEventListener('mousedown', (event) => (pressedAt = event.clientX))
  plot.over.addEventListener('click', (event) => {
    const spot = Math.abs(event.clientX - pressedAt) < 4 && plot.cursor.idx != null ? spotAt(layout, plot.cursor.idx) : null
    if (spot) options.current.onOpen(spot)
  })
  return plot
}

/// What is known of one point, in words.
function Tip({ spot, unit, policy }: { spot: Spot; unit: string; policy: Policy }) {
  const { series } = spot.lane
  const { columns } = series
  const value = columns.value[spot.point]!
  const level = columns.level[spot.point]!
  const outcome = outcomeWords[columns.outcome[spot.point]!]
  const subject = series.text('subject', spot.point)
  const author = series.text('author', spot.point)
  const delta = value - level
  const held = series.markAt(spot.point, policy) === 'held'
  return (
    <>
      <div class="tip-head"><strong>{formatValue(value, unit)}</strong>{outcome && <OutcomeBadge outcome={outcome} />}{series.has(spot.point, flag.accepted) && <span class="badge accepted">Accepted</span>}</div>
      {Number.isFinite(level) && <div class="tip-delta">{formatDelta(delta, unit)}{unit !== 'ratio' && level !== 0 ? ` (${formatRelative(delta / level)})` : ''} against {formatValue(level, unit)}</div>}
      {held && <div class="tip-delta">This metric held; the verdict is of the whole run.</div>}
      {subject && <div class="tip-subject">{subject}</div>}
      <div class="tip-meta"><code>{shortSha(series.text('commit', spot.point))}</code> {spot.lane.branch}{author ? ` · ${author}` : ''}</div>
      <div class="tip-meta">{formatDateTime(series.time(spot.point))} · {formatAgo(series.time(spot.point))}{series.has(spot.point, flag.superseded) ? ' · superseded' : ''}</div>
    </>
  )
}

export function spotText(spot: Spot, unit: string): string {
  const { series } = spot.lane
  const outcome = outcomeWords[series.columns.outcome[spot.point]!] ?? 'no verdict'
  return `${formatValue(series.columns.value[spot.point]!, unit)}, ${outcome}, commit ${shortSha(series.text('commit', spot.point))} ${series.text('subject', spot.point)}`
}

/// The slot that a key moves to; null: the key means nothing here.
function movedBy(key: string, at: number, view: View): number | null {
  const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 10, PageDown: at + 10, Home: view.low, End: view.high }
  const to = steps[key]
  return to === undefined ? null : Math.max(view.low, Math.min(view.high, to))
}

export function Plot(props: PlotOptions) {
  const root = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const options = useRef(props)
  options.current = props
  const [hovered, setHovered] = useState<number | null>(null)
  const [here, setHere] = useState(false)
  const theme = useTheme()
  const unit = props.layout.lanes[0]?.series.columns.unit ?? ''

  useEffect(() => {
    const element = root.current!
    const resized = new ResizeObserver(() => plot.current && fit(plot.current, sizeOf(element)))
    const later = inOwnTask(() => {
      plot.current = makePlot(element, options, colorsOf(element), setHovered)
      resized.observe(element)
    })
    return () => {
      later()
      resized.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [props.layout, props.changes, props.levels, props.limit, props.policy, theme])

  // A plot that is not made yet will be made with what holds then.
  useEffect(() => (plot.current ? inOwnTask(() => plot.current?.setScale('x', { min: props.view.low - 0.6, max: props.view.high + 0.6 })) : undefined), [props.view.low, props.view.high, props.axis])

  const point = (slot: number) => plot.current?.setCursor({ left: plot.current.valToPos(slot, 'x'), top: 20 })
  const onKey = (event: KeyboardEvent) => {
    const spot = hovered === null ? null : spotAt(props.layout, hovered)
    if (event.key === 'Enter' && spot) return props.onOpen(spot)
    if (event.key === 'Escape') return props.onZoom(null)
    const to = movedBy(event.key, hovered ?? props.view.high + 1, props.view)
    if (to === null) return
    event.preventDefault()
    point(to)
  }
  const shown = here && hovered !== null ? spotAt(props.layout, hovered) : null
  const left = shown && plot.current ? plot.current.valToPos(hovered!, 'x') + plot.current.bbox.left / devicePixelRatio : 0
  const side = plot.current && left > plot.current.width / 2 ? 'left-side' : 'right-side'
  return (
    <div class="plot" role="group" tabIndex={0} aria-label={`${props.label}. Arrow keys move over the runs, Enter opens one, Escape shows all.`} onKeyDown={onKey}
      onFocus={() => setHere(true)} onBlur={() => setHere(false)} onMouseEnter={() => setHere(true)} onMouseLeave={() => setHere(false)}>
      <div class="plot-canvas" ref={root} />
      {shown && <div class={`tip ${side}`} style={{ left: `${left}px` }}><Tip spot={shown} unit={unit} policy={props.policy} /></div>}
      <div class="visually-hidden" aria-live="polite">{shown ? spotText(shown, unit) : ''}</div>
    </div>
  )
}
