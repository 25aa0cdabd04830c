// What is drawn on the canvas beside the lines: band and level under them; outcomes as shapes, limits, changes of the level over them.
import type uPlot from 'uplot'
import { flag, type Policy } from './series'
import type { Lane, Layout } from './layout'

export interface Colors {
  text: string; faint: string; grid: string; accent: string; band: string; surface: string
  pass: string; warn: string; fail: string; inconclusive: string
  lanes: string[]
}

/// Colours come from the style sheet, so that light and dark are decided in one place.
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    text: color('text-soft'), faint: color('text-faint'), grid: color('line-soft'), accent: color('accent'), band: color('band'), surface: color('surface'),
    pass: color('pass'), warn: color('warn'), fail: color('fail'), inconclusive: color('inconclusive'),
    lanes: [color('lane-1'), color('lane-2'), color('lane-3'), color('lane-4')],
  }
}

/// A plot that has the size already is not drawn again: observers tell the size that it was made with, too.
export function fit(u: uPlot, size: { width: number; height: number }) {
  if (u.width !== size.width || u.height !== size.height) u.setSize(size)
}

type Context = CanvasRenderingContext2D

function triangle(c: Context, x: number, y: number, r: number) {
  c.moveTo(x, y - r * 1.15)
  c.lineTo(x + r * 1.1, y + r * 0.85)
  c.lineTo(x - r * 1.1, y + r * 0.85)
  c.closePath()
}

function square(c: Context, x: number, y: number, r: number) {
  c.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8)
}

function diamond(c: Context, x: number, y: number, r: number) {
  c.moveTo(x, y - r)
  c.lineTo(x + r, y)
  c.lineTo(x, y + r)
  c.lineTo(x - r, y)
  c.closePath()
}

function dot(c: Context, x: number, y: number, r: number) {
  c.moveTo(x + r, y)
  c.arc(x, y, r, 0, Math.PI * 2)
}

type Shape = (c: Context, x: number, y: number, r: number) => void
const shapes: Record<string, readonly [Shape, keyof Colors, number]> = {
  pass: [dot, 'pass', 3],
  warn: [triangle, 'warn', 4.4],
  inconclusive: [diamond, 'inconclusive', 3.6],
  fail: [square, 'fail', 4.4],
  held: [square, 'text', 3.2],
}

/// More points than this stand too close for a dot on each that is fine; the others are always marked.
const dotsMax = 300

/// The slots that are always marked, however close the points stand: mostly few. Found once, not at each drawing.
export function notableOf(layout: Layout, policy: Policy): number[] {
  const slots: number[] = []
  for (let slot = 0; slot < layout.slots; slot++) {
    const { series, pointAt } = layout.lanes[layout.laneAt[slot]!]!
    const point = pointAt[slot]!
    if ((series.markAt(point, policy) ?? 'pass') !== 'pass' || series.has(point, flag.accepted)) slots.push(slot)
  }
  return slots
}

function shapesOf(u: uPlot, layout: Layout, policy: Policy, slots: readonly number[]) {
  const paths = new Map<string, [Shape, number, number, number][]>()
  const ratio = devicePixelRatio
  for (const slot of slots) {
    const lane = layout.lanes[layout.laneAt[slot]!]!
    const { columns } = lane.series
    const point = lane.pointAt[slot]!
    const word = lane.series.markAt(point, policy) ?? 'pass'
    const [shape, color, radius] = shapes[word]!
    const x = u.valToPos(slot, 'x', true)
    const y = u.valToPos(columns.value[point]!, 'y', true)
    const hollow = word === 'held' || lane.series.has(point, flag.superseded)
    const list = (key: string) => paths.get(key) ?? (paths.set(key, []), paths.get(key)!)
    list(`${color} ${hollow ? 'hollow' : 'solid'}`).push([shape, x, y, radius * ratio])
    if (lane.series.has(point, flag.accepted)) list('accent ring').push([dot, x, y, 7 * ratio])
  }
  return paths
}

export function drawMarks(u: uPlot, layout: Layout, policy: Policy, notable: readonly number[], colors: Colors) {
  const c = u.ctx
  const low = Math.max(0, Math.ceil(u.scales.x!.min ?? 0))
  const high = Math.min(layout.slots - 1, Math.floor(u.scales.x!.max ?? 0))
  const slots = high - low > dotsMax ? notable.filter((slot) => slot >= low && slot <= high) : Array.from({ length: high - low + 1 }, (_, i) => low + i)
  c.save()
  clip(u)
  for (const [key, marks] of shapesOf(u, layout, policy, slots)) {
    const [name, kind] = key.split(' ') as [keyof Colors, string]
    c.beginPath()
    for (const [shape, x, y, radius] of marks) shape(c, x, y, radius)
    c.lineWidth = (kind === 'ring' ? 1.6 : 1.2) * devicePixelRatio
    c.strokeStyle = kind === 'solid' ? colors.surface : (colors[name] as string)
    c.fillStyle = kind === 'hollow' ? colors.surface : (colors[name] as string)
    if (kind !== 'ring') c.fill()
    c.stroke()
  }
  c.restore()
}

/// `beyond`: how far what is drawn may stand out above and below.
function clip(u: uPlot, beyond = 6) {
  const { left, top, width, height } = u.bbox
  u.ctx.beginPath()
  u.ctx.rect(left, top - beyond, width, height + 2 * beyond)
  u.ctx.clip()
}

