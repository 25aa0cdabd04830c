// Where points stand on the axis of commits: every run has a slot, in the order of history; branches share one axis.
import type { Series } from './series'

/// One line of a plot: the points of one branch in one environment class.
export interface Lane {
  series: Series
  branch: string
  environment: string
  pointAt: Int32Array // slot → point; -1: the slot is another lane's
}

export interface Layout {
  slots: number
  lanes: Lane[] // those of the first branch come first
  laneAt: Int16Array // slot → lane
}

export interface Source {
  branch: string
  series: Series
}

/// Points of all sources by time; within a source its own order, which is that of the commits, always holds.
function order(sources: readonly Source[]): { source: Int16Array; point: Int32Array } {
  const total = sources.reduce((sum, item) => sum + item.series.count, 0)
  const source = new Int16Array(total)
  const point = new Int32Array(total)
  const next = sources.map(() => 0)
  if (sources.length === 1) return { source, point: point.map((_, i) => i) }
  for (let slot = 0; slot < total; slot++) {
    let best = -1
    for (let i = 0; i < sources.length; i++) {
      if (next[i]! >= sources[i]!.series.count) continue
      if (best < 0 || sources[i]!.series.time(next[i]!) < sources[best]!.series.time(next[best]!)) best = i
    }
    source[slot] = best
    point[slot] = next[best]!++
  }
  return { source, point }
}

/// `environment`: only points of that class; empty: all, each class as a line of its own.
export function layoutOf(sources: readonly Source[], environment: string): Layout {
  const { source, point } = order(sources)
  const lanes: Lane[] = []
  const index = new Map<number, number>()
  const keep: number[] = []
  const laneOf: number[] = []
  for (let slot = 0; slot < source.length; slot++) {
    const from = sources[source[slot]!]!
    const { columns } = from.series
    const at = columns.environment[point[slot]!]!
    const name = columns.environments[at] ?? ''
    if (environment && name !== environment) continue
    const key = source[slot]! * 0x10000 + at
    let lane = index.get(key)
    if (lane === undefined) {
      index.set(key, (lane = lanes.length))
      lanes.push({ series: from.series, branch: from.branch, environment: name, pointAt: new Int32Array(0) })
    }
    keep.push(slot)
    laneOf.push(lane)
  }
  for (const lane of lanes) lane.pointAt = new Int32Array(keep.length).fill(-1)
  keep.forEach((slot, at) => (lanes[laneOf[at]!]!.pointAt[at] = point[slot]!))
  return { slots: keep.length, lanes, laneAt: Int16Array.from(laneOf) }
}

export interface Spot {
  lane: Lane
  point: number
}

export function spotAt(layout: Layout, slot: number): Spot | null {
  const lane = layout.lanes[layout.laneAt[slot] ?? -1]
  return lane ? { lane, point: lane.pointAt[slot]! } : null
}

export function slotOfRun(layout: Layout, run: string): number {
  for (const lane of layout.lanes) {
    const point = lane.series.indexOfRun(run)
    if (point >= 0) {
      const slot = lane.pointAt.indexOf(point)
      if (slot >= 0) return slot
    }
  }
  return -1
}
