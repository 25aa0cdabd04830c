// Where the time of a rank went: per device over its window, and step by step. Bars and their table are the same numbers.
import { useState } from 'preact/hooks'
import type { Device, Rank, Step } from './api'
import { formatShare, formatTime, scaleFor } from './format'
import { busyParts, idleParts, type Part } from './words'
import { Choice, Table } from './ui'

export interface Share extends Part {
  ns: number
}

export function sharesOf(device: Device): Share[] {
  const busy: Record<string, number> = { compute: device.compute_ns, graph: device.graph_ns, comm: device.exposed_comm_ns, memory: device.exposed_memory_ns }
  return [
    ...busyParts.map((part) => ({ ...part, ns: busy[part.id] ?? 0 })),
    ...idleParts.map((part) => ({ ...part, ns: device.idle_causes_ns[part.id] ?? 0 })),
  ].filter((share) => share.ns > 0)
}

export function Legend({ parts }: { parts: readonly Part[] }) {
  return <ul class="legend">{parts.map((part) => <li><span class={`swatch ${part.id}`} aria-hidden="true" />{part.name}</li>)}</ul>
}

/// One device's window as one bar of parts.
export function DeviceBar({ device, name }: { device: Device; name: string }) {
  const shares = sharesOf(device)
  const whole = shares.reduce((sum, share) => sum + share.ns, 0) || 1
  const words = shares.map((share) => `${share.name} ${formatShare(share.ns / whole)}`).join(', ')
  return (
    <div class="device-row">
      <span class="device-name">{name}</span>
      <span class="device-bar" role="img" aria-label={`${name}: ${words}`}>
        {shares.map((share) => (
          <span class={`part ${share.id}`} style={{ width: `${(share.ns / whole) * 100}%` }} title={`${share.name}: ${formatTime(share.ns)}, ${formatShare(share.ns / whole)}`}>
            {share.ns / whole > 0.07 && <span>{formatShare(share.ns / whole)}</span>}
          </span>
        ))}
      </span>
    </div>
  )
}

interface StepParts {
  step: Step
  parts: Share[]
}

const stepParts: readonly Part[] = [...busyParts.filter((part) => part.id !== 'graph'), { id: 'idle', name: 'Idle' }]

/// A step's time from its ratios. Utilization holds exposed communication; what is neither busy nor idle are copies.
export function partsOf(step: Step): Share[] | null {
  const { 'gpu.utilization': used, 'gpu.idle': idle, 'comm.exposed_per_step': comm } = step.values
  if (typeof used !== 'number' || typeof idle !== 'number') return null
  const exposed = Math.min(typeof comm === 'number' ? comm : 0, used * step.length_ns)
  const lengths: Record<string, number> = {
    compute: used * step.length_ns - exposed,
    comm: exposed,
    memory: Math.max(0, (1 - used - idle) * step.length_ns),
    idle: idle * step.length_ns,
  }
  return stepParts.map((part) => ({ ...part, ns: lengths[part.id] ?? 0 }))
}

const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0)

function StepsPlot({ rows }: { rows: readonly StepParts[] }) {
  const width = Math.max(rows.length * 12, 240)
  const height = 180
  const longest = most(rows.map((row) => row.step.length_ns)) || 1
  const scale = scaleFor(longest, 'ns')
  const gap = rows.length > 80 ? 0 : 0.18
  return (
    <div class="steps-plot">
      <div class="steps-axis" aria-hidden="true">
        <span>{(longest / scale.factor).toFixed(1)} {scale.unit}</span><span>{(longest / 2 / scale.factor).toFixed(1)}</span><span>0</span>
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`Time of ${rows.length} steps, each as a bar of its parts; the longest took ${formatTime(longest)}`}>
        {[0, 0.5, 1].map((at) => <line class="grid" x1="0" x2={width} y1={height * at} y2={height * at} />)}
        {rows.map((row, index) => {
          const slot = width / rows.length
          let y = height
          return (
            <g>
              <title>{`${row.step.name}: ${formatTime(row.step.length_ns)}\n${row.parts.map((part) => `${part.name}: ${formatTime(part.ns)}`).join('\n')}`}</title>
              {row.parts.map((part) => {
                const size = (part.ns / longest) * height
                y -= size
                return <rect class={`part ${part.id}`} x={slot * (index + gap / 2)} width={slot * (1 - gap)} y={y} height={size} />
              })}
            </g>
          )
        })}
      </svg>
      <div class="steps-ends" aria-hidden="true"><span>{rows[0]!.step.name}</span>{rows.length > 1 && <span>{rows[rows.length - 1]!.step.name}</span>}</div>
    </div>
  )
}

/// Each step's time as a stacked bar.
export function StepBars({ rank }: { rank: Rank }) {
  const [view, setView] = useState('plot')
  const rows = rank.steps.flatMap((step) => {
    const parts = partsOf(step)
    return parts ? [{ step, parts }] : []
  })
  if (rows.length === 0) return <p class="hint">No steps were marked in this trace, so that its time is not told step by step.</p>
  return (
    <div class="steps">
      <div class="steps-head">
        <Legend parts={stepParts} />
        <Choice label="Steps as" value={view} options={[['plot', 'Plot'], ['table', 'Table']]} onChange={setView} />
      </div>
      {view === 'plot' ? <StepsPlot rows={rows} /> : (
        <Table caption="Time of each step" rows={rows} most={20} columns={[
          { head: 'Step', cell: (row) => row.step.name },
          { head: 'Length', number: true, cell: (row) => formatTime(row.step.length_ns) },
          ...stepParts.map((part, index) => ({ head: part.name, number: true, cell: (row: StepParts) => formatTime(row.parts[index]!.ns) })),
        ]} />
      )}
    </div>
  )
}