export interface Change {
  slot: number
  worse: boolean | null
  accepted: boolean
}

export function drawChanges(u: uPlot, changes: readonly Change[], colors: Colors) {
  const c = u.ctx
  const { top, height } = u.bbox
  const ratio = devicePixelRatio
  c.save()
  clip(u)
  for (const change of changes) {
    const x = Math.round(u.valToPos(change.slot - 0.5, 'x', true)) + 0.5
    c.strokeStyle = c.fillStyle = change.worse === null ? colors.text : change.worse ? colors.fail : colors.pass
    c.lineWidth = 1.2 * ratio
    c.setLineDash([2 * ratio, 3 * ratio])
    c.beginPath()
    c.moveTo(x, top)
    c.lineTo(x, top + height)
    c.stroke()
    c.setLineDash([])
    c.beginPath()
    c.moveTo(x - 5 * ratio, top - 5 * ratio)
    c.lineTo(x + 5 * ratio, top - 5 * ratio)
    c.lineTo(x, top + 3 * ratio)
    c.fill()
  }
  c.restore()
}

export interface Level {
  from: number // slots
  to: number
  value: number
}

/// Between two changes of the level it is one number: what this segment's runs are compared with.
export function drawLevels(u: uPlot, levels: readonly Level[], colors: Colors) {
  const c = u.ctx
  c.save()
  clip(u)
  c.strokeStyle = colors.faint
  c.lineWidth = 1.2 * devicePixelRatio
  c.beginPath()
  for (const level of levels) {
    const y = Math.round(u.valToPos(level.value, 'y', true)) + 0.5
    c.moveTo(u.valToPos(level.from - 0.4, 'x', true), y)
    c.lineTo(u.valToPos(level.to + 0.4, 'x', true), y)
  }
  c.stroke()
  c.restore()
}

export function drawLimit(u: uPlot, limit: number, text: string, colors: Colors) {
  const { min, max } = u.scales.y!
  if (min === undefined || max === undefined || limit < min || limit > max) return
  const c = u.ctx
  const ratio = devicePixelRatio
  const y = Math.round(u.valToPos(limit, 'y', true)) + 0.5
  const { left, width } = u.bbox
  c.save()
  c.strokeStyle = c.fillStyle = colors.fail
  c.lineWidth = 1.2 * ratio
  c.setLineDash([6 * ratio, 4 * ratio])
  c.beginPath()
  c.moveTo(left, y)
  c.lineTo(left + width, y)
  c.stroke()
  c.font = `${11 * ratio}px system-ui, sans-serif`
  c.textAlign = 'right'
  c.textBaseline = 'bottom'
  c.fillText(text, left + width - 4 * ratio, y - 2 * ratio)
  c.restore()
}

/// What the points of a lane in one column of pixels were judged against.
interface Column {
  x: number
  low: number
  high: number
  level: number // of the last point
}

/// Of the points in sight, and the next beyond each edge. Ten thousand points cost no more than there are pixels.
function columnsOf(u: uPlot, { series, pointAt }: Lane): Column[] {
  const { low, high, level } = series.columns
  const [min, max] = [u.scales.x!.min ?? 0, u.scales.x!.max ?? 1]
  const judged = (slot: number) => !Number.isNaN(level[pointAt[slot]!] ?? NaN)
  let from = Math.max(0, Math.ceil(min) - 1)
  let to = Math.min(pointAt.length - 1, Math.floor(max) + 1)
  while (from > 0 && !judged(from)) from--
  while (to < pointAt.length - 1 && !judged(to)) to++
  const list: Column[] = []
  for (let slot = from; slot <= to; slot++) {
    if (!judged(slot)) continue
    const point = pointAt[slot]!
    const x = Math.round(u.bbox.left + ((slot - min) / (max - min)) * u.bbox.width)
    let column = list[list.length - 1]
    if (column?.x !== x) list.push((column = { x, low: low[point]!, high: high[point]!, level: 0 }))
    column.low = Math.min(column.low, low[point]!)
    column.high = Math.max(column.high, high[point]!)
    column.level = level[point]!
  }
  return list
}

/// The band in which a lane's points are judged as unchanged, and the level in it, dashed and in steps.
export function drawBand(u: uPlot, lane: Lane, colors: Colors) {
  const c = u.ctx
  const columns = columnsOf(u, lane)
  const yOf = (value: number) => Math.round(u.valToPos(value, 'y', true))
  c.save()
  clip(u, 0)
  c.fillStyle = colors.band
  c.beginPath()
  for (const { x, high } of columns) c.lineTo(x, yOf(high))
  for (const { x, low } of [...columns].reverse()) c.lineTo(x, yOf(low))
  c.fill()
  strokeSteps(c, columns.map(({ x, level }) => [x, yOf(level)]), colors.faint)
  c.restore()
}

function strokeSteps(c: Context, points: readonly (readonly [number, number])[], color: string) {
  const ratio = devicePixelRatio
  c.strokeStyle = color
  c.lineWidth = ratio
  c.setLineDash([4 * ratio, 4 * ratio])
  c.translate((ratio % 2) / 2, (ratio % 2) / 2)
  c.beginPath()
  let last = points[0]?.[1] ?? 0
  for (const [x, y] of points) {
    c.lineTo(x, last)
    if (y !== last) c.lineTo(x, y)
    last = y
  }
  c.stroke()
}
