// The brush: a whole series in small, with the part that the plots show marked on it.
import uPlot from 'uplot'
import { useEffect, useRef } from 'preact/hooks'
import { colorsOf, fit } from '../draw'
import type { Layout } from '../layout'
import type { View } from '../plot'
import { useTheme } from '../theme'

const height = 54

function dataOf(layout: Layout): uPlot.AlignedData {
  const lane = layout.lanes[0]!
  const xs: number[] = []
  const ys: number[] = []
  lane.pointAt.forEach((point, slot) => {
    if (point < 0) return
    xs.push(slot)
    ys.push(lane.series.columns.value[point]!)
  })
  return [xs, ys]
}

function mark(plot: uPlot, layout: Layout, view: View) {
  const whole = view.low === 0 && view.high === layout.slots - 1
  const left = plot.valToPos(view.low - 0.5, 'x')
  const right = plot.valToPos(view.high + 0.5, 'x')
  plot.root.classList.toggle('whole', whole)
  plot.setSelect({ left: Math.max(0, left), top: 0, width: whole ? 0 : right - left, height }, false)
}

export function Overview({ layout, view, onZoom }: { layout: Layout; view: View; onZoom: (view: View | null) => void }) {
  const root = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef({ view, onZoom })
  latest.current = { view, onZoom }
  const theme = useTheme()
  useEffect(() => {
    const element = root.current!
    const colors = colorsOf(element)
    const made = new uPlot({
      width: Math.max(120, element.clientWidth), height, legend: { show: false }, padding: [4, 0, 4, 0],
      scales: { x: { time: false, range: () => [-0.6, layout.slots - 0.4] }, y: { range: (_, low, high) => [low - (high - low || 1) * 0.1, high + (high - low || 1) * 0.1] } },
      axes: [{ show: false }, { show: false }],
      series: [{}, { stroke: colors.lanes[0]!, width: 1, points: { show: false }, spanGaps: true, fill: colors.band }],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 }, bind: { dblclick: () => () => (latest.current.onZoom(null), null) } },
      hooks: {
        ready: [(u) => mark(u, layout, latest.current.view)],
        setSelect: [(u) => {
          const low = Math.max(0, Math.round(u.posToVal(u.select.left, 'x')))
          const high = Math.min(layout.slots - 1, Math.round(u.posToVal(u.select.left + u.select.width, 'x')))
          latest.current.onZoom(high > low ? { low, high } : null)
        }],
      },
    }, dataOf(layout), element)
    plot.current = made
    const resized = new ResizeObserver(() => {
      fit(made, { width: Math.max(120, element.clientWidth), height })
      mark(made, layout, latest.current.view)
    })
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [layout, theme])
  useEffect(() => { if (plot.current) mark(plot.current, layout, view) }, [view.low, view.high, layout])
  return <div class="overview" ref={root} role="img" aria-label={`All ${layout.slots} runs in small; drag over it to see a part`} />
}
